"""Chi-square mixtures, time and error: python benchmarks/mixture.py

Times are of one thread, the least of several; everything is counted, from the list of weights on.
Errors are relative, against 60-digit sums for pairs of equal weights, and against scipy for equal
ones.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time

import mpmath
import numpy as np
from scipy import stats

from prolate.theory import ChiSquareMixture, ClippedMean, ball_scaling, best_clip

TAILS = (1e-2, 1e-6, 1e-12)
REPEATS = 5


def seconds(function) -> float:
    found = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found)


def times() -> None:
    rng = np.random.default_rng(0)
    print("milliseconds of a quantile, at the tails", ", ".join(f"{p:g}" for p in TAILS))
    for d in (1, 100, 10_000, 100_000):
        kinds = {
            "equal": np.ones(d),
            "1/j": 1.0 / np.arange(1.0, d + 1.0),
            "random": rng.random(d),
            "12 decades": np.logspace(-12.0, 0.0, d),
        }
        for kind, weights in kinds.items():
            for shift in (0.0, 1.0):
                spent = [
                    1e3 * seconds(lambda w=weights, s=shift, p=p: ChiSquareMixture(w, s).isf(p))
                    for p in TAILS
                ]
                what = f"{kind}{', shifted' if shift else ''}"
                print(f"  d = {d:6} {what:20}", " ".join(f"{ms:8.1f}" for ms in spent))


def errors() -> None:
    worst = 0.0
    for d in (1, 2, 3, 10, 1000, 100_000):
        Q = ChiSquareMixture(np.ones(d))
        for p in TAILS:
            exact = stats.chi2.isf(p, d)
            worst = max(worst, abs(Q.sf(exact) / p - 1.0), abs(Q.isf(p) / exact - 1.0))
    print(f"worst relative error, equal weights: {worst:.1e}")
    worst = 0.0
    for decades in (1.0, 4.0, 12.0):
        weights = np.logspace(0.0, -decades, 15)
        Q = ChiSquareMixture(np.repeat(weights, 2))
        with mpmath.workdps(120):
            scales = [2 * mpmath.mpf(float(w)) for w in weights]
            shares = [mpmath.fprod(a / (a - b) for b in scales if b != a) for a in scales]
            for p in TAILS:
                x = Q.isf(p)
                exact = mpmath.fdot(shares, [mpmath.exp(-mpmath.mpf(x) / a) for a in scales])
                worst = max(worst, abs(float(Q.sf(x) / exact - 1)), abs(float(p / exact - 1)))
    print(f"worst relative error, pairs over 1 to 12 decades: {worst:.1e}")


def plans() -> None:
    for d in (100, 1000, 10_000):
        sigma = 1.0 / np.arange(1.0, d + 1.0)
        plan = ClippedMean(sigma, n=10_000, mu=1.0, center_offset=0.1 * sigma)
        point = seconds(lambda plan=plan: plan.at(1e-4))
        best = seconds(lambda s=sigma: best_clip(s, n=10_000, mu=1.0, center_offset=0.1 * s))
        ball = seconds(lambda s=sigma: ball_scaling(s, 1e-4))
        print(
            f"d = {d:5}: expected error {1e3 * point:6.1f} ms, best clip {best:5.2f} s, "
            f"Eq. 25 {ball:5.2f} s"
        )


def main() -> None:
    errors()
    times()
    plans()


if __name__ == "__main__":
    main()
