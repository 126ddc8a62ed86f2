"""How near the mean of one column comes to the best fixed clip, where nearly all values are 0.

    python benchmarks/rare_columns.py [--settings 54] [--runs 40] [--seed 2] [--variance]

Settings are drawn at random: 9 to 300 times as many rows that are not 0 as one row's noise, 1 to
8 % of all, at rho from 1/8 to 1. Printed are root mean square errors of the mean, without the worst
of twenty runs, over those of an oracle: it clips to the best interval around 0, of the sides that
have values, with the whole budget, and gives nothing back. With `--variance`, the median error of
the variance, over the variance. Beside them the largest error, the part of the 95 % intervals that
hold the sample's own value, and of the releases that warn.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

import prolate

KINDS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "flags": lambda _, n: np.ones(n),
    "gamma(2)": lambda rng, n: rng.gamma(2.0, 1.0, n),
    "exponential": lambda rng, n: rng.exponential(1.0, n),
    "log-normal(1)": lambda rng, n: np.exp(rng.standard_normal(n)),
    "signs": lambda rng, n: rng.choice([-1.0, 1.0], n),
    "Pareto(2.5)": lambda rng, n: rng.pareto(2.5, n) + 1.0,
    "-50 gamma(2)": lambda rng, n: -50.0 * rng.gamma(2.0, 1.0, n),
    "around 300": lambda rng, n: 300.0 + 60.0 * rng.standard_normal(n),
    "Laplace": lambda rng, n: rng.laplace(0.0, 1.0, n),
}
TWO_SIDED = {"signs", "Laplace"}


@dataclass(frozen=True)
class Setting:
    """One kind of values, how many rows, how many of them are not 0, and the budget."""

    kind: str
    rows: int
    part: float
    rho: float

    def values(self, seed: int) -> np.ndarray:
        rng = np.random.default_rng([seed, self.rows])
        return np.where(rng.random(self.rows) < self.part, KINDS[self.kind](rng, self.rows), 0.0)

    def oracle(self) -> float:
        """Return the error of the best fixed interval."""
        many = max(int(self.rows * self.part), 1)
        drawn = [KINDS[self.kind](np.random.default_rng(run), many) for run in range(40)]
        reach = np.quantile(np.abs(drawn), np.linspace(0.02, 1.0, 60))
        length = reach * (2.0 if self.kind in TWO_SIDED else 1.0)
        lost = [
            [float(np.sum(np.sign(d) * np.maximum(np.abs(d) - c, 0.0))) for c in reach]
            for d in drawn
        ]
        bias = np.sqrt(np.mean(np.square(lost), axis=0))
        return float(np.min(np.hypot(length / np.sqrt(2.0 * self.rho), bias))) / self.rows


def settings(count: int, seed: int) -> list[Setting]:
    rng, kinds, found = np.random.default_rng(seed), list(KINDS), []
    for i in range(count):
        rho = float(rng.choice([0.125, 0.25, 0.5, 1.0]))
        many = np.exp(rng.uniform(np.log(9.0), np.log(300.0))) / np.sqrt(rho)
        part = float(rng.uniform(0.01, 0.08))
        found.append(Setting(kinds[i % len(kinds)], max(int(many / part), 200), part, rho))
    return found


def measure(setting: Setting, runs: int, variance: bool) -> tuple[float, float, float, float]:
    """Return the error, the largest one, coverage and how often there is a warning."""
    warnings.simplefilter("ignore")
    statistic = prolate.variance if variance else prolate.mean
    unit = 1.0 if variance else setting.oracle()
    errors, held, warned = [], [], []
    for run in range(runs):
        values = setting.values(run)
        true = values.var() if variance else values.mean()
        release = statistic(values[:, np.newaxis], budget=prolate.Budget(rho=setting.rho))
        error = abs(release.estimate[0] - true)
        clipping = 0.0 if release.clipping_std is None else release.clipping_std[0]
        held.append(error < 1.96 * np.hypot(release.noise_std[0], clipping))
        warned.append(bool(release.warnings))
        errors.append(error / (true if variance else unit))
    usual = np.sort(errors)[: max(1, int(0.95 * runs))]
    error = np.median(errors) if variance else np.sqrt(np.mean(usual**2))
    return float(error), float(max(errors)), float(np.mean(held)), float(np.mean(warned))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", type=int, default=54)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--variance", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    chosen = settings(options.settings, options.seed)
    job = partial(measure, runs=options.runs, variance=options.variance)
    with ProcessPoolExecutor(options.jobs) as pool:
        found = np.array(list(pool.map(job, chosen)))
    print(f"{'':30} {'rows':>7} {'not 0':>6} {'rho':>6} {'error':>7} {'most':>7} held  warned")
    for s, (error, most, held, warned) in zip(chosen, found, strict=True):
        print(
            f"{s.kind:30} {s.rows:7} {s.rows * s.part:6.0f} {s.rho:6g} {error:7.3g} {most:7.3g} "
            f"{held:4.0%} {warned:6.0%}"
        )
    for kind in [*KINDS, ""]:
        some = np.array([not kind or s.kind == kind for s in chosen])
        error = np.exp(np.mean(np.log(np.maximum(found[some, 0], 1e-9))))
        held, warned = np.mean(found[some, 2:], axis=0)
        print(f"{kind or 'all':52} {error:7.3g} {'':7} {held:4.0%} {warned:6.0%}")


if __name__ == "__main__":
    main()
