"""Means of a few columns of different kinds, clipped each between its own ends or together.

    python benchmarks/kinds.py [--tables 100] [--runs 3] [--neighbors add-remove]

First, eight columns (flags of 52, 12 and 1 %, ages, log-normal costs, counts, answers 1 to 5,
pressures) of 20,000 rows at epsilon 1, delta 1e-6: errors of each over its standard deviation, root
mean square over 8 releases, of

- one release with relative errors (`error_norm="relative"`);
- the same where counts of each column are not used (`find_kinds` of `tables.py`);
- one release for each column, at mu / sqrt(8), which costs as much together;

as numbers, and with the flags as booleans. Then tables drawn at random of 2 to 40 columns of twenty
kinds, 5,000 to 100,000 rows, epsilon .5 to 3: errors with such counts over those without, by the
geometric mean over tables of root mean squares; and how many of a hundred intervals for noise and
clipping alone (1.96 of their deviations) hold, with and without.
"""

from __future__ import annotations

import argparse
import warnings
from importlib import import_module
from unittest import mock

import numpy as np
import pandas as pd
from mixed_tables import column

import prolate

TABLES = import_module("prolate.estimators.tables")
BUDGET = prolate.Budget(epsilon=1, delta=1e-6)
KINDS = (
    *("normal", "normal", "normal", "normal", "lognormal", "lognormal", "money", "uniform"),
    *("far", "year", "integers", "zeros", "flag", "flag", "counts", "grades", "gaps"),
    *("two places", "constant", "rare flag"),
)
FEW = "flag .52", "flag .12", "flag .01", "ages", "costs", "counts", "answers", "pressures"


def together():
    """Return a context in which columns are not counted each by itself."""
    return mock.patch.object(TABLES, "find_kinds", return_value=None)


def eight(rng: np.random.Generator, n: int = 20_000) -> pd.DataFrame:
    made = [rng.random(n) < part for part in (0.52, 0.12, 0.01)]
    made += [rng.normal(55, 18, n).clip(18, 100), np.exp(rng.normal(7.5, 1.2, n))]
    made += [rng.poisson(2, n), rng.integers(1, 6, n), rng.normal(130, 20, n)]
    return pd.DataFrame(dict(zip(FEW, made, strict=True)))


def errors(rows: pd.DataFrame, runs: int = 8) -> np.ndarray:
    """Return the errors of joint releases, over standard deviations."""
    mean, std = rows.astype(float).mean().to_numpy(), rows.astype(float).std().to_numpy()
    made = [
        prolate.mean(rows, budget=BUDGET, error_norm="relative", seed=seed) for seed in range(runs)
    ]
    return np.array([(release.estimate - mean) / std for release in made])


def single_errors(rows: pd.DataFrame, runs: int = 8) -> np.ndarray:
    budget = prolate.Budget(mu=BUDGET.mu / np.sqrt(rows.shape[1]))
    found = [
        [
            (prolate.mean(rows[[name]], budget=budget, seed=seed).estimate[0] - rows[name].mean())
            / rows[name].std()
            for name in rows
        ]
        for seed in range(runs)
    ]
    return np.array(found)


def show(text: str, found: np.ndarray) -> None:
    each = np.sqrt(np.mean(found**2, axis=0))
    print(f"{text:34s}", " ".join(f"{x:9.4f}" for x in each), f"{np.sqrt(np.mean(each**2)):9.4f}")


def drawn(table: int) -> tuple[np.ndarray, prolate.Budget]:
    rng = np.random.default_rng([77, table])
    n = int(rng.choice([5_000, 20_000, 20_000, 100_000]))
    epsilon = float(rng.choice([0.5, 1.0, 1.0, 3.0]))
    d = int(rng.integers(2, 17)) if rng.random() < 0.8 else int(rng.integers(17, 41))
    made = []
    for kind in rng.choice(KINDS, d):
        flag = rng.random(n) < 10 ** rng.uniform(-2.3, -1.0)
        made.append(flag.astype(float) if kind == "rare flag" else column(rng, n, str(kind)))
    return np.column_stack(made), prolate.Budget(epsilon=epsilon, delta=1e-6)


def release_errors(rows, budget, norm, seed, neighbors) -> tuple[float, np.ndarray]:
    mean, std = rows.mean(axis=0), rows.std(axis=0)
    some = std > 1e-9 * np.abs(mean)
    made = prolate.mean(rows, budget=budget, error_norm=norm, seed=seed, neighbors=neighbors)
    off = np.minimum(np.abs(made.estimate - mean), 1e100)
    clipping = 0.0 if made.clipping_std is None else made.clipping_std
    held = off <= 1.96 * np.hypot(np.minimum(made.noise_std, 1e100), clipping) + 1e-9 * np.abs(mean)
    if norm == 2:
        return float(np.linalg.norm(off)), held
    return float(np.linalg.norm(off[some] / std[some])), held


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--neighbors", default="replace")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = eight(np.random.default_rng(0))
    print(" " * 34, " ".join(f"{name:>9s}" for name in FEW), "      all")
    for text, table in (("as numbers", rows.astype(float)), ("flags as booleans", rows)):
        show(f"{text}, jointly", errors(table))
        with together():
            show(f"{text}, clipped together", errors(table))
        show(f"{text}, one by one", single_errors(table))
    for norm in ("relative", 2):
        ratios, held = [], ([], [])
        for table in range(options.tables):
            rows, budget = drawn(table)
            square = [0.0, 0.0]
            for run in range(options.runs):
                given = rows, budget, norm, 1_000 * table + run, options.neighbors
                apart = release_errors(*given)
                with together():
                    both = apart, release_errors(*given)
                for k, found in enumerate(both):
                    square[k] += found[0] ** 2
                    held[k].extend(found[1].tolist())
            ratios.append(0.5 * np.log(square[0] / square[1]))
        changed = np.array(ratios)[np.abs(ratios) > 1e-12]
        if not changed.size:
            print(f"{norm}: no table's columns were counted")
            continue
        few = np.exp(np.quantile(changed, [0.1, 0.5, 0.9]))
        print(
            f"{norm}: errors x {np.exp(np.mean(ratios)):.3f}; where columns were counted "
            f"({changed.size} of {options.tables} tables) x {np.exp(np.mean(changed)):.3f} "
            f"(a tenth below {few[0]:.2f}, half {few[1]:.2f}, nine tenths {few[2]:.2f}); held "
            f"{np.mean(held[0]):.3f}, clipped together {np.mean(held[1]):.3f}"
        )


if __name__ == "__main__":
    main()
