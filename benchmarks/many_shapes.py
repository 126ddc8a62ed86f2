"""How near `prolate.mean` comes to R* for shapes, sizes and budgets drawn at random.

    python benchmarks/many_shapes.py [--settings 420] [--first 840] [--runs 7] [--tight | --many]
        [--only TEXT]

Each setting has columns of one of 28 shapes (normal to Pareto, counts, flags, mixtures,
correlated), 2 to 600 of them, alike or of skewed scales in any order, 400 to 40,000 rows,
rho from 1/16 to 2, and n / sqrt(d / rho) from 120 to 2,000, or from 22 to 120 with --tight;
with --many up to 100,000 rows of 30 columns and more, rho from 1/2 to 4, and n / sqrt(d / rho) from
2,000 to 20,000. In every other 28 settings, columns have centers of their own.
Printed is the median run's error over that of the best fixed clip fraction, R / R* of
`accuracy.py`; and how far the worst run is from the median one, beside those of that clip, whose
noise alone does as much where few columns rule.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import gamma

import accuracy
import numpy as np
from accuracy import Setting, fixed_clip, one_run, unlike, worst_of_clip, zipf


def standard(draw, mean, std):
    """Return a draw of standardized columns."""
    return lambda rng, n, d: (draw(rng, n, d) - mean) / std


def lognormal(rng, n, d):
    return np.exp(rng.standard_normal((n, d)))


def zero_inflated(rng, n, d):
    return np.where(rng.random((n, d)) < 0.7, 0.0, rng.exponential(1, (n, d)))


def contaminated(rng, n, d):
    return np.where(rng.random((n, d)) < 0.05, 8.0, 1.0) * rng.standard_normal((n, d))


def contaminated_rows(rng, n, d):
    return np.where(rng.random((n, 1)) < 0.05, 8.0, 1.0) * rng.standard_normal((n, d))


def rank_three(rng, n, d):
    mix = np.random.default_rng(d).standard_normal((3, d))
    rows = rng.standard_normal((n, 3)) @ mix + 0.3 * rng.standard_normal((n, d))
    return rows / np.sqrt((mix**2).sum(axis=0) + 0.09)


def autoregressive(rng, n, d):
    rows = rng.standard_normal((n, d))
    for j in range(1, d):
        rows[:, j] = 0.8 * rows[:, j - 1] + 0.6 * rows[:, j]
    return rows


def clusters(rng, n, d):
    middles = 2.0 * np.random.default_rng(d).standard_normal((4, d))
    return (middles[rng.integers(0, 4, n)] + rng.standard_normal((n, d))) / 2.0


def both_sides(rng, n, d):
    return np.where(np.arange(d) % 2, 1.0, -1.0) * (rng.exponential(1, (n, d)) - 1.0)


WEIBULL = gamma(1 + 1 / 0.7)
ROOM, TIGHT, MANY = (120.0, 2000.0), (22.0, 120.0), (2000.0, 20000.0)  # n / sqrt(d / rho)
SHAPES = {
    "normal": accuracy.normal,
    "laplace": accuracy.laplace,
    "student 5": accuracy.student,
    "correlated": accuracy.correlated,
    "exponential": accuracy.exponential,
    "log-normal 1/2": accuracy.lognormal,
    "30 % zeros": accuracy.zeros,
    "integers": accuracy.integers,
    "uniform": lambda rng, n, d: rng.uniform(-1, 1, (n, d)) * np.sqrt(3),
    "bimodal": lambda rng, n, d: rng.choice([-1, 1], (n, d)) + 0.3 * rng.standard_normal((n, d)),
    "student 3": standard(lambda rng, n, d: rng.standard_t(3, (n, d)), 0, np.sqrt(3)),
    "gamma 1/2": standard(lambda rng, n, d: rng.gamma(0.5, 1, (n, d)), 0.5, np.sqrt(0.5)),
    "log-normal 1": standard(lognormal, np.exp(0.5), np.sqrt((np.e - 1) * np.e)),
    "pareto 3": standard(lambda rng, n, d: rng.pareto(3, (n, d)), 0.5, np.sqrt(0.75)),
    "70 % zeros": standard(zero_inflated, 0.3, np.sqrt(0.6 - 0.09)),
    "poisson 3": standard(lambda rng, n, d: rng.poisson(3, (n, d)), 3, np.sqrt(3)),
    "poisson .3": standard(lambda rng, n, d: rng.poisson(0.3, (n, d)), 0.3, np.sqrt(0.3)),
    "halves": lambda rng, n, d: 2.0 * (rng.random((n, d)) < 0.5) - 1.0,
    "flags .1": standard(lambda rng, n, d: rng.random((n, d)) < 0.1, 0.1, 0.3),
    "contaminated": standard(contaminated, 0, np.sqrt(0.95 + 0.05 * 64)),
    "contaminated rows": standard(contaminated_rows, 0, np.sqrt(0.95 + 0.05 * 64)),
    "weibull .7": standard(
        lambda rng, n, d: rng.weibull(0.7, (n, d)),
        WEIBULL,
        np.sqrt(gamma(1 + 2 / 0.7) - WEIBULL**2),
    ),
    "rank three": rank_three,
    "autoregressive": autoregressive,
    "clusters": clusters,
    "left-skewed": lambda rng, n, d: 1.0 - rng.exponential(1, (n, d)),
    "both sides": both_sides,
    "ages": standard(lambda rng, n, d: np.round(rng.gamma(6, 7, (n, d))), 42, np.sqrt(294)),
}


def setting(number: int, room: tuple[float, float]) -> Setting:
    rng = np.random.default_rng([77, number])
    few, low, high, most, cells = 2, -4, 2, 40_000, 4e6
    if room == MANY:
        few, low, high, most, cells = 30, -1, 3, 100_000, 2.4e7
    name, draw = list(SHAPES.items())[number % len(SHAPES)]
    while True:
        d = int(np.exp(rng.uniform(np.log(few), np.log(600))))
        rho = float(2.0 ** rng.integers(low, high))
        n = int(np.exp(rng.uniform(*np.log(room))) * np.sqrt(d / rho))
        if 400 <= n <= most and n * d <= cells:
            break
    skew = float(rng.choice([0, 0, 1, 2, 3]))
    sigma = zipf(d, skew) * 10.0 ** rng.integers(-2, 4)
    sigma = sigma[rng.permutation(d)]
    center = float(rng.choice([0, 1, 10, 1000])) * sigma.max()
    label = f"{number} {name}: {n} x {d}, skew {skew:g}, rho {rho:g}"
    found = Setting(label, n, rho, tuple(sigma), center=center, draw=draw)
    return unlike(found) if number // len(SHAPES) % 2 else found


def of_setting(found: Setting, runs: int) -> tuple[str, float, float, float]:
    """Return its name, the median error over the best clip's, and both worst runs' over medians."""
    _, best = fixed_clip(found)
    errors = np.array([one_run(found, run, "auto") for run in range(runs)]) / best
    median = float(np.median(errors))
    return found.name, median, float(errors.max()) / median, worst_of_clip(found, runs)


def measure(
    number: int, runs: int, room: tuple[float, float]
) -> tuple[str, str, float, float, float]:
    """Return the shape, and what its setting gave."""
    return list(SHAPES)[number % len(SHAPES)], *of_setting(setting(number, room), runs)


def report(found: list[tuple[str, str, float, float, float]], shapes: Iterable[str]) -> None:
    """Print what `measure` found, by shape and of all."""
    median = np.array([m for _, _, m, _, _ in found])
    for shape in shapes:
        those = [(m, name) for of, name, m, _, _ in found if of == shape]
        if those:
            mean = np.exp(np.mean([np.log(m) for m, _ in those]))
            print(f"{shape:18} {mean:5.2f}  worst {max(those)[0]:5.2f}  {max(those)[1]}")
    print(
        f"geometric mean {np.exp(np.log(median).mean()):.2f}, median, 90 % and 99 % of settings",
        *(f"{q:.2f}" for q in np.quantile(median, [0.5, 0.9, 0.99])),
        f"above 1.25 in {np.mean(median > 1.25):.0%}",
    )
    worst, clips = (np.array(each) for each in list(zip(*found, strict=True))[3:])
    for what, those in ("worst over median run", worst), ("of the best fixed clip", clips):
        print(
            f"{what}:",
            *(f"{w:.2f}" for w in np.quantile(those, [0.5, 0.9, 0.99])),
            f"(median, 90 %, 99 %), above 2 in {np.mean(those > 2.0):.0%}",
        )
    order = np.argsort(-worst)[:5]
    for k in order:
        print(f"{worst[k]:9.3g} (clip {clips[k]:.2f})  {found[k][1]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", type=int, default=420)
    parser.add_argument("--first", type=int, default=840, help="the ones before were tuned on")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tight", action="store_true", help="few rows for the budget")
    parser.add_argument("--many", action="store_true", help="many rows for it")
    options = parser.parse_args()
    numbers = [
        k
        for k in range(options.first, options.first + options.settings)
        if options.only in list(SHAPES)[k % len(SHAPES)]
    ]
    with ProcessPoolExecutor(options.jobs) as pool:
        room = TIGHT if options.tight else MANY if options.many else ROOM
        job = partial(measure, runs=options.runs, room=room)
        found = list(pool.map(job, numbers))
    report(found, SHAPES)


if __name__ == "__main__":
    main()
