"""Do 95 % intervals hold? How often `Release.interval` covers the truth, in hundredths.

    python benchmarks/intervals.py [--runs 250] [--only TEXT] [--statistic NAME]

The truth of a mean, variance or quantile is that of the population that the rows are drawn
from: a distribution, or a real table (with replacement), if ../shared/data is there. That of
a sum is the sum of the rows. Four columns with scales 1, 10, 0.1 and 3; of a real table, all
that are not constant. "miss" is how often the truth lay below and above the interval; "noise"
is the part of the interval's variance that is the noise's. Standard error of a figure of 250
runs and four columns: 0.7.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import prolate

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]

SCALES = np.array([1.0, 10.0, 0.1, 3.0])
REAL = ("kin40k", "parkinsons", "keggdirected", "elevators")
SETTINGS = ((2_000, 1.0), (20_000, 0.3), (20_000, 1.0), (20_000, 5.0))  # rows, epsilon
DELTA = 1e-6
PROBABILITIES = (0.1, 0.5, 0.9)
TRUTH_ROWS = 4_000_000  # of a distribution whose quantiles or moments have no closed form here


@dataclass(frozen=True)
class Population:
    """Where rows come from, and its true mean, variance and quantiles."""

    name: str
    draw: Draw
    mean: Floats
    variance: Floats
    quantiles: Floats


def shaped(
    name: str, draw: Draw, mean: float, variance: float, quantiles: list[float]
) -> Population:
    def rows(rng: np.random.Generator, n: int) -> Floats:
        return draw(rng, n) * SCALES

    return Population(
        name,
        rows,
        mean * SCALES,
        variance * SCALES**2,
        np.multiply.outer(np.array(quantiles), SCALES),
    )


def populations() -> Iterator[Population]:
    from scipy import stats

    d = SCALES.size
    laws = {
        "gaussian": stats.norm(5.0, 1.0),
        "exponential": stats.expon(),
        "log-normal": stats.lognorm(1.0),
        "student t5": stats.t(5),
    }
    for name, law in laws.items():
        mean, variance = law.stats("mv")
        yield shaped(
            name,
            lambda rng, n, law=law: law.rvs(size=(n, d), random_state=rng),
            float(mean),
            float(variance),
            law.ppf(PROBABILITIES).tolist(),
        )
    folder = Path(__file__).resolve().parents[2] / "shared" / "data" / "uci"
    for name in REAL:
        path = folder / f"{name}.parquet"
        if not path.exists():
            continue
        import pyarrow.parquet as pq

        names = pq.read_schema(path).names
        table = np.column_stack([c.to_numpy() for c in pq.read_table(path).columns]).astype(float)
        table = table[:, table.std(axis=0) > 0.0]
        yield Population(
            f"{name} ({table.shape[1]} of {len(names)} columns)",
            lambda rng, n, table=table: table[rng.integers(0, len(table), n)],
            table.mean(axis=0),
            table.var(axis=0),
            np.quantile(table, PROBABILITIES, axis=0, method="inverted_cdf"),
        )


def release(statistic: str, rows: Floats, epsilon: float) -> prolate.Release:
    budget = prolate.Budget(epsilon=epsilon, delta=DELTA)
    if statistic == "quantile":
        return prolate.quantile(rows, PROBABILITIES, budget=budget)
    if statistic == "sum":
        bounds = (rows.min(axis=0), rows.max(axis=0))  # of a simulation: public enough here
        return prolate.sum(rows, budget=budget, bounds=bounds)
    if statistic == "variance":
        return prolate.variance(rows, budget=budget)
    return prolate.mean(rows, budget=budget)


def measure(
    population: Population, statistic: str, n: int, epsilon: float, runs: int
) -> tuple[float, float, float, float]:
    """Return coverage, misses below and above, and the noise's part of the variance."""
    rng = np.random.default_rng(1)
    below, above, part = [], [], []
    for _ in range(runs):
        rows = population.draw(rng, n)
        made = release(statistic, rows, epsilon)
        truth = {
            "mean": population.mean,
            "variance": population.variance,
            "quantile": population.quantiles,
            "sum": rows.sum(axis=0),
        }[statistic]
        ends = made.interval(0.95)
        below.append(truth < ends[..., 0])
        above.append(truth > ends[..., 1])
        half = (ends[..., 1] - ends[..., 0]) / (2 * 1.959964)
        part.append(made.noise_std**2 / np.maximum(half**2, 1e-300))
    low, high = float(np.mean(below)), float(np.mean(above))
    return 1.0 - low - high, low, high, float(np.mean(part))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=250)
    parser.add_argument("--only", default="")
    parser.add_argument("--statistic", default="")
    chosen = parser.parse_args()
    print("| rows | statistic | n | epsilon | covered | miss below / above | noise |")
    print("|---|---|---|---|---|---|---|")
    for population in populations():
        if chosen.only not in population.name:
            continue
        for statistic in ("sum", "mean", "variance", "quantile"):
            if chosen.statistic not in statistic:
                continue
            for n, epsilon in SETTINGS:
                covered, low, high, part = measure(population, statistic, n, epsilon, chosen.runs)
                print(
                    f"| {population.name} | {statistic} | {n:,} | {epsilon:g} | "
                    f"{100 * covered:.1f} | {100 * low:.1f} / {100 * high:.1f} | {part:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
