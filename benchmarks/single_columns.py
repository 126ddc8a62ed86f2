"""How near the mean of one column comes to R*, by shape and number of rows.

    python benchmarks/single_columns.py [--runs 100] [--only TEXT]

Shapes are those of `many_shapes.py` that make a difference in one column, columns of more zeros,
and normal ones that end on one side. Printed are root mean square errors, without the worst of
twenty runs, over that of the best fixed clip, R / R* of `accuracy.py`; and the part of the 95 %
intervals that hold the sample's own mean. That clip is around the true mean, so an interval that
is longer on one side can be better.
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from accuracy import Setting, fixed_clip
from many_shapes import SHAPES
from scipy.stats import norm

import prolate

ROWS = ((500, 0.25), (1000, 0.25), (3000, 0.25), (20_000, 0.25), (20_000, 1.0))  # and rho
ZEROS = {"90 % zeros": (0.1, 0.5), "95 % zeros": (0.05, 2.0), "97 % zeros": (0.03, 1.0)}
ALIKE = {"correlated", "contaminated rows", "rank three", "autoregressive", "both sides"}  # others


def mostly_zeros(
    rng: np.random.Generator, n: int, d: int, *, part: float, shape: float
) -> np.ndarray:
    """Return standardized zeros, and a part that follows a gamma distribution."""
    mean = part * shape
    drawn = np.where(rng.random((n, d)) < part, rng.gamma(shape, 1.0, (n, d)), 0.0)
    return (drawn - mean) / np.sqrt(mean * (1.0 + shape) - mean**2)


def cut(rng: np.random.Generator, n: int, d: int, *, below: float) -> np.ndarray:
    """Return standardized normal values, of which the lowest are all the same."""
    part, density = norm.cdf(-below), norm.pdf(below)
    mean = density - below * part
    square = 1.0 - part - below * density + below**2 * part
    return (np.maximum(rng.standard_normal((n, d)), -below) - mean) / np.sqrt(square - mean**2)


ENDS = {f"ends {below:g} below": partial(cut, below=below) for below in (2.0, 1.6, 1.2)}
DRAWS = {name: draw for name, draw in SHAPES.items() if name not in ALIKE} | {
    name: partial(mostly_zeros, part=part, shape=shape) for name, (part, shape) in ZEROS.items()
}
DRAWS |= ENDS


def measure(shape: str, runs: int) -> tuple[list[float], list[float]]:
    """Return R / R*, and coverage, for each number of rows."""
    warnings.simplefilter("ignore")
    ratios, covered = [], []
    for n, rho in ROWS:
        setting = Setting(shape, n, rho, (1.0,), center=3.0, draw=DRAWS[shape])
        _, best = fixed_clip(setting)
        errors, held = [], []
        for run in range(runs):
            rows = setting.rows(run) + 3.0
            release = prolate.mean(rows, budget=prolate.Budget(rho=rho))
            error = abs(release.estimate[0] - rows.mean())
            clipping = 0.0 if release.clipping_std is None else release.clipping_std[0]
            errors.append(error / best)
            held.append(error < 1.96 * np.hypot(release.noise_std[0], clipping))
        usual = np.sort(errors)[: max(1, int(0.95 * runs))]
        ratios.append(float(np.sqrt(np.mean(usual**2))))
        covered.append(float(np.mean(held)))
    return ratios, covered


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    shapes = [shape for shape in DRAWS if options.only in shape]
    print(f"{'rows, rho':18}", *(f"{n:6}, {rho:<4g}" for n, rho in ROWS), " held")
    every = []
    with ProcessPoolExecutor(options.jobs) as pool:
        found = pool.map(measure, shapes, [options.runs] * len(shapes))
        for shape, (ratios, covered) in zip(shapes, found, strict=True):
            every.append(ratios)
            print(f"{shape:18}", *(f"{r:12.2f}" for r in ratios), f"{np.mean(covered):6.0%}")
    mean = np.exp(np.log(every).mean(axis=0))
    print(f"{'geometric mean':18}", *(f"{r:12.2f}" for r in mean))


if __name__ == "__main__":
    main()
