"""Checks of the arguments that the public functions share, so that errors are worded alike."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from prolate.arrays import Floats, Limits
from prolate.budget import Budget
from prolate.errors import BudgetError, InputError, did_you_mean, shown
from prolate.release.unit import Contribution
from prolate.theory import RELATIVE

__all__ = [
    "Bounds",
    "Vector",
    "as_number",
    "check_budget",
    "check_clip",
    "check_ellipse",
    "check_flag",
    "check_method",
    "check_norm",
    "check_progress",
    "check_unit",
    "read_bounds",
    "read_quantiles",
    "read_vector",
]

Bounds = tuple[ArrayLike, ArrayLike] | Mapping[str, tuple[float, float]]
Vector = ArrayLike | Mapping[str, float]

_TWO = 2  # columns, whose bounds may be mistaken for a pair for each
_WIDEST = 1e300
_MOST = 1e140  # so that squares, and sums of them, are floats


def check_budget(budget: object) -> Budget:
    """Return `budget` as it is stated, or raise `BudgetError` if it is not a `Budget`."""
    if not isinstance(budget, Budget):
        raise BudgetError(
            f"budget must be a prolate.Budget, such as Budget(epsilon=1, delta=1e-6); "
            f"got {type(budget).__name__}."
        )
    return budget.without_keys()  # that of a release may have some


def check_method(method: object, allowed: Sequence[str]) -> str:
    """Return `method` if it is one of `allowed`."""
    if not isinstance(method, str) or method not in allowed:
        hint = did_you_mean(method, allowed) if isinstance(method, str) else ""
        raise InputError(f"method must be one of {', '.join(allowed)}; got {shown(method)}.{hint}")
    return method


def as_number(value: object) -> float:
    """Return a number of any library as a float, and NaN for what is none, such as "2" or True."""
    try:
        other = isinstance(value, str | bytes | bool | np.bool_) or np.ndim(value)  # type: ignore[arg-type]
        other = other or value is np.ma.masked  # 0 to NumPy
        return math.nan if other else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


def check_flag(name: str, value: object) -> bool:
    """Return `value` if it is True or False: what else is true says something else."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False; got {shown(value)}.")
    return bool(value)


def check_progress(progress: object) -> None:
    """Raise `InputError` unless progress is a boolean, None or callable."""
    if not isinstance(progress, bool | np.bool_ | None) and not callable(progress):
        raise InputError(
            "progress must be True, False, or a function that takes a label, the rows read so far "
            f"and the rows in all; got {shown(progress)}."
        )


def check_norm(error_norm: object) -> float:
    """Return the p of an l_p error: finite and at least 1, or `RELATIVE`."""
    if isinstance(error_norm, str) and error_norm == "relative":
        return RELATIVE
    p = as_number(error_norm)
    if not (1.0 <= p < math.inf):
        raise InputError(
            f"error_norm must be a finite number p >= 1, or 'relative'; got {shown(error_norm)}."
        )
    return p


def check_clip(clip: object) -> float | Literal["auto", "optimal"]:
    """Return the part of the rows to clip, or "auto" or "optimal"."""
    if isinstance(clip, str) and clip in ("auto", "optimal"):
        return "auto" if clip == "auto" else "optimal"
    part = as_number(clip)
    if not 0.0 < part < 1.0:
        raise InputError(
            "clip must be 'auto' or the fraction of rows to clip, between 0 and 1 (or 'optimal', "
            f"for method='gaussian-ellipse' alone); got {shown(clip)}."
        )
    return part


def check_ellipse(
    method: str,
    clip: float | str,
    center: Vector | None,
    scale: Vector | None,
    *,
    also: str | None = None,
) -> None:
    """Raise `InputError` unless clip, center and scale go with the method.

    They are for the method "gaussian-ellipse", which needs the last two, and for the method
    `also`.
    """
    given = {"clip": clip != "auto", "center": center is not None, "scale": scale is not None}
    if method == "gaussian-ellipse":
        absent = [name for name in ("center", "scale") if not given[name]]
        if absent:
            example = "center=50" if absent[0] == "center" else "scale=10"
            raise InputError(
                f"method='gaussian-ellipse' needs a public {' and a public '.join(absent)} for "
                f"every column, such as {example}; a mean with method='auto' needs neither."
            )
        return
    if clip == "optimal":
        raise InputError(
            "clip='optimal' is for method='gaussian-ellipse', because it needs rows of known "
            "shape; use clip='auto'."
        )
    for name, is_given in given.items():
        if is_given and method != also:
            allowed = "'gaussian-ellipse'" if also is None else f"{also!r} and 'gaussian-ellipse'"
            raise InputError(f"{name} is for method={allowed}; got method={method!r}.")


def check_unit(unit: object, contribution: object, max_rows: int | None) -> Contribution:
    """Return how persons contribute, or raise `InputError` if it does not go with the rest."""
    if not isinstance(contribution, str) or contribution not in ("mean", "rows"):
        raise InputError(f"contribution must be 'mean' or 'rows'; got {shown(contribution)}.")
    if unit is None and (contribution != "mean" or max_rows is not None):
        raise InputError(
            "contribution='rows' and max_rows say how a person's rows count; also name the column "
            "that says which person each row belongs to, such as unit='patient_id'."
        )
    if contribution == "mean":
        if max_rows is not None:
            raise InputError(
                "max_rows goes with contribution='rows'; with 'mean', all rows of a person count "
                "in that person's mean."
            )
        return "mean"
    whole = isinstance(max_rows, int | np.integer) and not isinstance(max_rows, bool)
    if max_rows is None or not (whole and 1 <= max_rows <= 10**6):
        raise InputError(
            "contribution='rows' needs max_rows, the number of rows of each person that count: "
            f"a whole number from 1 to a million, such as max_rows=5; got {shown(max_rows)}."
        )
    return "rows"


def read_vector(
    name: str, values: Vector | None, columns: Sequence[str], *, positive: bool = False
) -> Floats | None:
    """Return a public number per column, finite (and positive), or None if none is given.

    `values` is a number for all columns, one per column, or a mapping of every column's name
    to its number.
    """
    if values is None:
        return None
    if isinstance(values, Mapping):
        values = {str(key): value for key, value in values.items()}
        unknown = next((key for key in values if key not in columns), None)
        if unknown is not None:
            hint = did_you_mean(unknown, columns)
            raise InputError(f"{name} names a column that is not used: {unknown!r}.{hint}")
        missing = next((column for column in columns if column not in values), None)
        if missing is not None:
            raise InputError(
                f"{name} has no number for column {missing!r}. Give one for every column, or none; "
                "or release the columns whose numbers are known by themselves, with a part of the "
                "budget."
            )
        values = [values[column] for column in columns]
    array = _floats(values, name)
    if array.ndim > 1 or (array.ndim == 1 and array.size != len(columns)):
        raise InputError(
            f"{name} must be one number for all columns or one per column ({len(columns)}); "
            f"got an array of shape {array.shape}."
        )
    low, high = (1.0 / _MOST, _MOST) if positive else (-_WIDEST, _WIDEST)
    if not np.all((array >= low) & (array <= high)):
        what = "positive, between 1e-140 and 1e140" if positive else "finite, within +-1e300"
        raise InputError(f"{name} must be {what}.")
    return np.broadcast_to(array, (len(columns),)).copy()


def read_quantiles(q: object) -> tuple[Floats, bool]:
    """Return the probabilities as an array, and whether a single one was given."""
    try:
        given = np.asarray(q, dtype=object)  # in which True and "0.5" are not numbers
    except (TypeError, ValueError, OverflowError):
        given = np.array(None)
    numbers = given.ndim <= 1 and not np.ma.is_masked(q)
    if not numbers or not given.size or not all(0.0 <= as_number(p) <= 1.0 for p in given.flat):
        raise InputError(
            "q must be a number between 0 and 1, such as 0.5 for the median (not 50), or a list of "
            "such numbers, such as [0.25, 0.5, 0.75] for the quartiles; "
            f"got {shown(q) if given.size else 'an empty list'}."
        )
    return np.atleast_1d(given.astype(np.float64)), given.ndim == 0


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
    known = {name: place for place, name in enumerate(columns)}
    for key, pair in bounds.items():
        name = str(key)
        if name not in known:
            hint = did_you_mean(name, columns)
            raise InputError(f"bounds name a column that is not used: {name!r}.{hint}")
        low, high = _pair(pair, f"bounds of column {name!r}")
        lower[known[name]], upper[known[name]] = _numbers(low, 1)[0], _numbers(high, 1)[0]


def _of_all(bounds: Any, columns: Sequence[str]) -> Limits:
    """Return lower and upper bounds that are not a mapping.

    Those of two columns that may as well be a pair for each are refused.
    """
    low, high = _pair(bounds, "bounds")
    lower, upper = _numbers(low, len(columns)), _numbers(high, len(columns))
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


def _pair(pair: Any, what: str) -> tuple[Any, Any]:
    try:
        low, high = pair
    except (TypeError, ValueError):
        raise InputError(f"{what} must be a pair (lower, upper); got {shown(pair)}.") from None
    return low, high


def _floats(values: Any, name: str) -> Floats:
    """Return public numbers as an array; None is none, but NaN to NumPy, and what is masked 0."""
    try:
        if values is None or np.ma.is_masked(values):
            raise TypeError
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be numbers; got {shown(values)}.") from None


def _numbers(values: Any, count: int) -> Floats:
    array = _floats(values, "bounds")
    if array.ndim > 1 or (array.ndim == 1 and array.size != count):
        raise InputError(
            f"bounds must be one number for all columns or one per column ({count}); "
            f"got an array of shape {array.shape}."
        )
    return np.broadcast_to(array, (count,))
