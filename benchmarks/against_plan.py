"""`prolate.mean` against PLAN over a grid: where is it worse, and by how much?

    python benchmarks/against_plan.py [--runs 21] [--jobs 2] [--method plan]

Both get the same rows and budget, and no bounds, center or scale. The figure is the quotient
of their root mean square l_p errors against the sample's own mean; only quotients above
--show are printed, and the largest at the end. Errors in few columns vary: with 21 runs a
quotient is uncertain by about a fifth there.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from accuracy import exponential, normal, student, zipf

import prolate

SIZES = ((1, 300), (1, 5000), (3, 1000), (10, 2000), (30, 3000), (100, 3000), (100, 30000))
SHAPES = ((0.0, 2.0), (2.0, 2.0), (1.0, 1.0))  # skew, error norm
Case = tuple[object, tuple[int, int], float, tuple[float, float]]


def error(case: Case, method: str, runs: int) -> float:
    draw, (d, n), rho, (skew, p) = case
    found = []
    for run in range(runs):
        rows = draw(np.random.default_rng([run, d, n]), n, d) * zipf(d, skew) + 5.0
        budget = prolate.Budget(rho=rho)
        release = prolate.mean(rows, budget=budget, method=method, error_norm=p)
        found.append(np.linalg.norm(release.estimate - rows.mean(axis=0), ord=p))
    return float(np.sqrt(np.mean(np.square(found))))


def quotient(case: Case, other: str, runs: int) -> float:
    warnings.simplefilter("ignore")
    return error(case, "auto", runs) / error(case, other, runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--method", default="plan")
    parser.add_argument("--show", type=float, default=1.0)
    options = parser.parse_args()
    cases = list(itertools.product((normal, exponential, student), SIZES, (0.05, 0.5, 4.0), SHAPES))
    with ProcessPoolExecutor(options.jobs) as pool:
        work = partial(quotient, other=options.method, runs=options.runs)
        found = []
        for case, ratio in zip(cases, pool.map(work, cases), strict=True):
            found.append(ratio)
            if ratio > options.show:
                draw, (d, n), rho, (skew, p) = case
                print(
                    f"{draw.__name__:12} d={d:<4} n={n:<6} rho={rho:<5g} skew={skew:g} "
                    f"p={p:g}  {ratio:.2f}",
                    flush=True,
                )
    middle = np.median(found)
    print(f"{len(cases)} settings: median quotient {middle:.2f}, largest {max(found):.2f}")


if __name__ == "__main__":
    main()
