"""Slopes of targets that are skewed: what cuts take from them, and what is given back.

    python benchmarks/skewed_targets.py [--fits 24] [--rows 4000,10000,20000,100000] [--without]

Targets are exp(x b + s e), incomes by age, work and smoking, costs of which many are 0, counts, and
lines with exponential, Student's, uneven or normal errors e. Printed is how far the slopes of the
population's least squares are missed along these (over their length; a mean, and root mean
square), and how many of a hundred intervals of slopes hold, at epsilon 1, delta 1e-6. `--without`
does not ask what is beyond the cut.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from unittest import mock

import numpy as np

import prolate
from prolate.estimators.regression.cut_off import CutOff

LARGE = 2_000_000  # rows whose least squares are the population's
B = np.array([0.4, 0.2, 0.1])
Rows = tuple[np.ndarray, np.ndarray]
Draw = Callable[[np.random.Generator, int], Rows]


def multiplied(spread: float) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> Rows:
        x = rng.standard_normal((n, 3))
        return x, np.exp(x @ B + spread * rng.standard_normal(n))

    return draw


def added(errors: Callable[[np.random.Generator, np.ndarray], np.ndarray]) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> Rows:
        x = rng.standard_normal((n, 3))
        return x, x @ B + errors(rng, x[:, 0])

    return draw


def incomes(rng: np.random.Generator, n: int) -> Rows:
    age, works, smokes = rng.normal(45, 15, n), rng.random(n) < 0.62, rng.random(n) < 0.22
    x = np.column_stack([age, works, smokes]).astype(np.float64)
    return x, np.exp(9.3 + x @ [0.008, 0.6, -0.1] + 0.6 * rng.standard_normal(n))


def costs(rng: np.random.Generator, n: int) -> Rows:
    x = rng.standard_normal((n, 3))
    some = rng.random(n) < 1 / (1 + np.exp(-x @ B))
    return x, np.where(some, rng.exponential(1, n) * np.exp(0.3 * x[:, 0]), 0.0)


def counts(rng: np.random.Generator, n: int) -> Rows:
    x = rng.standard_normal((n, 3))
    return x, rng.poisson(np.exp(x @ B - 0.5)).astype(np.float64)


TARGETS: dict[str, Draw] = {
    "exp(x b + .5 e)": multiplied(0.5),
    "exp(x b + e)": multiplied(1.0),
    "incomes": incomes,
    "costs": costs,
    "counts": counts,
    "exponential errors": added(lambda rng, x: rng.exponential(1, x.size)),
    "Student's, t3": added(lambda rng, x: rng.standard_t(3, x.size)),
    "uneven errors": added(lambda rng, x: np.exp(0.5 * x) * rng.standard_normal(x.size)),
    "normal errors": added(lambda rng, x: rng.standard_normal(x.size)),
}


def measured(draw: Draw, n: int, fits: int) -> tuple[float, float, float]:
    """Return the mean and root mean square error along the true slopes, and what holds."""
    x, y = draw(np.random.default_rng(99), LARGE)
    unit = x.std(axis=0)
    true = np.linalg.lstsq(np.column_stack([x, np.ones(LARGE)]), y)[0][:-1]
    off, held = [], []
    for seed in range(fits):
        x, y = draw(np.random.default_rng(seed), n)
        model = prolate.LinearRegression(epsilon=1, delta=1e-6, seed=seed).fit(x, y)
        ends = model.intervals()[:-1]
        held.append((ends[:, 0] <= true) & (true <= ends[:, 1]))
        off.append((model.coef_ - true) * unit @ (true * unit) / np.sum((true * unit) ** 2))
    return float(np.mean(off)), float(np.sqrt(np.mean(np.square(off)))), float(np.mean(held))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=24)
    parser.add_argument("--rows", default="4000,10000,20000,100000")
    parser.add_argument("--without", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    nothing = mock.patch.object(CutOff, "of", classmethod(lambda *_, **__: None))
    if options.without:
        nothing.start()
    print(f"{'target':20} {'rows':>8} {'off':>7} {'rms':>6} {'held':>5}")
    for name, draw in TARGETS.items():
        for n in map(int, options.rows.split(",")):
            off, error, held = measured(draw, n, options.fits)
            print(f"{name:20} {n:8,} {off:7.3f} {error:6.3f} {100 * held:4.0f}%", flush=True)


if __name__ == "__main__":
    main()
