"""Public numbers of columns: bounds, centers and scales, as people give them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prolate.arrays import Floats, Limits
from prolate.errors import InputError, did_you_mean, shown

__all__ = ["Bounds", "Vector", "as_number", "read_bounds", "read_vector"]

Bounds = tuple[ArrayLike, ArrayLike] | Mapping[str, tuple[float, float]]
Vector = ArrayLike | Mapping[str, float]

_TWO = 2  # columns, whose bounds may be mistaken for a pair for each
_WIDEST = 1e300
_MOST = 1e140  # so that squares, and sums of them, are floats


def as_number(value: object) -> float:
    """Return a number of any library as a float, and NaN for what is none, such as "2" or True."""
    try:
        other = isinstance(value, str | bytes | bool | np.bool_) or np.ndim(value)  # type: ignore[arg-type]
        other = other or value is np.ma.masked  # 0 to NumPy
        return math.nan if other else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


def read_vector(
    name: str, values: Vector | None, columns: Sequence[str], *, positive: bool = False
) -> Floats | None:
    """Return a public number per column, finite (and positive), or None if none is given.

    `values` is a number for all columns, one per column, or a mapping of every column's name
    to its number, or a pandas series whose index has the names.
    """
    if values is None:
        return None
    array = _per_column(name, values, columns)
    low, high = (1.0 / _MOST, _MOST) if positive else (-_WIDEST, _WIDEST)
    if not np.all((array >= low) & (array <= high)):
        what = "positive, between 1e-140 and 1e140" if positive else "finite, within +-1e300"
        raise InputError(f"{name} must be {what}.")
    return np.broadcast_to(array, (len(columns),)).copy()


def read_bounds(
    bounds: Bounds | None,
    columns: Sequence[str],
    *,
    required: bool = False,
    flags: Collection[str] = (),
) -> Limits | None:
    """Return lower and upper bounds of every column, or None if none are given.

    Parameters
    ----------
    bounds : (lower, upper) or mapping of column to (lower, upper), optional
        Numbers for all columns, or one per column. A column missing from a mapping is
        unbounded, -inf to inf, unless `required`.
    columns : sequence of str
        The columns' names.
    required : bool
        Whether every column needs finite bounds.
    flags : collection of str
        Columns of booleans: from 0 to 1, if no bounds of them are given.
    """
    d = len(columns)
    flag = np.array([name in flags for name in columns]) if flags else np.zeros(d, dtype=np.bool_)
    lower, upper = np.where(flag, 0.0, -np.inf), np.where(flag, 1.0, np.inf)
    if bounds is None:
        if required and not flag.any():
            raise InputError(
                "This needs the bounds of every column, such as bounds=(0, 100) or "
                "bounds={'age': (0, 120)}; they must be known without looking at the data."
            )
        if not flag.any():
            return None
        bounds = {}
    if isinstance(bounds, Mapping):
        _set_some(bounds, columns, lower, upper)
    else:
        lower[:], upper[:] = _of_all(bounds, columns)
    for name, low, high in zip(columns, lower, upper, strict=True):
        given = not (low == -np.inf and high == np.inf)
        if (given or required) and not (
            math.isfinite(low) and math.isfinite(high) and max(-low, high) <= _MOST
        ):
            if not given:
                raise InputError(
                    f"bounds of column {name!r} must be finite numbers, and none are given; give "
                    f"them as bounds={{{name!r}: (0, 100)}}."
                )
            raise InputError(
                f"bounds of column {name!r} must be finite numbers within +-1e140; "
                f"got {low:g} to {high:g}."
            )
        if low > high:
            raise InputError(
                f"bounds of column {name!r} must have lower <= upper; got {low:g} to {high:g}."
            )
    return lower, upper


def _set_some(
    bounds: Mapping[str, tuple[float, float]],
    columns: Sequence[str],
    lower: Floats,
    upper: Floats,
) -> None:
    """Write the bounds of columns that have some."""
    for place, pair in _by_place("bounds", bounds, columns).items():
        low, high = _pair(pair, f"bounds of column {columns[place]!r}")
        one = columns[place : place + 1]
        lower[place], upper[place] = (_per_column("bounds", end, one)[0] for end in (low, high))


def _of_all(bounds: Any, columns: Sequence[str]) -> Limits:
    """Return lower and upper bounds that are not a mapping.

    Those of two columns that may as well be a pair for each are refused.
    """
    low, high = _pair(bounds, "bounds")
    lower, upper = (_per_column("bounds", end, columns) for end in (low, high))
    two = len(columns) == _TWO and np.ndim(low) == np.ndim(high) == 1
    as_pairs = two and lower[0] < lower[1] and upper[0] < upper[1]
    listed = isinstance(bounds, list) and not isinstance(low, np.ndarray)
    listed |= isinstance(bounds, np.ndarray) or isinstance(low, tuple)
    if two and (np.any(lower > upper) or (as_pairs and (listed or np.any(lower == upper)))):
        raise InputError(
            "bounds must be (lower, upper), each one number or one per column, with lower <= "
            f"upper; got lower {lower.tolist()} and upper {upper.tolist()}. For a pair per column, "
            f"name the columns: bounds={{{columns[0]!r}: (0, 100), {columns[1]!r}: (0, 1)}}."
        )
    return lower, upper


def _by_place(what: str, given: Mapping[Any, Any], columns: Sequence[str]) -> dict[int, Any]:
    """Return what is given by columns' names, by their places.

    As where columns are named: spaces around a name may be left out, and columns of an array may be
    called by their position, 2 as `"x2"`.
    """
    found: dict[int, Any] = {}
    known = {name: place for place, name in enumerate(columns)}
    verb = "name" if what == "bounds" else "names"
    for key, value in given.items():
        name = str(key)
        place = known.get(name)
        if place is None:
            whole = isinstance(key, int | np.integer) and not isinstance(key, bool)
            other = f"x{key}" if whole else name.strip()
            alike = [j for j, column in enumerate(columns) if column.strip() == other]
            if len(alike) != 1:
                hint = did_you_mean(name, columns)
                raise InputError(f"{what} {verb} a column that is not used: {name!r}.{hint}")
            place = alike[0]
        if place in found:
            raise InputError(f"{what} {verb} column {columns[place]!r} twice.")
        found[place] = value
    return found


def _per_column(what: str, values: Any, columns: Sequence[str]) -> Floats:
    """Return public numbers as an array of one per column."""
    named = _named(values)
    if named is not None:
        places = _by_place(what, named, columns)
        missing = next((name for j, name in enumerate(columns) if j not in places), None)
        if missing is not None:
            raise InputError(
                f"{what} has no number for column {missing!r}. Give one for every column, or none; "
                "or release the columns whose numbers are known by themselves, with a part of the "
                "budget."
            )
        values = [places[j] for j in range(len(columns))]
    array = _floats(values, what)
    if array.ndim > 1 or (array.ndim == 1 and array.size != len(columns)):
        raise InputError(
            f"{what} must be one number for all columns or one per column ({len(columns)}); "
            f"got an array of shape {array.shape}."
        )
    return np.broadcast_to(array, (len(columns),)).copy()


def _named(values: Any) -> Mapping[Any, Any] | None:
    """Return numbers by names, if they have some: of a mapping, or the index of a pandas series."""
    if isinstance(values, Mapping):
        return values
    index: Any = getattr(values, "index", None)
    if not hasattr(type(values), "to_dict") or not hasattr(index, "tolist"):
        return None
    names = index.tolist()
    return None if names == list(range(len(names))) else dict(zip(names, values, strict=True))


def _pair(pair: Any, what: str) -> tuple[Any, Any]:
    try:
        if isinstance(pair, str | bytes | set | frozenset | Mapping):  # of no order, or no numbers
            raise TypeError
        low, high = pair
    except (TypeError, ValueError):
        raise InputError(f"{what} must be a pair (lower, upper); got {shown(pair)}.") from None
    return low, high


def _floats(values: Any, name: str) -> Floats:
    """Return public numbers as an array; what is masked is 0 to NumPy, and None NaN."""
    try:
        if isinstance(values, set | frozenset) or np.ma.is_masked(values):
            raise TypeError
        listed = isinstance(values, list | tuple)
        array = np.asarray(values, dtype=object if listed else None)  # so that True is no number
        if array.dtype.kind == "O":
            numbers = [as_number(value) for value in array.flat]
            array = np.array(numbers, dtype=np.float64).reshape(array.shape)
            if np.isnan(array).any():
                raise TypeError
        if array.dtype.kind not in "iuf":
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be numbers; got {shown(values)}.") from None
