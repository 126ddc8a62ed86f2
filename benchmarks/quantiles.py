"""How far off, in ranks, are private quantiles? Over the noise of one count.

    python benchmarks/quantiles.py [--runs 40] [--only TEXT]

The rank of a released quantile is off by so many rows: 0, if the rank that was wanted is one
of those that rows of the value have. The root of its mean square is divided by D / mu, the
noise of a single count in each of the K columns and quantiles (D**2 = 2 K, replace). Beside
it the exponential mechanism on 2**40 cells (Smith 2011) at the same rho, which is told the
least and the largest value, widened three times. "held" is how often `noise_std` alone, twice
to both sides, holds the quantile of the rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import prolate
from prolate.curator import Curator
from prolate.queries import Ranks
from prolate.sources import open_source

Floats = NDArray[np.float64]

SHAPES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, n: rng.normal(170.0, 10.0, n),
    "normal around 0": lambda rng, n: rng.normal(size=n),
    "log-normal(1.5)": lambda rng, n: rng.lognormal(0.0, 1.5, n),
    "Cauchy": lambda rng, n: rng.standard_cauchy(n),
    "Poisson(40)": lambda rng, n: rng.poisson(40.0, n).astype(float),
    "cents": lambda rng, n: np.round(rng.lognormal(3.0, 1.0, n), 2),
    "three tenths zeros": lambda rng, n: np.where(rng.random(n) < 0.3, 0, rng.lognormal(8, 1, n)),
    "timestamps": lambda rng, n: 1.7e9 + np.round(3e7 * rng.random(n)),
    "a gap": lambda rng, n: np.where(rng.random(n) < 0.47, 0.0, 100.0) + rng.normal(size=n),
}
SETTINGS = (  # rows, columns, quantiles
    (1_000, 1, (0.5,)),
    (1_000, 1, (0.1, 0.25, 0.5, 0.75, 0.9)),
    (5_000, 30, (0.5,)),
    (20_000, 1, (0.02, 0.5, 0.99)),
    (200_000, 4, (0.1, 0.5, 0.9)),
)
MU = 1.0


def off(rising: Floats, q: float, value: float) -> float:
    """Return how far the rank of a value is from a quantile's."""
    below, upto = (np.searchsorted(rising, value, side) for side in ("left", "right"))
    return float(max(below - q * rising.size, q * rising.size - upto, 0.0))


def told(rows: Floats, q: float, count: int, seed: int) -> Floats:
    """Return quantiles by the exponential mechanism, one of so many that share the budget."""
    curator = Curator(open_source(rows), prolate.Budget(mu=MU).for_zcdp(), seed=seed)
    low, high = rows.min(axis=0), rows.max(axis=0)
    ranks = Ranks(low - (high - low), high + (high - low), q)
    return curator.select(ranks, share=1.0 / count, label="quantile").values


def measure(draw: Callable[..., Floats], n: int, d: int, qs: tuple[float, ...], runs: int) -> str:
    """Return a row's cells."""
    ours, theirs, held = [], [], []
    for seed in range(runs):
        rng = np.random.default_rng([seed, n, d])
        rows = np.column_stack([draw(rng, n) for _ in range(d)])
        made = prolate.quantile(rows, list(qs), budget=prolate.Budget(mu=MU), seed=seed)
        for i, q in enumerate(qs):
            other = told(rows, q, len(qs), seed)
            for j in range(d):
                rising, value = np.sort(rows[:, j]), made.estimate[i, j]
                ours.append(off(rising, q, value))
                theirs.append(off(rising, q, other[j]))
                ends = value - 2 * made.noise_std[i, j], value + 2 * made.noise_std[i, j]
                at = (
                    np.searchsorted(rising, ends[0], "left"),
                    np.searchsorted(rising, ends[1], "right"),
                )
                held.append(at[0] <= q * n <= at[1])
    one = np.sqrt(2.0 * d * len(qs)) / MU
    found = [np.sqrt(np.mean(np.square(some))) / one for some in (ours, theirs)]
    return f"{found[0]:.2f} | {max(ours) / one:.1f} | {found[1]:.2f} | {100 * np.mean(held):.0f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    print("| rows | n | columns | quantiles | off | worst | exponential mechanism | held |")
    print("|---|---|---|---|---|---|---|---|")
    for n, d, qs in SETTINGS:
        for name, draw in SHAPES.items():
            if given.only in name:
                cells = measure(draw, n, d, qs, given.runs)
                print(f"| {name} | {n:,} | {d} | {', '.join(map(str, qs))} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
