"""Means of booleans of few rows, by themselves and beside other columns, over those of a search.

    python benchmarks/few_flags.py [--runs 12] [--rows 100,300,1000,3000,10000]

Tables of 5, 12 and 40 booleans (true in 40 % of the rows, in 1 to 50 %, or in 2 %), and of booleans
beside normal, log-normal and exponential columns and counts, at epsilon 1, delta 1e-6, with
relative errors. Printed are root mean square errors of booleans, and of the others, over standard
deviations (3 at most); the same where booleans are searched like other columns
(`too_few_to_search` and `are_apart` of `search/flags.py` say no); and how many of a hundred
intervals of booleans for noise and clipping hold, with and without.
"""

from __future__ import annotations

import argparse
import warnings
from contextlib import ExitStack
from importlib import import_module
from unittest import mock

import numpy as np
import pandas as pd

import prolate

MEANS = import_module("prolate.estimators.mean")
BUDGET = prolate.Budget(epsilon=1, delta=1e-6)
RARE = {
    "two in five": lambda _, d: np.full(d, 0.4),
    "mixed": lambda rng, d: np.exp(rng.uniform(np.log(0.01), np.log(0.5), d)),
    "rare": lambda _, d: np.full(d, 0.02),
}
OTHERS = (
    lambda rng, n: rng.normal(50, 12, n),
    lambda rng, n: np.exp(9 + 0.8 * rng.standard_normal(n)),
    lambda rng, n: rng.exponential(3, n),
    lambda rng, n: rng.poisson(2, n).astype(float),
)
TABLES = [(d, 0, kind) for d in (5, 12, 40) for kind in RARE]
TABLES += [(flags, others, "mixed") for flags, others in ((1, 1), (2, 4), (5, 1), (5, 5), (12, 3))]


def table(rng: np.random.Generator, n: int, flags: int, others: int, kind: str) -> pd.DataFrame:
    true = rng.random((n, flags)) < RARE[kind](rng, flags)
    columns = {f"f{j}": true[:, j] for j in range(flags)}
    columns |= {f"x{j}": OTHERS[rng.integers(4)](rng, n) for j in range(others)}
    return pd.DataFrame(columns)


def measured(n: int, setting: tuple[int, int, str], neighbors: str, runs: int) -> np.ndarray:
    """Return errors of booleans and of others, and how many intervals of booleans hold."""
    off, held, flags = [], [], setting[0]
    for seed in range(runs):
        rows = table(np.random.default_rng(seed), n, *setting)
        given = {"budget": BUDGET, "neighbors": neighbors, "seed": seed}
        release = prolate.mean(rows, error_norm="relative", **given)
        unit = np.maximum(rows.std().to_numpy(), 1e-9)
        error = np.abs(release.estimate - rows.mean().to_numpy())
        clipping = 0.0 if release.clipping_std is None else release.clipping_std
        held.append(np.mean((error <= 1.96 * np.hypot(release.noise_std, clipping))[:flags]))
        square = np.minimum(error / unit, 3.0) ** 2
        off.append([square[:flags].mean(), square[flags:].mean() if setting[1] else 0.0])
    return np.append(np.sqrt(np.mean(off, axis=0)), 100 * np.mean(held))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--rows", default="100,300,1000,3000,10000")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'booleans':>8} {'others':>6} {'kind':12} {'rows':>7} neighbors  searched -> now, held")
    for setting in TABLES:
        for n in map(int, options.rows.split(",")):
            for neighbors in ("replace", "add-remove"):
                now = measured(n, setting, neighbors, options.runs)
                with ExitStack() as stack:
                    for name in ("too_few_to_search", "are_apart"):
                        patch = mock.patch.object(MEANS, name, return_value=False)
                        stack.enter_context(patch)
                    before = measured(n, setting, neighbors, options.runs)
                others = f"{before[1]:.3f} -> {now[1]:.3f}" if setting[1] else ""
                print(
                    f"{setting[0]:8} {setting[1]:6} {setting[2]:12} {n:7,} {neighbors:10}",
                    f"{before[0]:.3f} -> {now[0]:.3f}, {before[2]:.0f} -> {now[2]:.0f}  {others}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
