"""Do 95 % intervals hold? How often `Release.interval` covers the truth, in hundredths.

    python benchmarks/intervals.py [--runs 250] [--only TEXT] [--statistic NAME]

The truth of a mean, variance or quantile is that of the population that the rows are drawn
from: a distribution, or a real table (with replacement), if ../shared/data is there. That of
a sum is the sum of the rows. Four columns with scales 1, 10, 0.1 and 3; of a real table, all
that are not constant. Of a single column, skewed rows are hardest, and of many columns the
one that is skewed; of many rows, means are taken in one pass; and baskets have their own
mean. "miss" is how often the truth lay below and above the interval; "noise" is the part of
the interval's variance that is the noise's; "warned" is how often the release said that its
intervals may be too narrow, or are wide by a guess. Standard error of a figure of 250 runs and
four columns: 0.7.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import prolate

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Any]  # rows, dense or sparse

SCALES = np.array([1.0, 10.0, 0.1, 3.0])
BASKETS = "baskets"
FAR_OUT = "one in a hundred far out, one column"
COSTS = "costs, of which four fifths are 0, one column"
REAL = ("kin40k", "parkinsons", "keggdirected", "elevators")
SETTINGS = ((2_000, 1.0), (20_000, 0.3), (20_000, 1.0), (20_000, 5.0))  # rows, epsilon
MANY = (300_000, 1.0)  # for means
DELTA = 1e-6
SAYS = "too narrow", "twice as wide"  # in a warning of intervals
PROBABILITIES = (0.1, 0.5, 0.9)
TRUTH_ROWS = 4_000_000  # of a distribution whose quantiles have no closed form here


@dataclass(frozen=True)
class Population:
    """Where rows come from, and its true mean, variance and quantiles."""

    name: str
    draw: Draw
    mean: Floats
    variance: Floats
    quantiles: Floats


def shaped(name: str, laws: list[Any], scales: Floats) -> Population:
    """Return independent columns, each of its law, multiplied by scales."""

    def rows(rng: np.random.Generator, n: int) -> Floats:
        return np.column_stack([law.rvs(size=n, random_state=rng) for law in laws]) * scales

    mean, variance = np.array([law.stats("mv") for law in laws], dtype=float).T
    quantiles = np.column_stack([law.ppf(PROBABILITIES) for law in laws]) * scales
    return Population(name, rows, mean * scales, variance * scales**2, quantiles)


def far_out() -> Population:
    """Return normal rows of which one in a hundred is ten standard deviations to one side."""

    def rows(rng: np.random.Generator, n: int) -> Floats:
        return rng.normal(size=(n, 1)) + 10.0 * (rng.random((n, 1)) < 0.01)

    drawn = rows(np.random.default_rng(0), TRUTH_ROWS)
    quantiles = np.quantile(drawn, PROBABILITIES, axis=0)
    return Population(FAR_OUT, rows, np.array([0.1]), np.array([1.99]), quantiles)


def costs() -> Population:
    """Return log-normal costs that a fifth of the rows has."""
    from scipy import stats

    law, part = stats.lognorm(1.2, scale=1100.0), 0.2

    def rows(rng: np.random.Generator, n: int) -> Floats:
        values = law.rvs(size=(n, 1), random_state=rng)
        return np.where(rng.random((n, 1)) < part, values, 0.0)

    mean, square = part * law.mean(), part * law.moment(2)
    above = np.maximum(np.array(PROBABILITIES) - (1.0 - part), 0.0) / part
    quantiles = law.ppf(above)[:, np.newaxis]
    return Population(COSTS, rows, np.array([mean]), np.array([square - mean**2]), quantiles)


def populations() -> Iterator[Population]:
    from scipy import stats

    laws = {
        "gaussian": stats.norm(5.0, 1.0),
        "exponential": stats.expon(),
        "log-normal": stats.lognorm(1.0),
        "student t5": stats.t(5),
    }
    for name, law in laws.items():
        yield shaped(name, 4 * [law], SCALES)
        if name in ("exponential", "log-normal"):
            yield shaped(f"{name}, one column", [law], np.ones(1))
    one = [laws["log-normal"], *(29 * [laws["gaussian"]])]
    yield shaped("log-normal, one of 30 columns", one, np.resize(SCALES, 30))
    yield far_out()
    yield costs()
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    for name in REAL:
        path = folder / "uci" / f"{name}.parquet"
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
    baskets = folder / "sparse" / "bms_webview1.parquet"
    if baskets.exists():
        yield webview(baskets)


def webview(path: Path) -> Population:
    """Return the baskets of BMS WebView, one column for each item."""
    import pyarrow.parquet as pq
    from scipy.sparse import csr_array

    row, item = (c.to_numpy() for c in pq.read_table(path, columns=["row_id", "col_id"]).columns)
    table = csr_array((np.ones(row.size), (row, item)), dtype=np.float64)
    table = table[:, np.flatnonzero(table.sum(axis=0) > 0.0)]
    mean = np.asarray(table.mean(axis=0))
    draw: Draw = lambda rng, n: table[rng.integers(0, table.shape[0], n)]  # noqa: E731
    return Population(BASKETS, draw, mean, mean * (1.0 - mean), np.zeros((3, mean.size)))


def release(statistic: str, rows: Any, epsilon: float) -> prolate.Release:
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
) -> tuple[float, float, float, float, float]:
    """Return coverage, misses below and above, the noise's part of the variance, and warnings."""
    rng = np.random.default_rng(1)
    below, above, part, warned = [], [], [], []
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
        whole = (ends[..., 1] - made.estimate) / 1.959964
        part.append((made.noise_std / np.maximum(whole, made.noise_std)) ** 2)
        warned.append(any(says in warning for warning in made.warnings for says in SAYS))
    low, high = float(np.mean(below)), float(np.mean(above))
    return 1.0 - low - high, low, high, float(np.mean(part)), float(np.mean(warned))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=250)
    parser.add_argument("--only", default="")
    parser.add_argument("--statistic", default="")
    chosen = parser.parse_args()
    print("| rows | statistic | n | epsilon | covered | miss below / above | noise | warned |")
    print("|---|---|---|---|---|---|---|---|")
    for population in populations():
        if chosen.only not in population.name:
            continue
        for statistic in ("sum", "mean", "variance", "quantile"):
            if chosen.statistic not in statistic:
                continue
            if population.name == BASKETS and statistic != "mean":
                continue
            for n, epsilon in (*SETTINGS, *((MANY,) if statistic == "mean" else ())):
                covered, low, high, part, warned = measure(
                    population, statistic, n, epsilon, chosen.runs
                )
                print(
                    f"| {population.name} | {statistic} | {n:,} | {epsilon:g} | "
                    f"{100 * covered:.1f} | {100 * low:.1f} / {100 * high:.1f} | {part:.2f} | "
                    f"{100 * warned:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
