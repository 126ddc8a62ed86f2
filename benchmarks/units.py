"""Relative errors of tables whose columns are in units of their own.

    python benchmarks/units.py [--first 0] [--tables 250] [--runs 3]

A table has 2 to 11 columns (normal, exponential, flags, amounts that are mostly 0, counts, shares)
and 720 to 11,600 rows, with n / sqrt(d / rho) from 100 on. All but the flags are multiplied by
factors of 1 to 100,000; the same rows without these factors are beside it. Errors are over those
of the best fixed clip, as in `mixed_tables.py`.
"""

from __future__ import annotations

import argparse

import numpy as np
from mixed_tables import least_error

import prolate

KINDS = 6
FLAGS = 2


def table(seed: int) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Return rows, units and rho; None where rows would be too few."""
    rng = np.random.default_rng(seed)
    n, d = int(2.0 ** rng.uniform(9.5, 13.5)), int(rng.integers(2, 12))
    rho = 2.0 ** rng.uniform(-5.0, 0.0)
    if n / np.sqrt(d / rho) < 100.0:
        return None
    kind, part = rng.integers(0, KINDS, d), rng.choice([0.05, 0.1, 0.2, 0.3], d)
    draw = (
        lambda _: rng.normal(size=n),
        lambda _: rng.exponential(size=n),
        lambda q: (rng.random(n) < q) * 1.0,
        lambda q: (rng.random(n) < q) * rng.lognormal(0.0, 1.0, n),
        lambda _: rng.poisson(2.0, n) * 1.0,
        lambda _: rng.beta(5.0, 2.0, n),
    )
    rows = np.stack([draw[k](q) for k, q in zip(kind, part, strict=True)], axis=1)
    return rows, np.where(kind == FLAGS, 1.0, 10.0 ** rng.uniform(0.0, 5.0, d)), rho


def measure(rows: np.ndarray, rho: float, runs: int) -> tuple[float, float]:
    """Return the root mean square error over the least, and which part of the intervals hold."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    least = least_error(rows, rho, spread, spread)
    square, held = [], []
    for run in range(runs):
        budget = prolate.Budget(rho=rho)
        made = prolate.mean(rows, budget=budget, error_norm="relative", seed=run)
        error = np.abs(made.estimate - mean)
        square.append(np.sum((error / spread) ** 2))
        held.append(np.mean(error <= 1.96 * np.hypot(made.noise_std, made.clipping_std)))
    return float(np.sqrt(np.mean(square))) / least, float(np.mean(held))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--tables", type=int, default=250)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    found = {"one unit": [], "own units": []}
    for seed in range(options.first, options.first + options.tables):
        drawn = table(seed)
        if drawn is None:
            continue
        rows, units, rho = drawn
        for name, factors in (("one unit", 1.0), ("own units", units)):
            found[name].append(measure(rows * factors, rho, options.runs))
    print(f"{'':10} {'tables':>6} {'mean':>6} {'90 %':>6} {'99 %':>7} {'above 10':>8} {'held':>6}")
    for name, results in found.items():
        error, held = np.array(results).T
        print(
            f"{name:10} {error.size:6d} {np.exp(np.mean(np.log(error))):6.2f} "
            f"{np.quantile(error, 0.9):6.2f} {np.quantile(error, 0.99):7.3g} "
            f"{np.mean(error > 10.0):8.1%} {held.mean():6.1%}"
        )


if __name__ == "__main__":
    main()
