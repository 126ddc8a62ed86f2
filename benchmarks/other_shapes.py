"""How near `prolate.mean` comes to R* for shapes that no estimator was made with.

    python benchmarks/other_shapes.py [--settings 280] [--first 0] [--runs 5] [--only TEXT]

Forty shapes, each with settings drawn at random: counts, grades, shares, pixels, words, groups of
rows, factors, rows of very different lengths, and tables of which one column or a few have heavy
tails; 2 to 600 columns, 400 to 60,000 rows, rho from .06 to 2, n / sqrt(d / rho) from 120 to 2,000.
Printed is the same as by `many_shapes.py`.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from accuracy import Setting, unlike, zipf
from many_shapes import ROOM, of_setting, report


def of(draw):
    """Return columns that are drawn alike."""
    return lambda rng, n, d: np.asarray(draw(rng, (n, d)), dtype=float)


def one_heavy(draw, times):
    """Return normal columns and one that is `times` as spread, of its bulk."""

    def made(rng, n, d):
        rows = rng.standard_normal((n, d))
        rows[:, 0] = times * draw(rng, n)
        return rows

    return made


def groups(part, away):
    return lambda rng, n, d: away * (rng.random((n, 1)) < part) + rng.standard_normal((n, d))


def lengths(draw):
    return lambda rng, n, d: draw(rng, (n, 1)) * rng.standard_normal((n, d))


def autoregressive(rng, n, d):
    rows = rng.standard_normal((n, d))
    for j in range(1, d):
        rows[:, j] = 0.95 * rows[:, j - 1] + np.sqrt(1 - 0.95**2) * rows[:, j]
    return rows


def one_factor(rng, n, d):
    signs = np.sign(np.random.default_rng(d).standard_normal(d))
    return 0.9 * rng.standard_normal((n, 1)) * signs + 0.44 * rng.standard_normal((n, d))


def embeddings(rng, n, d):
    sizes = np.exp(0.3 * np.random.default_rng(d).standard_normal(d))
    rows = rng.standard_normal((n, d)) * sizes + 0.3
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def pixels(rng, n, d):
    light = rng.normal(-0.3, 0.6, (n, d)) + 0.3 * rng.standard_normal((n, 1))
    return np.clip(light, 0, 1)


def categories(rng, n, d):
    rows = np.zeros((n, d))
    rows[np.arange(n), (rng.random(n) ** 2 * d).astype(int)] = 1
    return rows


def words(rng, n, d):
    often = 1 / np.arange(1, d + 1) ** 1.1
    return rng.poisson(3 * often * np.exp(0.5 * rng.standard_normal((n, 1))), (n, d)).astype(float)


def mixed(rng, n, d):
    rows, kind = rng.standard_normal((n, d)), np.arange(d) % 4
    rows[:, kind == 1] = rng.exponential(1, (n, np.count_nonzero(kind == 1)))
    rows[:, kind == 2] = rng.random((n, np.count_nonzero(kind == 2))) < 0.3
    rows[:, kind == 3] = rng.lognormal(0, 1, (n, np.count_nonzero(kind == 3)))
    return rows


def two_normals(rng, size):
    few = 3 + 0.5 * rng.standard_normal(size)
    return np.where(rng.random(size) < 0.3, few, rng.standard_normal(size))


OTHERS = {
    "beta 2, 5": of(lambda rng, size: rng.beta(2, 5, size)),
    "arcsine": of(lambda rng, size: rng.beta(0.5, 0.5, size)),
    "triangular": of(lambda rng, size: rng.triangular(0, 0.2, 1, size)),
    "gamma 2": of(lambda rng, size: rng.gamma(2, 1, size)),
    "gamma .2": of(lambda rng, size: rng.gamma(0.2, 1, size)),
    "chi-square 1": of(lambda rng, size: rng.chisquare(1, size)),
    "log-normal 3/4": of(lambda rng, size: rng.lognormal(0, 0.75, size)),
    "log-normal 3/2": of(lambda rng, size: rng.lognormal(0, 1.5, size)),
    "gumbel": of(lambda rng, size: rng.gumbel(0, 1, size)),
    "logistic": of(lambda rng, size: rng.logistic(0, 1, size)),
    "student 4": of(lambda rng, size: rng.standard_t(4, size)),
    "student 10": of(lambda rng, size: rng.standard_t(10, size)),
    "student 2.5": of(lambda rng, size: rng.standard_t(2.5, size)),
    "geometric .3": of(lambda rng, size: rng.geometric(0.3, size)),
    "negative binomial": of(lambda rng, size: rng.negative_binomial(1, 0.1, size)),
    "poisson 10": of(lambda rng, size: rng.poisson(10, size)),
    "poisson 1": of(lambda rng, size: rng.poisson(1, size)),
    "digits": of(lambda rng, size: rng.integers(0, 10, size)),
    "grades": of(lambda rng, size: np.clip(np.rint(rng.normal(3.5, 1.2, size)), 1, 5)),
    "two normals": of(two_normals),
    "flat-topped": of(
        lambda rng, size: rng.choice([-1, 1], size) * rng.gamma(1 / 8, 1, size) ** (1 / 8)
    ),
    "60 % zeros": of(
        lambda rng, size: np.where(rng.random(size) < 0.6, 0, rng.lognormal(0, 1, size))
    ),
    "autoregressive .95": autoregressive,
    "one factor": one_factor,
    "lengths log-normal 1/2": lengths(lambda rng, size: rng.lognormal(0, 0.5, size)),
    "lengths log-normal 1": lengths(lambda rng, size: rng.lognormal(0, 1, size)),
    "lengths exponential": lambda rng, n, d: rng.exponential(1, (n, 1)) * rng.random((n, d)),
    "pixels": pixels,
    "embeddings": embeddings,
    "shares": lambda rng, n, d: rng.dirichlet(np.full(d, 0.5), n),
    "categories": categories,
    "mixed": mixed,
    "words": words,
    "one log-normal 2": one_heavy(lambda rng, n: rng.lognormal(0, 2, n), 0.2),
    "10 % four away": groups(0.1, 4.0),
    "2 % ten away": groups(0.02, 10.0),
    "flags .3": of(lambda rng, size: rng.random(size) < 0.3),
    "flags .03": of(lambda rng, size: rng.random(size) < 0.03),
    "cents": of(lambda rng, size: np.rint(rng.lognormal(3, 0.8, size) * 100) / 100),
    "weibull 3": of(lambda rng, size: rng.weibull(3, size)),
}
OF_ONE_SCALE = {"embeddings", "shares", "categories", "mixed", "words", "one log-normal 2"}


def setting(number: int) -> Setting:
    rng = np.random.default_rng([4242, number])
    name, draw = list(OTHERS.items())[number % len(OTHERS)]
    while True:
        d = int(np.exp(rng.uniform(np.log(2), np.log(600))))
        rho = float(np.exp(rng.uniform(np.log(0.06), np.log(2))))
        n = int(np.exp(rng.uniform(*np.log(ROOM))) * np.sqrt(d / rho))
        if 400 <= n <= 60_000 and n * d <= 4e6:
            break
    many = draw(np.random.default_rng(1), max(2000, min(20_000, int(2e7 / d))), d)
    mean, std = many.mean(axis=0), many.std(axis=0)
    std = np.where(std > 0, std, 1.0)
    skew = 0.0 if name in OF_ONE_SCALE else float(rng.choice([0, 0, 1, 2, 3]))
    sigma = (zipf(d, skew) * 10.0 ** rng.integers(-2, 4))[rng.permutation(d)]
    sigma = sigma * std / np.sqrt(np.mean(std**2))
    center = float(rng.choice([0, 1, 10, 1000])) * sigma.max()
    label = f"{number} {name}: {n} x {d}, skew {skew:g}, rho {rho:.3g}"

    def standard(rng, n, d):
        return (draw(rng, n, d) - mean) / std

    found = Setting(label, n, rho, tuple(sigma), center=center, draw=standard)
    return unlike(found) if number // len(OTHERS) % 2 else found


def measure(number: int, runs: int) -> tuple[str, str, float, float, float]:
    """Return the shape, and what its setting gave."""
    return list(OTHERS)[number % len(OTHERS)], *of_setting(setting(number), runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", type=int, default=280)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    numbers = [
        k
        for k in range(options.first, options.first + options.settings)
        if options.only in list(OTHERS)[k % len(OTHERS)]
    ]
    with ProcessPoolExecutor(options.jobs) as pool:
        report(list(pool.map(partial(measure, runs=options.runs), numbers)), OTHERS)


if __name__ == "__main__":
    main()
