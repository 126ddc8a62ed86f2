"""How near `prolate.mean` comes to the oracle on tables of mixed columns, made up and real.

    python benchmarks/mixed_tables.py [--tables 400] [--runs 3] [--ruled] [--data FOLDER] [--plan]

Made-up tables have 2 to 40 columns of twenty kinds: normal and skewed ones, amounts that are
0 in part of the rows, flags, counts, few values with gaps, values in two places far apart,
years, integers up to a million. With `--ruled`, the first is one of amounts, or a normal one, in
a unit that makes it a thousand times as large as all others together, as cents beside ages are.
`--data` is a folder of Parquet files, each a table.

An error is over that of the best fixed clip with known centers, scales and the whole budget:
of l2 errors (`error_norm=2`), and of errors relative to the columns' spreads (`"relative"`).
For each: the geometric mean over tables of the median of the runs, their quantiles, and how
many tables have a run above 3, 10 and 100. With `--plan`, honest PLAN's l2 errors over ours.
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import prolate

KINDS = [
    "normal",
    "lognormal",
    "money",
    "uniform",
    "far",
    "year",
    "integers",
    "powers",
    "zeros",
    "atom",
    "heavy zeros",
    "flag",
    "counts",
    "grades",
    "gaps",
    "far apart",
    "two places",
    "two far places",
    "two scales",
    "constant",
]


def column(rng: np.random.Generator, n: int, kind: str) -> np.ndarray:
    """Return a column in some unit."""
    u = rng.random(n)
    few = int(rng.integers(3, 9))
    likely = rng.dirichlet(np.ones(few))
    made = {
        "normal": lambda: rng.normal(size=n) + 3.0 * rng.normal(),
        "lognormal": lambda: np.exp(rng.normal(size=n) * rng.uniform(0.3, 1.5)),
        "money": lambda: np.round(np.exp(rng.normal(size=n)), 1),
        "uniform": lambda: u,
        "far": lambda: rng.normal(size=n) + 10 ** rng.uniform(1, 5),
        "year": lambda: 1960.0 + rng.integers(0, rng.integers(5, 60), n),
        "integers": lambda: rng.integers(0, 10 ** rng.integers(1, 7), n).astype(float),
        "powers": lambda: 2.0 ** rng.integers(-5, 6, n),
        "zeros": lambda: np.where(u < rng.uniform(0.3, 0.9), 0.0, rng.exponential(size=n)),
        "atom": lambda: 5.0 + np.where(u < rng.uniform(0.3, 0.7), 0.3, 2 * rng.normal(size=n)),
        "heavy zeros": lambda: np.where(
            u < rng.uniform(0.3, 0.7), 0.0, np.exp(2 * rng.normal(size=n))
        ),
        "flag": lambda: (u < rng.uniform(0.02, 0.98)).astype(float),
        "counts": lambda: rng.poisson(10 ** rng.uniform(-1, 1.5), n).astype(float),
        "grades": lambda: 1.0 + rng.choice(few, n, p=likely),
        "gaps": lambda: np.sort(rng.lognormal(0, 2, few))[rng.choice(few, n, p=likely)],
        "far apart": lambda: (10.0 ** rng.uniform(-3, 3, few))[rng.choice(few, n, p=likely)],
        "two places": lambda: (
            rng.normal(size=n) + 10 ** rng.uniform(0.5, 3) * (u < rng.uniform(0.2, 0.8))
        ),
        "two far places": lambda: (
            10 ** rng.uniform(0.5, 3) * rng.uniform(0.9, 1.1, n) * (u < rng.uniform(0.3, 0.7))
        ),
        "two scales": lambda: rng.normal(size=n) * np.where(u < 0.5, 1, 10 ** rng.uniform(0, 3)),
        "constant": lambda: np.full(n, rng.choice([0.0, 1.0, 7.5])),
    }
    return made[kind]() * 10.0 ** rng.uniform(-2, 3) * rng.choice([1, -1])


def made_up(seed: int) -> tuple[np.ndarray, float]:
    """Return a table and a rho; most of them in units of standard deviations."""
    rng = np.random.default_rng([7, seed])
    d, rho = int(rng.integers(2, 40)), 2.0 ** rng.uniform(-5, 1)
    room = 10 ** rng.uniform(1.9, 3.2)
    n = int(np.clip(room * np.sqrt(d / rho), 200, 40_000))
    kinds = rng.choice(KINDS, d, p=rng.dirichlet(np.full(len(KINDS), 0.3)))
    rows = np.column_stack([column(rng, n, kind) for kind in kinds])
    if rng.random() < 0.7:
        rows = rows / np.where(varies(rows), rows.std(axis=0), 1.0)
    return rows, rho


def ruled(seed: int) -> tuple[np.ndarray, float]:
    """Return a table of alike columns beside a much larger one, and a rho."""
    rows, rho = made_up(seed)
    rows = rows / np.where(varies(rows), rows.std(axis=0), 1.0)
    rng = np.random.default_rng([8, seed])
    kind = ["lognormal", "money", "zeros", "heavy zeros", "normal"][seed % 5]
    amounts = column(rng, len(rows), kind)
    rows[:, 0] = 1000.0 * rows.shape[1] * amounts / amounts.std()
    return rows, rho


def varies(rows: np.ndarray) -> np.ndarray:
    """Return which columns vary by more than rounding."""
    return rows.std(axis=0) > 1e-9 * np.abs(rows).max(axis=0)


def least_error(rows: np.ndarray, rho: float, scale: np.ndarray, unit: np.ndarray) -> float:
    """Return the error of the best fixed clip, in units of the columns."""
    away = rows - rows.mean(axis=0)
    norms = np.linalg.norm(away / scale, axis=1)
    errors = []
    for part in np.geomspace(1 / len(rows), 0.9, 40):
        radius = np.quantile(norms, 1 - part)
        noise = 2 * radius / np.sqrt(2 * rho) / len(rows) * scale
        kept = np.minimum(1, radius / np.maximum(norms, 1e-300)) - 1
        errors.append(np.sum((noise**2 + (away * kept[:, np.newaxis]).mean(axis=0) ** 2) / unit**2))
    return float(np.sqrt(min(errors)))


def ratios(
    rows: np.ndarray, rho: float, norm: str | float, runs: int, method: str
) -> tuple[np.ndarray, float]:
    """Return the runs' errors over the least, and which part of the 95 % intervals hold."""
    vary = varies(rows)
    spread = rows[:, vary].std(axis=0)
    relative = norm == "relative"
    scale, unit = (spread, spread) if relative else (np.sqrt(spread), np.ones_like(spread))
    least = least_error(rows[:, vary], rho, scale, unit)
    found, held = [], []
    budget = prolate.Budget(rho=rho)
    for run in range(runs):
        made = prolate.mean(rows, budget=budget, error_norm=norm, method=method, seed=run)
        error = np.abs(made.estimate - rows.mean(axis=0))[vary]
        found.append(np.linalg.norm(error / unit))
        clipping = np.zeros(vary.size) if made.clipping_std is None else made.clipping_std
        held.append(np.mean(error <= 1.96 * np.hypot(made.noise_std, clipping)[vary]))
    return np.array(found) / least, float(np.mean(held))


def one_table(
    job: tuple[int | str, str | float, int, str],
) -> tuple[str, np.ndarray, float] | None:
    """Return a name and its `ratios`; None for a table in which nothing varies."""
    table, *asked = job
    warnings.simplefilter("ignore")
    if isinstance(table, int) or table.isdecimal():
        rows, rho = made_up(table) if isinstance(table, int) else ruled(int(table))
        if not varies(rows).any():
            return None
        name = f"made up {table} ({rows.shape[0]} x {rows.shape[1]})"
        return name, *ratios(rows, rho, *asked)
    import pyarrow.parquet as pq

    path, rho = table.rsplit("@", 1)
    columns = pq.read_table(path)
    rows = np.column_stack([columns[name].to_numpy() for name in columns.column_names])
    return f"{Path(path).stem} rho={rho}", *ratios(rows.astype(float), float(rho), *asked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--ruled", action="store_true", help="instead of the made-up tables")
    parser.add_argument("--data", type=Path, help="a folder of Parquet files")
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tables = range(options.tables)
    groups: dict[str, list[int | str]] = {"made up": list(tables)}
    if options.ruled:
        groups = {"ruled": [str(table) for table in tables]}
    if options.data is not None:
        paths = sorted(options.data.glob("*.parquet"))
        groups["real"] = [f"{path}@{rho}" for path in paths for rho in (1, 0.25, 0.0625)]
    with ProcessPoolExecutor(options.jobs) as pool:
        for group, members in groups.items():
            for norm in (2.0, "relative"):
                jobs = [(table, norm, options.runs, "auto") for table in members]
                found = [one for one in pool.map(one_table, jobs, chunksize=4) if one]
                medians = np.array([np.median(ratio) for _, ratio, _ in found])
                worst = np.array([ratio.max() for _, ratio, _ in found])
                quantiles = np.quantile(medians, [0.5, 0.9, 0.99]).round(2)
                above = " / ".join(str(np.count_nonzero(worst > limit)) for limit in (3, 10, 100))
                print(
                    f"{group}, {len(found)} tables, error_norm={norm}: geometric mean "
                    f"{np.exp(np.log(medians).mean()):.2f}, quantiles .5 .9 .99 "
                    f"{quantiles}, above 3 / 10 / 100: {above}; "
                    f"intervals hold {np.mean([held for *_, held in found]):.3f}"
                )
                for k in np.argsort(-worst)[:5]:
                    print(f"    {found[k][0]:32} median {medians[k]:.3g} worst {worst[k]:.3g}")
                if options.plan and norm == 2.0:
                    jobs = [(*job[:3], "plan") for job in jobs]
                    plan = [one for one in pool.map(one_table, jobs, chunksize=4) if one]
                    over = np.array([np.median(ratio) for _, ratio, _ in plan]) / medians
                    print(
                        f"    PLAN over ours: quantiles .1 .5 .9 "
                        f"{np.quantile(over, [0.1, 0.5, 0.9]).round(2)}, below .95 in "
                        f"{np.count_nonzero(over < 0.95)}, .8 in {np.count_nonzero(over < 0.8)}"
                    )


if __name__ == "__main__":
    main()
