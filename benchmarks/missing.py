"""Single columns of which values are missing, beside the values that are there alone.

    python benchmarks/missing.py [--runs 20]

Ten shapes, three numbers of values and both neighbor relations, by the part that is missing:
root mean square errors over those of the same number of values of which none is missing (the
geometric mean of all settings), and how often 95 % intervals of noise and clipping hold.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import prolate

Floats = NDArray[np.float64]

SHAPES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, m: rng.standard_normal(m),
    "exponential": lambda rng, m: rng.exponential(1.0, m),
    "log-normal": lambda rng, m: rng.lognormal(0.0, 0.8, m),
    "Student": lambda rng, m: rng.standard_t(4, m),
    "uniform": lambda rng, m: rng.random(m),
    "counts": lambda rng, m: rng.poisson(1.5, m) * 1.0,
    "flags": lambda rng, m: (rng.random(m) < 0.15) * 1.0,
    "rare amounts": lambda rng, m: (rng.random(m) < 0.04) * rng.lognormal(0.0, 0.5, m),
    "half zeros": lambda rng, m: np.where(rng.random(m) < 0.5, 0.0, rng.gamma(2.0, 1.0, m)),
    "ages": lambda rng, m: np.rint(rng.gamma(9.0, 5.0, m)),
}
VALUES = ((600, 0.5), (2000, 0.25), (9000, 0.03))  # and rho
MISSING = (0.0, 0.3, 0.6, 0.9)


def measure(statistic: str, runs: int) -> tuple[Floats, Floats]:
    """Return errors and how often intervals hold, of each setting and part that is missing."""
    settings = list(itertools.product(SHAPES.values(), VALUES, ("replace", "add-remove")))
    errors, held = np.zeros((2, len(settings), len(MISSING)))
    release_of, truth = {
        "mean": (prolate.mean, np.mean),
        "variance": (prolate.variance, np.var),
    }[statistic]
    for i, (draw, (count, rho), neighbors) in enumerate(settings):
        budget = prolate.Budget(rho=rho)
        for k, part in enumerate(MISSING):
            off, bound = np.zeros((2, runs))
            for run in range(runs):
                rng = np.random.default_rng([run, 7])
                values = draw(rng, count) + 2.0
                column = np.full(int(count / (1.0 - part)), np.nan)
                column[:count] = values
                rng.shuffle(column)
                release = release_of(
                    column[:, np.newaxis], budget=budget, neighbors=neighbors, seed=run
                )
                clipping = 0.0 if release.clipping_std is None else release.clipping_std[0]
                off[run] = release.estimate[0] - truth(values)
                bound[run] = 1.96 * np.hypot(release.noise_std[0], clipping) + 1e-9
            errors[i, k] = np.sqrt(np.mean(off**2)) + 1e-12
            held[i, k] = np.mean(np.abs(off) <= bound)
    return errors, held


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    warnings.simplefilter("ignore")
    for statistic in ("mean", "variance"):
        errors, held = measure(statistic, runs)
        more = np.exp(np.mean(np.log(errors / errors[:, :1]), axis=0))
        for k, part in enumerate(MISSING):
            print(
                f"{statistic:8}  {100 * part:3.0f} % missing  error {more[k]:.2f}  "
                f"held {100 * held[:, k].mean():3.0f} %"
            )


if __name__ == "__main__":
    main()
