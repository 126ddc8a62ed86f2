"""How near the mean comes where a few rows are far out on one side of a column.

    python benchmarks/far_rows.py [--rows 12000] [--columns 1] [--runs 15]

Columns are normal. In the first one a part of the rows is farther out: at one place, or
exponentially so. Printed for each part, distance and mu are the median and the largest error
over that of the best fixed radius around the true center, with the whole budget; how many errors
of that column are within 1.96 of what the release states of noise and clipping; and how many
releases warn.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import prolate

PARTS = (0.001, 50.0), (0.003, 15.0), (0.01, 10.0), (0.03, 8.0)  # of the rows, and how far out


def made(rng: np.random.Generator, n: int, d: int, part: float, away: float, kind: str):
    """Return the rows."""
    rows = rng.normal(size=(n, d))
    far = round(part * n)
    rows[:far, 0] += away * (rng.exponential(size=far) if kind == "exponential" else 1.0)
    return rows


def least_error(rows: np.ndarray, mu: float) -> float:
    """Return the error of the best fixed radius around 0."""
    n, d = rows.shape
    lengths = np.linalg.norm(rows, axis=1)
    errors = []
    for part in (0.0, *np.geomspace(1 / n, 0.3, 25)):
        radius = np.quantile(lengths, 1 - part)
        kept = np.minimum(1.0, radius / lengths) - 1.0
        bias = np.linalg.norm((rows * kept[:, np.newaxis]).mean(axis=0))
        errors.append(np.hypot(2 * radius * np.sqrt(d) / (n * mu), bias))
    return min(errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=12_000)
    parser.add_argument("--columns", type=int, default=1)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    heads = "median", "worst", "held", "warns"
    print(f"{'mu':>4}{'part':>7}{'away':>6}  {'kind':14}", *(f"{head:>7}" for head in heads))
    for mu in (0.3, 1.0, 3.0):
        for part, away in PARTS:
            for kind in ("exponential", "one place"):
                found, held, warned = [], [], 0
                for run in range(options.runs):
                    rng = np.random.default_rng(run)
                    rows = made(rng, options.rows, options.columns, part, away, kind)
                    release = prolate.mean(rows, budget=prolate.Budget(mu=mu), seed=run)
                    error = np.abs(release.estimate - rows.mean(axis=0))
                    stated = np.hypot(release.noise_std, release.clipping_std)
                    found.append(np.linalg.norm(error) / least_error(rows, mu))
                    held.append(error[0] <= 1.96 * stated[0])
                    warned += bool(release.warnings)
                print(
                    f"{mu:4}{part:7}{away:6}  {kind:14} {np.median(found):7.2f} {max(found):7.1f}"
                    f" {np.mean(held):7.0%} {warned / options.runs:7.0%}"
                )


if __name__ == "__main__":
    main()
