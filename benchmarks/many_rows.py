"""How near `prolate.mean` comes to the oracle where rows are many, so that a sample is searched.

    python benchmarks/many_rows.py [--runs 5] [--only TEXT]

R as in `accuracy.py`, for up to a million rows of few columns, normal to Pareto.
"""

from __future__ import annotations

import argparse

import numpy as np
from accuracy import Setting, exponential, laplace, measure, normal, student, zeros, zipf

SHAPES = ((60_000, 16), (300_000, 4), (300_000, 16), (40_000, 100), (1_000_000, 8))


def lognormal(rng, n, d):
    return np.exp(rng.standard_normal((n, d)))


def pareto(rng, n, d):
    return rng.pareto(3, (n, d))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"{'setting':32} {'n/room':>7} {'R*':>6} {'goal':>6} {'R':>8} {'worst':>8}")
    for n, d in SHAPES:
        for draw in (normal, laplace, student, exponential, lognormal, pareto, zeros):
            for skew in (0, 2):
                name = f"{n} x {d} {draw.__name__} skew {skew}"
                if options.only in name:
                    setting = Setting(name, n, 0.5, tuple(zipf(d, skew)), draw=draw)
                    print(measure(setting, options.runs, "auto"), flush=True)


if __name__ == "__main__":
    main()
