"""How near `prolate.mean` comes to the best fixed clip on parts of real tables.

    python benchmarks/real_tables.py [--data ../shared/data/uci] [--settings 400] [--runs 6]

A setting is some columns of some rows of a Parquet file in the folder, drawn at random, in their
own units or in standard deviations, both neighbor relations, rho from 1/32 to 3. Errors are l2,
over those of the best fixed clip with known centers, scales and the whole budget. Printed are
geometric means over settings of the root mean square of the runs and how many 95 % intervals hold:
by n / sqrt(d / rho), by file, and the settings that are farthest off. `--save FILE` keeps all
errors, and `--over FILE` compares with those of another version, setting by setting.
"""

from __future__ import annotations

import argparse
import itertools
import json
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from mixed_tables import least_error, varies

import prolate

ROOMS = (44, 100, 300, 3000)  # n / sqrt(d / rho)
FEWEST, WIDEST = 150, 40
Found = tuple[str, str, float, list[float], float]


@cache
def read(path: Path) -> np.ndarray:
    table = pq.read_table(path)
    return np.column_stack([table[name].to_numpy() for name in table.column_names]).astype(float)


def setting(paths: list[Path], number: int) -> tuple[str, np.ndarray, float, str, float]:
    """Return a file's name, rows, a rho, the neighbors and n / sqrt(d / rho)."""
    rng = np.random.default_rng([42, number])
    while True:
        path = paths[rng.integers(len(paths))]
        whole = read(path)
        n, d = whole.shape
        d = int(rng.integers(2, min(d, WIDEST) + 1))
        columns = np.sort(rng.choice(whole.shape[1], d, replace=False))
        n = int(n * 10 ** -rng.uniform(0.0, min(1.2, np.log10(n / FEWEST))))
        rho = 2.0 ** rng.uniform(-5.0, 1.5)
        room = n / np.sqrt(d / rho)
        rows = whole[np.sort(rng.choice(len(whole), n, replace=False))][:, columns]
        in_spreads, replace = rng.random() < 0.6, rng.random() < 0.7
        rows = rows[:, varies(rows)]
        if ROOMS[0] < room < ROOMS[-1] and rows.size:
            break
    rows = rows / rows.std(axis=0) if in_spreads else rows
    return path.stem, rows, rho, "replace" if replace else "add-remove", room


def measure(paths: list[Path], runs: int, number: int) -> Found:
    """Return a setting's name, file and room, its errors over the least, and what holds."""
    file, rows, rho, neighbors, room = setting(paths, number)
    name = f"{number} {file} {rows.shape[0]} x {rows.shape[1]}, rho = {rho:.3g}, {neighbors}"
    return name, file, float(room), *errors_of(rows, rho, neighbors, runs)


def errors_of(
    rows: np.ndarray, rho: float, neighbors: str, runs: int, norm: float | str = 2.0
) -> tuple[list[float], float]:
    """Return l2 or relative errors over those of the best fixed clip, and what part holds."""
    warnings.simplefilter("ignore")
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    unit = spread if norm == "relative" else np.ones_like(spread)
    least = least_error(rows, rho, np.sqrt(spread * unit), unit)  # for replace, ...
    least *= 1.0 if neighbors == "replace" else 0.5  # ... which is a fair bound of the other
    errors, held = [], []
    for run in range(runs):
        budget = prolate.Budget(rho=rho)
        made = prolate.mean(rows, budget=budget, neighbors=neighbors, error_norm=norm, seed=run)
        error = np.abs(made.estimate - mean)
        clipping = 0.0 if made.clipping_std is None else made.clipping_std
        errors.append(float(np.linalg.norm(error / unit)) / least)
        held.append(float(np.mean(error <= 1.96 * np.hypot(made.noise_std, clipping))))
    return errors, float(np.mean(held))


def rms(found: Found) -> float:
    return float(np.sqrt(np.mean(np.square(found[3]))))


def show(name: str, some: list[Found]) -> None:
    if some:
        mean = np.exp(np.mean([np.log(rms(one)) for one in some]))
        held = np.mean([one[4] for one in some])
        print(f"{name:24} {len(some):4} settings  {mean:5.2f}  intervals hold {held:.1%}")


def compare(found: Iterable[Found], before: list[Found]) -> None:
    known = {one[0]: one for one in before}
    pairs = [(known[one[0]], one) for one in found if one[0] in known]
    times = np.log([rms(new) / rms(old) for old, new in pairs])
    changed = np.array([old[3] != new[3] for old, new in pairs])
    print(f"over the other version: {len(pairs)} settings x {np.exp(times.mean()):.3f}")
    if changed.any():
        some = times[changed]
        print(
            f"of {len(some)} that change x {np.exp(some.mean()):.3f} "
            f"+- {some.std() / np.sqrt(len(some)):.3f}, from {np.exp(some.min()):.2f} "
            f"to {np.exp(some.max()):.2f}"
        )


def options_of(parser: argparse.ArgumentParser, settings: int, runs: int) -> argparse.Namespace:
    parser.add_argument("--settings", type=int, default=settings)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--over", type=Path, help="what another version saved")
    return parser.parse_args()


def report(asked: Callable[[int], Found], options: argparse.Namespace) -> None:
    """Measure the settings, and print what they have by room and by file or kind."""
    numbers = range(options.first, options.first + options.settings)
    with ProcessPoolExecutor(options.jobs) as pool:
        found = list(pool.map(asked, numbers, chunksize=4))
    if options.save is not None:
        options.save.write_text(json.dumps(found))
    for low, high in itertools.pairwise(ROOMS):
        show(f"room {low} to {high}", [one for one in found if low <= one[2] < high])
    for file in sorted({one[1] for one in found}):
        show(file, [one for one in found if one[1] == file])
    for one in sorted(found, key=rms, reverse=True)[:8]:
        print(f"    {one[0]:56} {rms(one):.2f}, worst {max(one[3]):.2f}, hold {one[4]:.0%}")
    if options.over is not None:
        compare(found, [(*one[:3], one[3], one[4]) for one in json.loads(options.over.read_text())])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data/uci"))
    options = options_of(parser, 400, 6)
    report(partial(measure, sorted(options.data.glob("*.parquet")), options.runs), options)


if __name__ == "__main__":
    main()
