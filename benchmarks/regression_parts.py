"""Regressions of random parts of the UCI tables: how far off predictions are, and intervals.

    python benchmarks/regression_parts.py [--first 0] [--settings 100] [--runs 3]

A setting is some columns of some rows, one column of them the target, in their own units or in
standard deviations, under either neighbor relation, at an epsilon from .1 to 5 (delta = 1e-6). Rows
that were not fitted are predicted. *excess* is the mean squared error beyond the best of least
squares and the mean, both not private, over the mean's: at least .01, geometric mean; *held* is how
often 95 % intervals of slopes hold those of the whole table.
"""

from __future__ import annotations

import argparse
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

import prolate

Floats = NDArray[np.float64]

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "uci"
NAMES = sorted(path.stem for path in FOLDER.glob("*.parquet"))
ROWS, EPSILON, COLUMNS, TESTED = (80, 8000), (0.1, 5.0), (2, 20), 3000
BANDS = (0.0, 60.0, 260.0, 1000.0, np.inf)  # of rows times mu


@cache
def table(name: str) -> Floats:
    columns = pq.read_table(FOLDER / f"{name}.parquet").columns
    return np.column_stack([column.to_numpy() for column in columns]).astype(np.float64)


def between(rng: np.random.Generator, ends: tuple[float, float]) -> float:
    return float(np.exp(rng.uniform(*np.log(ends))))


def part(number: int) -> tuple[Floats, int, dict[str, object]]:
    """Return columns of a table, the last one the target, how many rows to fit, and options."""
    rng = np.random.default_rng([950, number])
    rows = table(NAMES[number % len(NAMES)])
    width = min(rows.shape[1], round(between(rng, COLUMNS)))
    rows = rows[:, rng.permutation(rows.shape[1])[:width]]
    if rng.random() < 0.5:
        spread = rows.std(axis=0)
        rows = (rows - rows.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    options = {
        "epsilon": between(rng, EPSILON),
        "delta": 1e-6,
        "neighbors": str(rng.choice(["replace", "add-remove"])),
    }
    return rows, int(min(between(rng, ROWS), 0.8 * len(rows))), options


def least_squares(rows: Floats) -> Floats:
    """Return slopes and intercept; slopes are 0 where a column is constant."""
    x, mean = rows[:, :-1], rows.mean(axis=0)
    spread = x.std(axis=0)
    scale = np.where(spread > 1e-12 * np.abs(x).max(axis=0), spread, np.inf)
    z = (x - mean[:-1]) / scale
    slopes = np.linalg.lstsq(z, rows[:, -1] - mean[-1], rcond=1e-10)[0] / scale
    return np.append(slopes, mean[-1] - mean[:-1] @ slopes)


def fit(number: int, run: int) -> tuple[float, float, bool]:
    """Return the excess, the part of intervals of slopes that hold, and whether it warned."""
    rows, n, options = part(number)
    order = np.random.default_rng([number, run]).permutation(len(rows))
    train, test = rows[order[:n]], rows[order[n : n + TESTED]]
    model = prolate.LinearRegression(seed=run, **options).fit(train[:, :-1], train[:, -1])
    best = least_squares(train)
    mean, line, ours = (
        float(np.mean((test[:, -1] - guess) ** 2))
        for guess in (train[:, -1].mean(), test[:, :-1] @ best[:-1] + best[-1],
                      model.predict(test[:, :-1]))
    )  # fmt: skip
    held = np.nan
    if model.release_.has_intervals:
        low, high = model.intervals(0.95)[:-1].T
        whole = least_squares(rows)[:-1]
        held = float(np.mean((low <= whole) & (whole <= high)))
    excess = max(ours - min(mean, line), 0.0) / mean if mean > 0.0 else 0.0
    return excess + 0.01, held, len(model.release_.warnings) > 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--settings", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    found: dict[int, list[tuple[float, float, bool]]] = {}
    for number in range(asked.first, asked.first + asked.settings):
        _, n, options = part(number)
        mu = prolate.Budget(epsilon=options["epsilon"], delta=1e-6).mu
        band = int(np.searchsorted(BANDS, n * mu, side="right")) - 1
        found.setdefault(band, []).extend(fit(number, run) for run in range(asked.runs))
    print(f"{'rows times mu':>14} {'fits':>5} {'excess':>7} {'held':>5} {'warned':>6}")
    for band, fits in sorted(found.items()):
        excess, held, warned = np.array(fits, dtype=float).T
        low, high = BANDS[band : band + 2]
        print(
            f"{low:6g} - {high:5g} {len(fits):6} {np.exp(np.mean(np.log(excess))):7.3f} "
            f"{np.nanmean(held):5.2f} {warned.mean():6.2f}"
        )


if __name__ == "__main__":
    main()
