"""How near `prolate.mean` comes to the best fixed clip where most values are next to nothing.

    python benchmarks/next_to_nothing.py [--tables 240] [--first 1000] [--runs 5] [--plan]

In each column 2 to 45 % of the rows have a value to speak of, and the others one that is 1e-14 to
1e-2 as large: around 0 (what rounding leaves of it), over many decades (probabilities), beside 0,
or the same in all columns of a row (rows that were divided by their length). 2 to 300 columns,
alike or of scales that differ, some with normal columns among them; 500 to 20,000 rows, rho from
1/16 to 2, n / sqrt(d / rho) from 120 to 2,000. And some made up like real ones: shares of topics
(Dirichlet), classes that a model is sure of, weights of words, and columns of which a few rows have
-999 for what is not known. Printed are l2 errors over those of the best fixed clip with known
centers, scales and the whole budget, the median of the runs; with `--plan` PLAN's, too.
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from mixed_tables import least_error

import prolate

Table = tuple[str, np.ndarray, float]
KINDS = ("around 0", "over decades", "beside 0", "one a row")


def next_to_nothing(rng, kind: str, n: int, d: int) -> np.ndarray:
    if kind == "around 0":
        return rng.standard_normal((n, d))
    if kind == "over decades":
        return np.exp(4.0 * rng.standard_normal((n, d)))
    if kind == "beside 0":
        return 5.0 + rng.standard_normal((n, d))
    return np.repeat(1.0 / rng.uniform(0.5, 2.0, (n, 1)), d, axis=1)


def to_speak_of(rng, n: int, d: int, which: int) -> np.ndarray:
    draws = (
        lambda: rng.exponential(1.0, (n, d)),
        lambda: rng.gamma(2.0, 0.5, (n, d)),
        lambda: np.exp(rng.standard_normal((n, d)) - 0.5),
        lambda: rng.normal(1.0, 1.0 / 3.0, (n, d)),
        lambda: np.ones((n, d)),
    )
    return draws[which]()


def made_up(number: int, run: int) -> Table:
    """Return a run of a setting: its name, rows and rho."""
    rng = np.random.default_rng([5, number])
    kind = KINDS[number % len(KINDS)]
    while True:
        d = int(np.exp(rng.uniform(np.log(2), np.log(300))))
        rho = float(2.0 ** rng.integers(-4, 2))
        n = int(np.exp(rng.uniform(np.log(120), np.log(2000))) * np.sqrt(d / rho))
        if 500 <= n <= 20_000 and n * d <= 1.5e6:
            break
    tiny, part = 10.0 ** rng.uniform(-14, -2), np.exp(rng.uniform(np.log(0.02), np.log(0.4)))
    parts = np.minimum(part * rng.lognormal(0.0, rng.choice([0.0, 0.7]), d), 0.45)
    which, skew = int(rng.integers(5)), float(rng.choice([0, 0, 1, 2]))
    scale = (d / np.arange(d, 0, -1)) ** (skew / 2) * 10.0 ** rng.integers(-2, 4)
    rng.shuffle(scale)
    normal = rng.random(d) < rng.choice([0.0, 0.0, 0.3])
    rng = np.random.default_rng([6, number, run])
    rows = tiny * next_to_nothing(rng, kind, n, d)
    rows = np.where(rng.random((n, d)) < parts, to_speak_of(rng, n, d, which), rows)
    rows[:, normal] = 2.0 + rng.standard_normal((n, int(normal.sum())))
    name = f"{number} {kind}: {n} x {d}, rho {rho:g}, {part:.0%} at 1, others {tiny:.0e}"
    return name, rows * scale, rho


def softmax(rng, n: int, d: int) -> np.ndarray:
    likely = np.exp(8.0 * rng.standard_normal((n, d)))
    return likely / likely.sum(axis=1, keepdims=True)


def word_weights(rng, n: int, d: int) -> np.ndarray:
    often = 1.0 / np.arange(1, d + 1)
    often *= 30.0 / often.sum()
    weights = rng.poisson(often * rng.lognormal(0.0, 0.5, (n, 1))) * np.log1p(1.0 / often) + 1e-12
    return weights / np.linalg.norm(weights, axis=1, keepdims=True)


def unknown(rng, n: int, d: int) -> np.ndarray:
    rows = 5.0 + rng.standard_normal((n, d)) * np.linspace(1.0, 4.0, d)
    return np.where((rng.random((n, d)) < 0.02) & (np.arange(d) < 3), -999.0, rows)


LIKE_REAL = {
    "topics, Dirichlet .1": (lambda rng: rng.dirichlet(np.full(40, 0.1), 5000)),
    "topics, Dirichlet .03": (lambda rng: rng.dirichlet(np.full(40, 0.03), 5000)),
    "classes": (lambda rng: softmax(rng, 5000, 10)),
    "word weights": (lambda rng: word_weights(rng, 8000, 500)),
    "2 % are -999 in 3 of 20": (lambda rng: unknown(rng, 5000, 20)),
}


def like_real(name: str, rho: float, run: int) -> Table:
    rows = LIKE_REAL[name](np.random.default_rng([7, run]))
    return f"{name}, {rows.shape[0]} x {rows.shape[1]}, rho {rho:g}", rows, rho


def measure(what: int | tuple[str, float], runs: int, method: str) -> tuple[str, float, float]:
    """Return a setting's name, and the median and the largest error over the best clip's."""
    warnings.simplefilter("ignore")
    errors = []
    for run in range(runs):
        name, rows, rho = made_up(what, run) if isinstance(what, int) else like_real(*what, run)
        spread = rows.std(axis=0)
        best = least_error(rows, rho, np.sqrt(spread), np.ones_like(spread))
        found = prolate.mean(rows, budget=prolate.Budget(rho=rho), method=method).estimate
        errors.append(np.linalg.norm(found - rows.mean(axis=0)) / best)
    return name, float(np.median(errors)), float(np.max(errors))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=240)
    parser.add_argument("--first", type=int, default=1000, help="those below were looked at")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    numbers = list(range(options.first, options.first + options.tables))
    named = [(name, rho) for name in LIKE_REAL for rho in (0.1, 1.0)]
    with ProcessPoolExecutor(options.jobs) as pool:
        for method in ("auto", "plan") if options.plan else ("auto",):
            runs, methods = [options.runs] * 1000, [method] * 1000
            print(method)
            for name, median, worst in pool.map(measure, named, runs, methods):
                print(f"  {name:45} {median:8.2f}, worst {worst:8.2f}", flush=True)
            found = list(pool.map(measure, numbers, runs, methods))
            medians = np.array([median for _, median, _ in found])
            worst = np.array([largest for *_, largest in found])
            for kind in (*KINDS, ""):
                those = np.array([kind in name for name, *_ in found])
                middle = np.exp(np.log(medians[those]).mean())
                print(
                    f"  {kind or 'all':14} geometric mean {middle:.2f}, median, 90 and 99 %",
                    *(f"{q:.2f}" for q in np.quantile(medians[those], [0.5, 0.9, 0.99])),
                    f"a run above 3 / 10 / 100: {np.mean(worst[those] > 3):.0%} /"
                    f" {np.mean(worst[those] > 10):.0%} / {np.mean(worst[those] > 100):.0%}",
                )
            for k in np.argsort(-medians)[:5]:
                print(f"    {found[k][0]:75} {medians[k]:.2f}, worst {worst[k]:.2f}")


if __name__ == "__main__":
    main()
