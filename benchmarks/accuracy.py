"""How near `prolate.mean` comes to the oracle: R of docs/accuracy.md, for many settings.

    python benchmarks/accuracy.py [--runs 10] [--method auto] [--only TEXT] [--unlike]
    python benchmarks/accuracy.py --needs

The oracle knows centers and scales and spends the whole budget on the noise; it clips one
row in n. R is an estimator's root mean square error against the sample's own mean over the
oracle's (for an l_p error, the p-th norms). R* is the least R of any fixed clip fraction
with known centers and scales and the whole budget.

Means of all columns are alike but for sampling, as in the papers. With `--unlike`, each is some
five standard deviations away from that.

`--needs` prints, for l_2 errors, the least R of a fixed clip that knows the scales but not the
center, and the part of the budget that its sum needs to meet the goal. Clipped around a center
that is not the mean, rows lose a part of what lies between, so their sum is divided by the mean
factor, and its noise with it; R* is of sums around the true mean, which lose nothing.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

import prolate

Draw = Callable[[np.random.Generator, int, int], np.ndarray]  # standardized columns


def normal(rng, n, d):
    return rng.standard_normal((n, d))


def laplace(rng, n, d):
    return rng.laplace(0, np.sqrt(0.5), (n, d))


def student(rng, n, d):
    return rng.standard_t(5, (n, d)) / np.sqrt(5 / 3)


def correlated(rng, n, d):
    return np.sqrt(0.5) * (rng.standard_normal((n, d)) + rng.standard_normal((n, 1)))


def exponential(rng, n, d):
    return rng.exponential(1, (n, d)) - 1


def lognormal(rng, n, d):
    s2 = 0.25
    x = np.exp(0.5 * rng.standard_normal((n, d)))
    return (x - np.exp(s2 / 2)) / np.sqrt((np.exp(s2) - 1) * np.exp(s2))


def zeros(rng, n, d):
    """30 % zeros, the rest normal around 3: mean 2.1."""
    x = np.where(rng.random((n, d)) < 0.3, 0, 3 + rng.standard_normal((n, d)))
    return (x - 2.1) / np.sqrt(0.7 * 10 - 2.1**2)


def integers(rng, n, d):
    return rng.integers(-3, 4, (n, d)) / 2.0


def nearly_constant(rng, n, d):
    x = rng.standard_normal((n, d))
    x[:, 0] *= rng.random(n) < 0.01
    return x


def zipf(d: int, skew: float) -> np.ndarray:
    return (d / np.arange(d, 0, -1)) ** (skew / 2)


@dataclass(frozen=True)
class Setting:
    name: str
    n: int
    rho: float
    sigma: tuple[float, ...]
    center: float | np.ndarray = 10.0
    draw: Draw = normal
    p: float = 2.0
    goal: float | None = None

    @property
    def room(self) -> float:
        return self.n / np.sqrt(len(self.sigma) / self.rho)

    def rows(self, seed: int, n: int | None = None) -> np.ndarray:
        rng = np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        sigma = np.array(self.sigma)
        return self.draw(rng, n or self.n, sigma.size) * sigma


def settings() -> list[Setting]:
    found = []

    def add(name, n, rho, sigma, **more):
        found.append(Setting(f"{name} rho={rho:g}", n, rho, tuple(sigma), **more))

    for d, goals in ((64, (0.86, 0.82)), (512, (0.95, 1.03)), (1024, (0.98, 1.10))):
        for rho, goal in zip((1, 1 / 8), goals, strict=True):
            add(f"A d={d}", 4000, rho, np.ones(d), center=0.0, goal=goal)
    for rho, goal in ((1, 0.92), (1 / 8, 0.88)):
        add("B d=512 a=1", 10000, rho, zipf(512, 1), goal=goal)
    for d, goals in ((64, (0.90, 0.77)), (512, (0.80, 0.83)), (1024, (0.86, 0.88))):
        for rho, goal in zip((1, 1 / 8), goals, strict=True):
            add(f"C d={d}", 10000, rho, zipf(d, 2), goal=goal)
    add("A d=2048", 4000, 1 / 16, np.ones(2048), center=0.0, goal=2)
    add("C d=2048", 10000, 1 / 8, zipf(2048, 2), goal=2)
    add("house d=100", 20000, 0.5, zipf(100, 1.5), center=20.0, goal=1.5)
    flat = np.ones(64)
    for draw in (laplace, student, correlated, exponential, lognormal, zeros, integers):
        add(f"{draw.__name__} d=64", 10000, 1 / 2, flat, draw=draw)
        add(f"{draw.__name__} d=64 skew", 20000, 1 / 4, zipf(64, 2), draw=draw)
    add("nearly_constant d=64", 10000, 1 / 2, flat, draw=nearly_constant)
    add("decades d=13", 20000, 1 / 2, 10.0 ** np.arange(-6, 7))
    add("far centers d=64", 10000, 1 / 2, flat, center=1e6)
    add("five columns", 3000, 1 / 2, np.ones(5))
    add("one column", 3000, 1 / 2, np.ones(1))
    add("one column exponential", 3000, 1 / 2, np.ones(1), draw=exponential)
    add("one column log-normal", 3000, 1 / 2, np.ones(1), draw=lognormal)
    add("two columns exponential", 5000, 1 / 2, np.ones(2), draw=exponential)
    for p in (1.0, 4.0):
        add(f"p={p:g} d=64", 10000, 1 / 2, zipf(64, 2), p=p)
    for n, d, rho in ((1000, 2000, 1 / 2), (2000, 20_000, 8), (2000, 20_000, 1 / 2)):
        rng = np.random.default_rng(5)
        center, sigma = rng.standard_normal(d), rng.lognormal(0.0, 0.5, d)
        add(f"crowded d={d}", n, rho, sigma, center=center, goal=2)
    return found


def unlike(setting: Setting) -> Setting:
    """Return the same with columns that have centers of their own."""
    sigma = np.array(setting.sigma)
    away = 5.0 * sigma * np.random.default_rng(11).standard_normal(sigma.size)
    return replace(setting, center=setting.center + away)


def fixed_clips(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """Radii of fixed clip fractions, the first of one row in n, and the error of each."""
    p, sigma = setting.p, np.array(setting.sigma)
    scale = sigma ** (2 / (p + 2))
    rows = setting.rows(999, min(40000, max(setting.n, int(4e6 / sigma.size))))
    y = rows / scale
    norms = np.linalg.norm(y, axis=1)
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((50, sigma.size)) * scale

    def error(radius: float) -> float:
        std = noise_of(setting, radius)
        kept = np.minimum(1, radius / np.maximum(norms, 1e-300))
        bias = (rows * (kept - 1)[:, None]).mean(axis=0)
        # The bias of a sample of n, not of this larger one: add its own fluctuation.
        if rows.shape[0] > setting.n:
            spread = (rows * (kept - 1)[:, None]).std(axis=0)
            extra = spread * np.sqrt(1 / setting.n - 1 / rows.shape[0])
            bias = bias + extra * rng.standard_normal((50, sigma.size))
        error = np.abs(std * noise + bias)
        return float(np.sqrt(np.mean(np.sum(error**p, axis=1) ** (2 / p))))

    kept = 1 - np.concatenate([np.geomspace(1 / setting.n, 0.5, 25), [0.7, 0.9, 0.98]])
    radii = np.quantile(norms, kept)
    return radii, np.array([error(float(radius)) for radius in radii])


def noise_of(setting: Setting, radius: float) -> float:
    """Noise of a mean of rows clipped to a radius, in units of a column's scale."""
    return float(2 * radius / np.sqrt(2 * setting.rho) / setting.n)


def fixed_clip(setting: Setting) -> tuple[float, float]:
    """Error of the oracle, and the least error of any fixed clip fraction."""
    _, errors = fixed_clips(setting)
    return float(errors[0]), float(errors.min())


def needs(setting: Setting) -> str:
    oracle, best = fixed_clip(setting)
    sigma = np.array(setting.sigma)
    scale = np.sqrt(sigma)
    rows = setting.rows(999, min(40000, max(setting.n, int(4e6 / sigma.size))))
    norms, squares = np.linalg.norm(rows / scale, axis=1), np.sum(rows**2, axis=1)
    kept = 1 - np.concatenate([np.geomspace(1 / setting.n, 0.9, 60), [0.95, 0.99, 0.999]])

    def error(radius: float) -> float:
        factor = np.minimum(1, radius / norms)
        noise = noise_of(setting, radius) / factor.mean() * np.linalg.norm(scale)
        off = np.sqrt(np.mean((1 - factor / factor.mean()) ** 2 * squares) / setting.n)
        return float(np.hypot(noise, off))

    least = min(error(float(radius)) for radius in np.quantile(norms, kept)) / oracle
    goal = setting.goal or 1.25 * best / oracle
    part = (least / goal) ** 2
    return f"{setting.name:32} {best / oracle:6.2f} {goal:6.2f} {least:14.3f} {part:7.1%}"


def worst_of_clip(setting: Setting, runs: int) -> float:
    """Largest error of the best fixed clip in some runs, over the median's."""
    radii, errors = fixed_clips(setting)
    radius, p, sigma = float(radii[np.argmin(errors)]), setting.p, np.array(setting.sigma)
    scale, rng = sigma ** (2 / (p + 2)), np.random.default_rng(1)
    found = []
    for run in range(runs):
        rows = setting.rows(run)
        norms = np.linalg.norm(rows / scale, axis=1)
        kept = np.minimum(1, radius / np.maximum(norms, 1e-300))
        bias = (rows * (kept - 1)[:, None]).mean(axis=0)
        noise = noise_of(setting, radius) * scale * rng.standard_normal(sigma.size)
        found.append(np.sum(np.abs(bias + noise) ** p) ** (1 / p))
    return float(np.max(found) / np.median(found))


def one_run(setting: Setting, run: int, method: str) -> float:
    rows = setting.rows(run) + setting.center
    release = prolate.mean(
        rows, budget=prolate.Budget(rho=setting.rho), method=method, error_norm=setting.p
    )
    error = np.abs(release.estimate - rows.mean(axis=0))
    return float(np.sum(error**setting.p) ** (1 / setting.p))


def measure(setting: Setting, runs: int, method: str) -> str:
    oracle, best = fixed_clip(setting)
    found = np.array([one_run(setting, run, method) for run in range(runs)]) / oracle
    goal = setting.goal or 1.25 * best / oracle
    median = np.median(found)
    return (
        f"{setting.name:32} {setting.room:7.0f} {best / oracle:6.2f} {goal:6.2f} {median:8.3g} "
        f"{found.max():8.3g}  {'ok' if median <= goal else 'MISSED'}"
        f"{'' if found.max() <= 2 * median else worse(setting, runs)}"
    )


def worse(setting: Setting, runs: int) -> str:
    return f" (worst > 2 x median; the best fixed clip's {worst_of_clip(setting, runs):.1f} x)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--needs", action="store_true")
    parser.add_argument("--unlike", action="store_true", help="centers of columns of their own")
    options = parser.parse_args()
    chosen = [s for s in settings() if options.only in s.name]
    if options.unlike:
        chosen = [unlike(s) for s in chosen]
    if options.needs:
        print(f"{'setting':32} {'R*':>6} {'goal':>6} {'without center':>14} {'needs':>7}")
        for setting in chosen:
            if setting.p == 2.0 and setting.draw is normal:
                print(needs(setting), flush=True)
        return
    print(f"{'setting':32} {'n/room':>7} {'R*':>6} {'goal':>6} {'R':>8} {'worst':>8}")
    with ProcessPoolExecutor(options.jobs) as pool:
        count = len(chosen)
        lines = pool.map(measure, chosen, [options.runs] * count, [options.method] * count)
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
