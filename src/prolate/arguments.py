"""Checks of the arguments that the public functions share, so that errors are worded alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from prolate.arrays import Floats
from prolate.budget import Budget
from prolate.errors import BudgetError, InputError, did_you_mean, shown
from prolate.public_numbers import Vector, as_number
from prolate.release.unit import Contribution
from prolate.theory import RELATIVE

__all__ = [
    "check_budget",
    "check_clip",
    "check_ellipse",
    "check_flag",
    "check_method",
    "check_norm",
    "check_progress",
    "check_unit",
    "read_quantiles",
]


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
