"""How near `prolate.mean` comes to the best fixed clip on categories, a column of flags for each.

    python benchmarks/dummies.py [--tables 60] [--first 0] [--runs 5] [--plan]

Six kinds of tables in turn: a variable of few or of many categories, several variables, several
that some rows leave out, many of few categories, two beside three normal columns; with 200 to
60,000 rows and rho from 1/128 to 8. Errors are over those of the best fixed clip with known
centers, scales and the whole budget; with --plan, PLAN's over ours, too.
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import prolate

KINDS = [
    "one variable",
    "one of many categories",
    "several variables",
    "several, some left out",
    "many of few categories",
    "two, and normal columns",
]


def popularity(rng: np.random.Generator, categories: int) -> np.ndarray:
    """Return how often each category comes: by a power, alike, geometric, or at random."""
    often = [
        1.0 / np.arange(1, categories + 1) ** rng.uniform(0.5, 1.6),
        np.ones(categories),
        rng.uniform(0.5, 0.95) ** np.arange(categories) + 1e-4,
        rng.dirichlet(np.ones(categories)),
    ][rng.integers(4)]
    return often / often.sum()


def sizes(rng: np.random.Generator, kind: int) -> list[int]:
    """Return the variables' numbers of categories."""

    def one(low: int, high: int) -> int:
        return int(np.exp(rng.uniform(np.log(low), np.log(high))))

    if kind < 2:
        return [one(*((3, 40), (40, 500))[kind])]
    if kind == 5:
        return [one(5, 100), int(rng.integers(3, 12))]
    low, high = (3, 25) if kind < 4 else (2, 8)
    count = rng.integers(2, 12) if kind < 4 else rng.integers(3, 30)
    return [int(size) for size in rng.integers(low, high, count)]


def table(number: int) -> tuple[np.ndarray, float, float]:
    """Return rows, a rho and a p."""
    rng = np.random.default_rng([55, number])
    kind = number % len(KINDS)
    rho = float(2.0 ** rng.integers(-7, 4))
    room = np.exp(rng.uniform(np.log(60), np.log(3000)))
    variables = sizes(rng, kind)
    d = sum(variables)
    n = min(int(np.clip(room * np.sqrt(d / rho), 200, 60_000)), int(6e6 / d))
    columns = []
    for categories in variables:
        chosen = rng.choice(categories, n, p=popularity(rng, categories))
        flags = (chosen[:, np.newaxis] == np.arange(categories)).astype(float)
        columns.append(flags * (rng.random((n, 1)) < 0.7) if kind == 3 else flags)
    if kind == 5:
        columns.append(2.0 + 0.3 * rng.normal(size=(n, 3)))
    return np.hstack(columns), rho, float(rng.choice([1, 2, 2]))


def norm(error: np.ndarray, p: float) -> float:
    return float(np.sum(np.abs(error) ** p) ** (1 / p))


def least_error(rows: np.ndarray, rho: float, p: float) -> float:
    """Return the error of the best fixed clip around the known mean."""
    away, spread = rows - rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(spread > 0.0, spread, 1.0) ** (2 / (p + 2))
    lengths = np.linalg.norm(away / scale, axis=1)
    noise = np.random.default_rng(0).standard_normal((20, spread.size)) * scale * (spread > 0.0)
    errors = []
    for part in np.geomspace(1 / len(rows), 0.6, 30):
        radius = np.quantile(lengths, 1 - part)
        kept = np.minimum(1.0, radius / np.maximum(lengths, 1e-300)) - 1.0
        bias = (away * kept[:, np.newaxis]).mean(axis=0)
        std = 2 * radius / np.sqrt(2 * rho) / len(rows)
        errors.append(np.mean([norm(std * one + bias, p) for one in noise]))
    return min(errors)


def measure(number: int, runs: int, plan: bool) -> tuple[float, float, float]:
    """Return the median and largest error over the least, and PLAN's median (NaN: not asked)."""
    warnings.simplefilter("ignore")
    rows, rho, p = table(number)
    truth, budget, least = rows.mean(axis=0), prolate.Budget(rho=rho), least_error(rows, rho, p)

    def errors(method: str) -> np.ndarray:
        made = (
            prolate.mean(rows, budget=budget, error_norm=p, method=method, seed=run)
            for run in range(runs)
        )
        return np.array([norm(one.estimate - truth, p) for one in made]) / least

    ours = errors("auto")
    return np.median(ours), ours.max(), np.median(errors("plan")) if plan else np.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    numbers = range(options.first, options.first + options.tables)
    with ProcessPoolExecutor(options.jobs) as pool:
        asked = [options.runs] * len(numbers), [options.plan] * len(numbers)
        found = np.array(list(pool.map(measure, numbers, *asked)))
    kinds = np.array(numbers) % len(KINDS)
    for kind, name in [*enumerate(KINDS), (None, "all")]:
        median, worst, plan = found[kinds == kind if kind is not None else kinds >= 0].T
        line = f"{name:24} {np.exp(np.log(median).mean()):5.2f}  worst run {worst.max():6.2f}"
        if options.plan:
            line += f"  PLAN better by more than 5 % in {np.mean(plan < 0.95 * median):.0%}"
        print(line)


if __name__ == "__main__":
    main()
