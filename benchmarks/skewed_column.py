"""Skewed columns among normal ones: errors of their means, and how often intervals hold.

    python benchmarks/skewed_column.py [--runs 16] [--shape ROWS COLUMNS] [--variance] [--without]

Tables of normal columns, of standard deviation 1 and with means of their own, after one column, or
three or eight, of other kinds, of standard deviation 1 as well; epsilon 1, delta 1e-6. For each
kind, over four shapes of tables or the one that is named: how many 95 % intervals hold the skewed
columns' population means, and the others'; root mean squares of errors, and what is stated for
them. With `--variance`, the same of variances, relative to the rows' own, of columns of unlike
scales; there intervals are those of noise and clipping. With `--without`, columns' tails are not
looked at (`estimators/clipping/column_tails.py` and `square_tails.py`).
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

import prolate
from prolate.estimators.clipping import clipped_mean, square_tails

SHAPES = (20_000, 100), (3_000, 20), (5_000, 40), (10_000, 200)
KINDS = {  # how a column is drawn, its mean, and its standard deviation
    "normal": (lambda rng, n: rng.standard_normal(n), 0.0, 1.0),
    "log-normal 1": (lambda rng, n: np.exp(rng.standard_normal(n)), np.exp(0.5), 2.1612),
    "log-normal 1.5": (lambda rng, n: np.exp(1.5 * rng.standard_normal(n)), np.exp(1.125), 8.9745),
    "student 3": (lambda rng, n: rng.standard_t(3, n), 0.0, np.sqrt(3.0)),
    "exponential": (lambda rng, n: rng.exponential(1.0, n), 1.0, 1.0),
    "gamma .3": (lambda rng, n: rng.gamma(0.3, 1.0, n), 0.3, np.sqrt(0.3)),
    "nine tenths zeros": (
        lambda rng, n: (rng.random(n) < 0.1) * np.exp(rng.standard_normal(n)),
        0.1 * np.exp(0.5),
        np.sqrt(0.1 * np.exp(2.0) - 0.01 * np.e),
    ),
}
THREE = ("log-normal 1", "exponential", "gamma .3")
TABLES = {
    **{kind: (kind,) for kind in KINDS},
    "three of these": THREE,
    "eight of these": (*list(KINDS)[1:], "exponential", "log-normal 1"),
}
BUDGET = prolate.Budget(epsilon=1, delta=1e-6)


def one(seed: int, kinds: tuple[str, ...], shape: tuple[int, int], *, variance: bool) -> np.ndarray:
    """Return what is held, squared errors and what is stated, of skewed columns and of others."""
    rng, (n, d), few = np.random.default_rng(seed), shape, len(kinds)
    mean = rng.normal(0.0, 5.0, d)
    rows = rng.standard_normal((n, d)) + mean
    for j, kind in enumerate(kinds):
        draw, middle, deviation = KINDS[kind]
        rows[:, j], mean[j] = draw(rng, n) / deviation, middle / deviation
    if variance:
        rows *= np.exp(0.4 * rng.standard_normal(d))
        release = prolate.variance(rows, budget=BUDGET, seed=seed)
        true = rows.var(axis=0)
        stated = np.hypot(release.noise_std, release.clipping_std) / true
        off = release.estimate / true - 1.0
    else:
        release = prolate.mean(rows, budget=BUDGET, seed=seed)
        low, high = release.interval(0.95).T
        stated, off = (high - low) / 3.92, release.estimate - mean
    found = np.array([np.abs(off) <= 1.96 * stated, off**2, stated**2])
    return np.concatenate([found[:, :few].mean(axis=1), found[:, few:].mean(axis=1)])


def nothing(*_given: object, **_more: object) -> None:
    return None


def without() -> None:
    clipped_mean.measure_tails = nothing
    square_tails._SURE = square_tails._MAYBE = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("--shape", type=int, nargs=2)
    parser.add_argument("--variance", action="store_true")
    parser.add_argument("--without", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    run, seeds = partial(one, variance=options.variance), range(options.runs)
    shapes = SHAPES if options.shape is None else (tuple(options.shape),)
    print(
        f"{'skewed':18} {'held':>5} {'error':>7} {'stated':>7}   others {'error':>7} {'stated':>7}"
    )
    with ProcessPoolExecutor(2, initializer=without if options.without else None) as pool:
        for name, kinds in TABLES.items():
            found = [
                np.mean(list(pool.map(partial(run, kinds=kinds, shape=shape), seeds)), 0)
                for shape in shapes
            ]
            held, others = np.mean(found, axis=0)[[0, 3]]
            sizes = np.exp(np.mean(np.log(np.array(found)[:, [1, 2, 4, 5]]), axis=0) / 2)
            print(
                f"{name:18} {100 * held:5.1f} {sizes[0]:7.4f} {sizes[1]:7.4f}   "
                f"{100 * others:6.1f} {sizes[2]:7.4f} {sizes[3]:7.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
