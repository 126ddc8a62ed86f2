"""The data sets of Kalaja's thesis: UCI sets as Wang (2018) chose their columns, and his unit.

A set is a Parquet file of numbers whose last column is the target. The target of some sets
is transformed, with public functions; then it is centered and divided by its largest
magnitude, with all rows: that is the error's unit, and predicting 0 is the trivial method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats
from prolate.errors import InputError

__all__ = ["FOLDS", "DataSet", "folds", "read_set", "set_path", "sets_of"]

Index = NDArray[np.intp]

FOLDS = 10
_TRANSFORMS: dict[str, Callable[[Floats], Floats]] = {
    "autos": np.log,
    "elevators": np.log,
    "forest": np.log1p,
    "machine": np.log,
    "skillcraft": np.log,
    "yacht": np.log,
}


@dataclass(frozen=True, eq=False)
class DataSet:
    """Features as they are, and the target, in Wang's unit too.

    Attributes
    ----------
    x : float64 array of shape (n, k)
    target : float64 array of shape (n,)
        Transformed, where the set wants that.
    unit : float
        Its largest distance to its mean.
    y : float64 array of shape (n,)
        (target - mean) / unit.
    """

    x: Floats
    target: Floats
    unit: float
    y: Floats


def set_path(folder: Path | None, name: str) -> Path:
    """Return the file of a set.

    Raises
    ------
    InputError
        If there is none.
    """
    for place in _places(folder):
        if (place / f"{name}.parquet").is_file():
            return place / f"{name}.parquet"
    raise InputError(
        f"The figure needs the UCI set {name!r}: with --data DIR, give a folder that holds "
        f"{name}.parquet, columns of numbers with the target as the last one."
    )


def sets_of(folder: Path | None) -> dict[str, Path]:
    """Return the files of all sets in a folder, by name.

    Raises
    ------
    InputError
        If there are none.
    """
    for place in _places(folder):
        found = {file.stem: file for file in sorted(place.glob("*.parquet"))}
        if found:
            return found
    raise InputError(
        "The table needs UCI sets: with --data DIR, give a folder of NAME.parquet files, "
        "columns of numbers with the target as the last one."
    )


def _places(folder: Path | None) -> tuple[Path, ...]:
    return () if folder is None else (folder / "uci", folder)


@lru_cache(maxsize=2)
def read_set(path: str) -> DataSet:
    """Return a set from its file.

    Raises
    ------
    InputError
        If the file cannot be read, or does not hold finite numbers in two columns or more.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
        columns = [column.to_numpy().astype(np.float64) for column in table.columns]
    except (OSError, ValueError, TypeError, pa.ArrowException) as error:
        raise InputError(f"{path!r} is not a readable Parquet file of numbers.") from error
    if len(columns) < 2 or table.num_rows < 2 * FOLDS:
        raise InputError(f"{path!r} needs a feature, a target and {2 * FOLDS} rows or more.")
    with np.errstate(all="ignore"):
        target = _TRANSFORMS.get(Path(path).stem, np.asarray)(columns[-1])
    x = np.column_stack(columns[:-1])
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(target))):
        raise InputError(f"{path!r} holds values that are missing or not finite.")
    y = target - target.mean()
    unit = float(np.abs(y).max()) or 1.0
    return DataSet(x, target, unit, y / unit)


def folds(n: int, repeat: int) -> list[tuple[Index, Index]]:
    """Return the (training rows, test rows) of ten folds.

    They are the same for every method and budget, and differ between repeats.

    Examples
    --------
    >>> [(train.size, test.size) for train, test in folds(25, 0)][:2]
    [(22, 3), (22, 3)]
    """
    order = np.random.default_rng([repeat, n]).permutation(n)
    parts = np.array_split(order, FOLDS)
    return [
        (np.sort(np.concatenate(parts[:i] + parts[i + 1 :])), np.sort(parts[i]))
        for i in range(FOLDS)
    ]
