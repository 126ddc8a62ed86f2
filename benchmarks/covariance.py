"""Private covariances against CoinPress and Analyze Gauss: ratios of errors.

    python benchmarks/covariance.py [--runs 10] [--only TEXT] [--aligned] [--quick]

Rows are normal with eigenvalues 1 to kappa, evenly spaced in their logarithms, along axes at
random, or along the columns with --aligned. The rivals are told that the mean is zero and the
largest eigenvalue, and CoinPress takes 1, 2, 3 and 5 steps: what is best for each number is
taken, in hindsight. Ours is told nothing. A figure is the root mean square of the error over
the rival's: in Frobenius norm (F) and in Mahalanobis norm (M), the Frobenius norm of
S**-1/2 (estimate - S) S**-1/2; S is the covariance of the rows themselves (then only
privacy makes errors), or that of the population (with sampling error, as in CoinPress's
paper), in brackets. Below 1 is better.
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np

import prolate
from prolate import Budget, rivals
from prolate.curator import Curator
from prolate.rivals.coinpress_covariance import gaussian_radius
from prolate.sources import open_source

GRID = list(itertools.product([5, 10, 20, 50, 100], [1000, 10000, 100000], [0.1, 0.5, 1.0]))
QUICK = [(5, 1000, 0.1), (5, 10000, 0.5), (20, 1000, 0.1), (20, 10000, 0.5), (50, 10000, 0.5)]
KAPPAS = [1.0, 1e2, 1e4, 1e6]
STEPS = (1, 2, 3, 5)


def population(d: int, kappa: float, aligned: bool, rng: np.random.Generator) -> np.ndarray:
    values = np.geomspace(1.0, kappa, d)
    axes = np.eye(d) if aligned else np.linalg.qr(rng.standard_normal((d, d)))[0]
    return (axes * values) @ axes.T


def root(matrix: np.ndarray, power: float) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * values**power) @ vectors.T


def errors(estimate: np.ndarray, true: np.ndarray, inverse: np.ndarray) -> list[float]:
    moved = estimate - true
    return [float(np.linalg.norm(moved)), float(np.linalg.norm(inverse @ moved @ inverse))]


def estimates(rows: np.ndarray, kappa: float, rho: float, seed: int) -> dict[str, np.ndarray]:
    def curator() -> Curator:
        return Curator(open_source(rows), Budget(rho=rho), seed=seed)

    found = {
        f"coinpress {steps}": rivals.coinpress_covariance(curator(), largest=kappa, steps=steps)
        for steps in STEPS
    }
    radius = np.sqrt(kappa) * gaussian_radius(rows.shape[1])
    found["gauss"] = rivals.analyze_gauss(curator(), radius=radius)
    ours = prolate.covariance(rows, budget=Budget(rho=rho), seed=seed).estimate
    return {"ours": ours, **{name: estimate.value for name, estimate in found.items()}}


def compare(d: int, n: int, rho: float, kappa: float, runs: int, aligned: bool) -> dict:
    squares: dict[str, np.ndarray] = {}
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        true = population(d, kappa, aligned, rng)
        rows = rng.standard_normal((n, d)) @ root(true, 0.5)
        sample = np.cov(rows.T, bias=True)
        inverses = root(sample, -0.5), root(true, -0.5)
        for name, estimate in estimates(rows, kappa, rho, seed).items():
            of = errors(estimate, sample, inverses[0]) + errors(estimate, true, inverses[1])
            squares[name] = squares.get(name, np.zeros(4)) + np.square(of)
    return {name: np.sqrt(total / runs) for name, total in squares.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", default="", help="Settings whose line begins so.")
    parser.add_argument("--aligned", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    print(
        "| d, n, rho, kappa | F / CoinPress | M / CoinPress | F / Gauss | M / Gauss | F | M | s |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for d, n, rho in QUICK if options.quick else GRID:
        if d * d > n:  # the rows' own covariance is hardly known
            continue
        for kappa in KAPPAS:
            line = f"{d}, {n}, {rho:g}, {kappa:.0e}"
            if not line.startswith(options.only):
                continue
            start = time.perf_counter()
            found = compare(d, n, rho, kappa, options.runs, options.aligned)
            best = np.min([v for name, v in found.items() if name.startswith("coin")], axis=0)
            ours, seconds = found["ours"], time.perf_counter() - start
            cells = [
                f"{ratio[norm]:.2f} ({ratio[2 + norm]:.2f})"
                for ratio in (ours / best, ours / found["gauss"])
                for norm in (0, 1)
            ]
            cells += [f"{ours[0]:.3g}", f"{ours[1]:.3g}", f"{seconds:.1f}"]
            print(f"| {line} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
