"""Does `prolate.expected_error` say what `prolate.mean` then does? Predicted over measured.

    python benchmarks/expected.py [--runs 16] [--only TEXT] [--method auto] [--bounded]

Settings are the normal ones of benchmarks/accuracy.py but the crowded ones, method "plan"
without those whose columns are decades apart. With --bounded, instead, columns of values from 0 to
1, of which the forecast is told the bounds, or that they are booleans.

Errors are (mean |error|_p**p)**(1 / p) against the sample's own mean; +- is the measurement's own
standard error. Where few columns rule there are more runs.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from itertools import product

import numpy as np
from accuracy import Setting, normal, settings

import prolate
from prolate import Budget

MOST = 400


@dataclass(frozen=True)
class Ratio:
    """Predicted over measured, and what it rests on."""

    predicted: float
    measured: float
    doubt: float
    seconds: float
    runs: int

    @property
    def ratio(self) -> float:
        return self.predicted / self.measured


def grid() -> list[Setting]:
    """Return the settings whose columns can be seen one by one, as a forecast takes them to be."""
    plain = [setting for setting in settings() if setting.draw is normal]
    return [setting for setting in plain if not setting.name.startswith("crowded")]


def enough(setting: Setting, runs: int) -> int:
    """More runs where few columns rule the error: its relative variance is that of so many."""
    p = setting.p
    part = np.array(setting.sigma) ** (2 * p / (p + 2))
    return int(min(MOST, np.ceil(runs * max(1.0, 15 * np.sum(part**2) / np.sum(part) ** 2))))


def compare(setting: Setting, runs: int, method: str = "auto") -> Ratio:
    budget, p, runs = Budget(rho=setting.rho), setting.p, enough(setting, runs)
    start = time.perf_counter()
    forecast = prolate.expected_error(
        n=setting.n,
        scale=setting.sigma,
        center=setting.center,
        budget=budget,
        method=method,
        error_norm=p,
    )
    seconds = time.perf_counter() - start
    powers = []
    for run in range(runs):
        rows = setting.rows(run) + setting.center
        release = prolate.mean(rows, budget=budget, method=method, error_norm=p, seed=run)
        powers.append(np.sum(np.abs(release.estimate - rows.mean(axis=0)) ** p))
    mean = float(np.mean(powers))
    doubt = float(np.std(powers)) / mean / p / np.sqrt(runs)
    return Ratio(forecast.noise, mean ** (1 / p), doubt, seconds, runs)


BOUNDED = {  # of so many columns: how they are drawn, their means, their standard deviations
    "uniform": (1, lambda rng, n: rng.random((n, 1)), 0.5, 12**-0.5),
    "beta(2, 2)": (1, lambda rng, n: rng.beta(2, 2, (n, 1)), 0.5, 20**-0.5),
    "beta(2, 5)": (1, lambda rng, n: rng.beta(2, 5, (n, 1)), 2 / 7, (5 / 196) ** 0.5),
    "beta(30, 30)": (1, lambda rng, n: rng.beta(30, 30, (n, 1)), 0.5, 0.5 / 61**0.5),
    "0 or 1, half": (1, lambda rng, n: 1.0 * (rng.random((n, 1)) < 0.5), 0.5, 0.5),
    "0 or 1, a tenth": (1, lambda rng, n: 1.0 * (rng.random((n, 1)) < 0.1), 0.1, 0.3),
    "boolean, a tenth": (1, lambda rng, n: rng.random((n, 1)) < 0.1, 0.1, None),
    "4 booleans, a twentieth": (4, lambda rng, n: rng.random((n, 4)) < 0.05, 0.05, None),
}


def bounded(runs: int, only: str) -> None:
    """Print the ratios for columns of values from 0 to 1."""
    budget = Budget(epsilon=1, delta=1e-6)
    for name, (d, draw, center, scale) in BOUNDED.items():
        told = {"booleans": True} if scale is None else {"scale": scale, "bounds": (0, 1)}
        for n, neighbors in product((300, 2000, 20_000, 200_000), ("replace", "add-remove")):
            if only not in name:
                continue
            given = {"budget": budget, "neighbors": neighbors}
            forecast = prolate.expected_error(n=n, d=d, center=center, **told, **given)
            if scale is not None:
                given["bounds"] = (0, 1)
            errors = []
            for run in range(runs):
                rows = draw(np.random.default_rng(run), n)
                release = prolate.mean(rows, seed=run, **given)
                errors.append(np.sum((release.estimate - rows.mean(axis=0)) ** 2))
            measured = float(np.sqrt(np.mean(errors)))
            doubt = np.std(errors) / np.mean(errors) / 2 / np.sqrt(runs)
            print(
                f"{name:24} {n:7,} {neighbors:10} {forecast.noise:10.4g} {measured:10.4g} "
                f"{forecast.noise / measured:6.2f} {doubt:5.2f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("--only", default="")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--bounded", action="store_true")
    options = parser.parse_args()
    if options.bounded:
        bounded(options.runs, options.only)
        return
    print(f"{'setting':24} {'predicted':>10} {'measured':>10} {'ratio':>6} {'+-':>5} runs seconds")
    for setting in grid():
        if options.only not in setting.name:
            continue
        if options.method == "plan" and max(setting.sigma) > 1e5:
            continue
        found = compare(setting, options.runs, options.method)
        print(
            f"{setting.name:24} {found.predicted:10.4g} {found.measured:10.4g} "
            f"{found.ratio:6.2f} {found.doubt:5.2f} {found.runs:4d} {found.seconds:7.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
