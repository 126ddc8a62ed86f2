"""Slopes of flags: of columns of booleans, whose bounds are public, and of the same as numbers.

    python benchmarks/regression_flags.py [--runs 12] [--rows 3000,30000,300000]

At epsilon 1, of each kind of table: the error of the slope of its rarest flag, and the median one
of all slopes, as root mean squares in deviations of the errors over those of the feature (the
sampling error is 1 / sqrt(rows)); how often 95 % intervals hold least squares of all rows; and what
predictions leave of the target's variance beyond these.
"""

from __future__ import annotations

import argparse
import math
import warnings

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import prolate

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

FLAGS = {
    "one of 2 %": [0.02],
    "three": [0.5, 0.1, 0.02],
    "three and numbers": [0.5, 0.1, 0.02],
    "ten": [0.5, 0.3, 0.2, 0.1, 0.1, 0.05, 0.05, 0.02, 0.02, 0.01],
}
CATEGORIES = [0.4, 0.25, 0.15, 0.1, 0.07, 0.03]
NUMBERS = {"one of 2 %": 2, "three": 0, "three and numbers": 2, "ten": 5, "six categories": 2}
NOISE = 4.0


def rows(kind: str, n: int, rng: np.random.Generator) -> tuple[Bools, Floats]:
    """Return flags and numbers."""
    numbers = rng.normal(50.0, 15.0, size=(n, NUMBERS[kind]))
    if kind == "six categories":
        category = rng.choice(6, n, p=CATEGORIES)
        return category[:, np.newaxis] == np.arange(1, 6), numbers
    parts = FLAGS[kind]
    return rng.random((n, len(parts))) < parts, numbers


def fit(
    flags: Bools, numbers: Floats, y: Floats, seed: int, *, public: bool
) -> tuple[Floats, float, float]:
    """Return errors of slopes, the part that intervals hold, and what predictions lose."""
    x = np.column_stack([flags, numbers]).astype(np.float64)
    names = [f"x{j}" for j in range(x.shape[1])]
    table = {
        name: column if public else column.astype(np.float64)
        for name, column in zip(names, [*flags.T, *numbers.T], strict=True)
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = prolate.LinearRegression(epsilon=1, delta=1e-6, seed=seed).fit(pa.table(table), y)
        predicted = model.predict(x)
    design = np.column_stack([x, np.ones(len(x))])
    best = np.linalg.lstsq(design, y)[0]
    interval = model.intervals(0.95)[:-1]
    held = (interval[:, 0] <= best[:-1]) & (best[:-1] <= interval[:, 1])
    lost = np.mean((predicted - y) ** 2) - np.mean((design @ best - y) ** 2)
    errors = (model.coef_ - best[:-1]) * x.std(axis=0) / NOISE
    return errors, float(np.mean(held)), float(lost / np.var(y))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--rows", default="3000,30000,300000")
    options = parser.parse_args()
    print("slope of the rarest flag, of any; held; lost by predictions: numbers -> booleans")
    for kind in NUMBERS:
        for n in (int(part) for part in options.rows.split(",")):
            shown = []
            for public in (False, True):
                found = []
                for seed in range(options.runs):
                    rng = np.random.default_rng([seed, n])
                    flags, numbers = rows(kind, n, rng)
                    slopes = 3.0 + np.arange(flags.shape[1]) % 3
                    y = flags @ slopes + numbers.sum(axis=1) * 2.0 / 15.0
                    y += rng.normal(10.0, NOISE, n)
                    found.append(fit(flags, numbers, y, seed, public=public))
                errors = np.sqrt(np.mean([one[0] ** 2 for one in found], axis=0))
                rarest = errors[: len(errors) - NUMBERS[kind]][-1]
                held, lost = (np.mean([one[i] for one in found]) for i in (1, 2))
                shown.append((rarest, np.median(errors), held, lost))
            texts = (f"{a:.4f} -> {b:.4f}" for a, b in zip(*shown, strict=True))
            print(f"{kind:18s} {n:7d} ({1 / math.sqrt(n):.4f})", *texts, sep="   ", flush=True)


if __name__ == "__main__":
    main()
