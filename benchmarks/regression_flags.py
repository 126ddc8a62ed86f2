"""Slopes of flags: of columns of booleans, whose bounds are public, and of the same as numbers.

    python benchmarks/regression_flags.py [--runs 12] [--rows 3000,30000,300000] [--targets]

At epsilon 1, of each kind of table: the error of the slope of its rarest flag, and the median one
of all slopes, as root mean squares in deviations of the errors over those of the feature (the
sampling error is 1 / sqrt(rows)); how often 95 % intervals hold least squares of all rows; and what
predictions leave of the target's variance beyond these.

With `--targets`, the target is a flag that few rows have: errors and half widths of intervals are
in its deviations over those of the feature, medians of all slopes; `told` is the part of the slopes
whose intervals are finite.
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
TARGETS = (0.5, 0.2, 0.05, 0.02, 0.01, 0.005)
EFFECTS = {"three numbers": [0.2, -0.12, 0.0], "flags and numbers": [0.25, 0.5, 1.0, 0.1, -0.1]}


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


def rare_target(kind: str, part: float, n: int, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Return features and flags that about this part of the rows have."""
    effects = np.array(EFFECTS[kind])
    numbers = np.clip(rng.normal(size=(n, 2 if len(effects) > 3 else 3)), -2.5, 2.5)
    x = numbers
    if len(effects) > 3:
        x = np.column_stack([rng.random((n, 3)) < FLAGS["three"], numbers])
    return x, rng.random(n) < (1.0 + x @ effects) * part


def print_targets(runs: int, sizes: list[int]) -> None:
    """Print how well slopes of rare targets are known, as numbers and as booleans."""
    print("error; told; half width; held; lost by predictions: numbers -> booleans")
    for kind in EFFECTS:
        for part in TARGETS:
            for n in sizes:
                shown = []
                for public in (False, True):
                    found = []
                    for seed in range(runs):
                        rng = np.random.default_rng([seed, n])
                        x, y = rare_target(kind, part, n, rng)
                        found.append(fit_target(x, y, seed, public=public))
                    errors, half, held, lost = (np.array(one) for one in zip(*found, strict=True))
                    told = np.mean(np.isfinite(half))
                    size = np.median(np.abs(errors)), told, np.median(half)
                    shown.append((*size, np.mean(held), np.mean(lost)))
                texts = (f"{a:.3f} -> {b:.3f}" for a, b in zip(*shown, strict=True))
                print(f"{kind:18s} {100 * part:4.1f} % {n:7d}", *texts, sep="   ", flush=True)


def fit_target(
    x: Floats, y: Bools, seed: int, *, public: bool
) -> tuple[Floats, Floats, Bools, float]:
    """Return errors and half widths of slopes, which intervals held, what predictions lose."""
    columns = [
        x[:, j] == 1.0 if np.isin(x[:, j], [0.0, 1.0]).all() else x[:, j] for j in range(x.shape[1])
    ]
    table = pa.table({f"x{j}": column for j, column in enumerate(columns)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = prolate.LinearRegression(epsilon=1, delta=1e-6, seed=seed)
        model.fit(table, y if public else y.astype(np.float64))
        predicted = model.predict(table)
    design = np.column_stack([x, np.ones(len(x))])
    best = np.linalg.lstsq(design, y.astype(np.float64))[0]
    interval, unit = model.intervals(0.95)[:-1], x.std(axis=0) / y.std()
    held = (interval[:, 0] <= best[:-1]) & (best[:-1] <= interval[:, 1])
    lost = np.mean((predicted - y) ** 2) - np.mean((design @ best - y) ** 2)
    half = 0.5 * (interval[:, 1] - interval[:, 0])
    return (model.coef_ - best[:-1]) * unit, half * unit, held, float(lost / np.var(y))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--rows", default="3000,30000,300000")
    parser.add_argument("--targets", action="store_true")
    options = parser.parse_args()
    if options.targets:
        print_targets(options.runs, [int(part) for part in options.rows.split(",")])
        return
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
