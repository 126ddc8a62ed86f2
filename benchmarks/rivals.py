"""What the rivals make of the paper's Gaussian settings: noise error over the oracle's.

    python benchmarks/rivals.py [--runs 5] [--only TEXT] [--methods plan,iome] [--binary]

R is the root mean square distance to the sample's own mean over that of the oracle, which
knows center and scales, clips one row in n and spends the whole budget on the noise. Beside
it stands the worst of the runs, and seconds of CPU per call. The published columns are
measured with the authors' own programs, PLAN's with its sensitivities repaired. Universes are
those of PLAN's Table 1; CoinPress is told the largest standard deviation and a ball of
radius 20 sqrt(d) around the origin.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from prolate import Budget, rivals
from prolate.curator import Curator
from prolate.sources import open_source

# Setting: n, d, skew, rho, and published R of (PLAN, PLAN without scaling, IOME, CoinPress).
SETTINGS = {
    "A d=64 rho=1": (4000, 64, 0.0, 1.0, (1.19, 1.19, 1.05, 1.17)),
    "A d=64 rho=1/8": (4000, 64, 0.0, 0.125, (1.23, 1.19, 1.02, 1.09)),
    "A d=512 rho=1": (4000, 512, 0.0, 1.0, (1.29, 1.28, 1.08, 1.13)),
    "A d=512 rho=1/8": (4000, 512, 0.0, 0.125, (112, 1.28, 1.09, 1.16)),
    "B d=512 a=1 rho=1": (10000, 512, 1.0, 1.0, (1.30, 2.09, 1.78, 12.5)),
    "C d=64 rho=1": (10000, 64, 2.0, 1.0, (1.29, 3.13, 2.67, 10.5)),
    "C d=64 rho=1/8": (10000, 64, 2.0, 0.125, (1.22, 2.99, 2.43, 10.2)),
    "C d=512 rho=1": (10000, 512, 2.0, 1.0, (1.30, 6.76, 5.54, 54.6)),
}
METHODS = {
    "plan": 0,
    "plan-exponential": 0,
    "plan-noscale": 1,
    "plan-noscale-exponential": 1,
    "plan-oracle": None,
    "iome": 2,
    "coinpress-2": 3,
    "coinpress-3": 3,
    "coinpress-4": 3,
    "coinpress-10": 3,
    "clipped-gaussian": None,
}


def longest_row(sigma: np.ndarray, n: int) -> float:
    """The norm that one row in n exceeds, rows scaled by sigma**-1/2."""
    rng = np.random.default_rng(0)
    count = 200000 if sigma.size <= 200 else 40000
    norms = np.linalg.norm(rng.standard_normal((count, sigma.size)) * np.sqrt(sigma), axis=1)
    return float(np.quantile(norms, 1 - 1 / n))


def estimate(method, rows, sigma, center, rho, run):
    d = rows.shape[1]
    wide = 25 * np.sqrt(d) if center == 0 else 50 * np.sqrt(d) * sigma.max()
    budget = Budget(rho=rho)
    exponential = method.endswith("exponential")
    curator = Curator(open_source(rows), budget.for_zcdp() if exponential else budget)
    if method.startswith("plan"):
        return rivals.plan(
            curator,
            scaling="noscale" not in method,
            search="exponential" if exponential else "binary",
            std=sigma if method == "plan-oracle" else None,
            universe_size=wide,
        )
    if method == "iome":
        return rivals.iome(curator, longest=wide, rotation=run)
    if method == "clipped-gaussian":
        radius = float(np.sqrt((sigma**2).sum() + 4 * np.sqrt((sigma**4).sum())))
        return rivals.clipped_gaussian(curator, radius=radius, center=np.full(d, center))
    steps = int(method.rsplit("-", 1)[1])
    return rivals.coinpress(curator, sigma=sigma.max(), radius=20 * np.sqrt(d), steps=steps)


def gaussian(options) -> None:
    print(f"{'setting':20} {'method':26} {'R':>8} {'worst':>8} {'published':>9} {'CPU s':>6}")
    for name, (n, d, skew, rho, published) in SETTINGS.items():
        if options.only not in name:
            continue
        sigma = (d / np.arange(d, 0, -1)) ** (skew / 2)
        center = 10.0 if skew else 0.0
        oracle = longest_row(sigma, n) * np.sqrt(2 * sigma.sum() / rho) / n
        for method in options.methods:
            errors, start = [], time.process_time()
            for run in range(options.runs):
                rng = np.random.default_rng(run)
                rows = center + sigma * rng.standard_normal((n, d))
                found = estimate(method, rows, sigma, center, rho, run)
                errors.append(np.linalg.norm(found.value - rows.mean(axis=0)) / oracle)
            seconds = (time.process_time() - start) / options.runs
            place = METHODS[method]
            theirs = "" if place is None else f"{published[place]:.3g}"
            r = np.sqrt(np.mean(np.square(errors)))
            line = f"{name:20} {method:26} {r:8.3g} {max(errors):8.3g} {theirs:>9} {seconds:6.2f}"
            print(line, flush=True)


def binary(options) -> None:
    """Half the l_1 error on the paper's synthetic Binary, n = 4,096."""
    names = ("plan", "noscale", "oracle", "iome")
    print(f"{'d':>5} {'half ones':>9} {'rho':>6}" + "".join(f"{name:>9}" for name in names))
    for d, ratio, rho in ((512, 0.25, 1.0), (512, 0.25, 0.125), (2048, 0.25, 1.0)):
        q = np.where(np.arange(d) < ratio * d, 0.5, 0.01)
        errors = np.zeros((options.runs, len(names)))
        for run in range(options.runs):
            rows = (np.random.default_rng(run).random((4096, d)) < q).astype(np.uint8)
            truth = rows.mean(axis=0)
            std = np.sqrt(truth * (1 - truth) + 1e-12)
            for kind, name in enumerate(names):
                curator = Curator(open_source(rows), Budget(rho=rho))
                if name == "iome":
                    found = rivals.iome(curator, longest=np.sqrt(d), rotation=run)
                else:
                    known = std if name == "oracle" else None
                    found = rivals.plan_binary(curator, scaling=name != "noscale", std=known)
                errors[run, kind] = np.abs(found.value - truth).sum() / 2
        line = "".join(f"{error:9.3g}" for error in errors.mean(axis=0))
        print(f"{d:5} {ratio:9g} {rho:6g}{line}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS))
    parser.add_argument("--binary", action="store_true")
    options = parser.parse_args()
    (binary if options.binary else gaussian)(options)


if __name__ == "__main__":
    main()
