"""Regressions of few rows: how far off predictions are, and whether intervals hold.

    python benchmarks/few_rows.py [--runs 8]

Of ten settings (150 to 2,500 rows, epsilon .1 to 2, one to eight features) and fourteen kinds of
targets: the mean squared error of predictions over the target's variance, the median of the
settings' means; how often 95 % intervals hold the line of all rows; how often there is a warning.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import prolate

Floats = NDArray[np.float64]

SETTINGS = (
    (200, 1.0, 1), (300, 1.0, 3), (300, 1.0, 8), (300, 0.5, 2), (600, 0.5, 3),
    (1000, 0.3, 3), (150, 2.0, 3), (500, 1.0, 3), (1000, 0.5, 5), (2500, 0.1, 2),
)  # fmt: skip


def features(rng: np.random.Generator, n: int, k: int) -> Floats:
    others = [
        rng.normal(3 * j, 1 + j, n) if j % 3 else (rng.random(n) < 0.4) * 1.0 for j in range(1, k)
    ]
    return np.column_stack([rng.normal(50, 10, n), *others])


def targets(rng: np.random.Generator, x: Floats) -> Iterator[tuple[str, Floats]]:
    n, u = len(x), (x[:, 0] - x[:, 0].mean()) / x[:, 0].std()
    p = 1 / (1 + np.exp(-(u + 0.4)))
    yield "flags, .6", (rng.random(n) < p) * 1.0
    yield "flags, .25", (rng.random(n) < np.clip(0.25 + 0.1 * u, 0, 1)) * 1.0
    yield "flags, .08", (rng.random(n) < np.clip(0.08 + 0.04 * u, 0, 1)) * 1.0
    yield "1 or 2", 1.0 + (rng.random(n) < p)
    yield "-1 or 1", np.sign(rng.random(n) - 0.5 + 0.2 * u)
    yield "normal", 50 + 10 * u + 10 * rng.normal(size=n)
    yield "thousandths", 0.001 * (u + rng.normal(size=n))
    yield "10,000", 1e4 + u + rng.normal(size=n)
    yield "exponential", 20 * np.exp(0.5 * u) * rng.exponential(size=n)
    yield "log-normal", 1000 * np.exp(0.7 * u + 0.7 * rng.normal(size=n))
    yield "ratings", np.clip(np.round(3 + 0.6 * u + rng.normal(size=n)), 1, 5)
    yield "counts", rng.poisson(np.exp(0.4 * u)).astype(float)
    yield "two humps", np.where(rng.random(n) < p, 100, 20) + 5 * rng.normal(size=n)
    yield "zeros", np.where(rng.random(n) < 0.4, 0, 30 * rng.exponential(size=n) * np.exp(0.3 * u))


def fit(x: Floats, y: Floats, epsilon: float, seed: int) -> tuple[float, float, bool]:
    """Return the error of predictions, the part of intervals that hold, and if it warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = prolate.LinearRegression(epsilon=epsilon, delta=1e-6, seed=seed).fit(x, y)
    error = float(np.mean((model.predict(x) - y) ** 2) / np.var(y))
    release, line = model.release_, np.column_stack([x, np.ones(len(x))])
    held = np.nan
    if release.has_intervals:
        low, high = model.intervals(0.95).T
        best = np.linalg.lstsq(line, y)[0]
        held = float(np.mean((low <= best) & (best <= high)))
    return error, held, len(release.warnings) > 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=8)
    runs = parser.parse_args().runs
    found: dict[str, list[list[tuple[float, float, bool]]]] = {}
    for n, epsilon, k in SETTINGS:
        here: dict[str, list[tuple[float, float, bool]]] = {}
        for seed in range(runs):
            rng = np.random.default_rng(1000 * seed + n)
            x = features(rng, n, k)
            for name, y in targets(rng, x):
                here.setdefault(name, []).append(fit(x, y, epsilon, seed))
        for name, fits in here.items():
            found.setdefault(name, []).append(fits)
    print(f"{'target':12} {'error':>6} {'held':>5} {'warned':>6}")
    for name, settings in found.items():
        every = np.array(settings, dtype=float)  # setting, run, (error, held, warned)
        error = np.median(every[:, :, 0].mean(axis=1))
        held, warned = np.nanmean(every[:, :, 1]), every[:, :, 2].mean()
        print(f"{name:12} {error:6.2f} {held:5.2f} {warned:6.2f}")


if __name__ == "__main__":
    main()
