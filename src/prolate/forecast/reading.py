"""What the arguments of a forecast ask, or why they ask nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from prolate.arguments import check_clip, check_flag, check_method, check_norm
from prolate.arrays import Floats, Limits
from prolate.budget import Neighbors, check_neighbors
from prolate.errors import InputError, shown
from prolate.estimators.gaussian_ellipse import Clipping
from prolate.forecast.question import MOST_ROWS, Question
from prolate.public_numbers import Bounds, read_bounds, read_vector
from prolate.sources.source import position_names

__all__ = ["METHODS", "read_question", "read_rows"]

METHODS = ("auto", "plan", "plan-noscale", "gaussian", "gaussian-ellipse")
_USUAL_CENTER = 10.0  # scales from zero, of the first column; of others half of that to 1.5 times
_GOLDEN = 0.5 * (5.0**0.5 - 1.0)  # multiples of it are evenly apart, but for whole numbers


def read_question(
    *,
    d: int | None,
    scale: ArrayLike | None,
    center: ArrayLike | None,
    bounds: Bounds | None,
    booleans: bool,
    method: str,
    error_norm: float | str,
    neighbors: Neighbors,
    clip: float | str,
    offset: ArrayLike | None,
) -> Question:
    """Return what the arguments of `prolate.expected_error` ask.

    Raises
    ------
    InputError
        If one of them is unsuitable.
    """
    check_method(method, METHODS)
    norm = check_norm(error_norm)
    if check_neighbors(neighbors) == "add-remove" and method in ("plan", "plan-noscale"):
        raise InputError("PLAN is defined for neighbors='replace'; use method='auto'.")
    part = _part(clip, method)
    flags = check_flag("booleans", booleans)
    if flags and (scale is not None or bounds is not None):
        raise InputError(
            "Booleans are 0 or 1, and their standard deviations follow from center, the part of "
            "the rows that is true; leave scale and bounds out."
        )
    columns = position_names(_columns(d, **({"center": center} if flags else {"scale": scale})))
    known = columns if flags else ()
    limits = read_bounds(bounds, columns, required=method == "gaussian", flags=known)
    given = read_vector("scale", scale, columns, positive=True)
    spread = np.ones(len(columns)) if given is None else given
    at = read_vector("center", center, columns)
    at = _usual(spread, limits, apart=not flags) if at is None else at
    off = read_vector("offset", offset, columns)
    off = np.zeros_like(spread) if off is None else off
    if off.any() and method != "gaussian-ellipse":
        raise InputError(f"offset is for method='gaussian-ellipse'; got method={method!r}.")
    return Question(
        scale=_of_booleans(at) if flags else spread,
        center=at,
        method=method,
        error_norm=norm,
        neighbors=neighbors,
        clip=part,
        offset=off,
        bounds=limits,
        flags=flags,
    )


def read_rows(n: object) -> int:
    """Return a number of rows, or raise `InputError`."""
    if isinstance(n, float) and n.is_integer():
        n = int(n)
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= MOST_ROWS:
        raise InputError(f"n must be a number of rows, between 1 and 2**38; got {shown(n)}.")
    return int(n)


def _part(clip: float | str, method: str) -> Clipping:
    part = check_clip(clip)
    if part == "optimal" and method != "gaussian-ellipse":
        raise InputError("clip='optimal' is for method='gaussian-ellipse'; use clip='auto'.")
    if part != "auto" and method not in ("auto", "gaussian-ellipse"):
        raise InputError(
            f"clip is for method='auto' and 'gaussian-ellipse'; got method={method!r}."
        )
    return part


def _columns(d: int | None, **given: ArrayLike | None) -> int:
    """Return the number of columns: `d`, or that of a vector with a number for each."""
    [(name, each)] = given.items()
    size = None if each is None or np.ndim(each) == 0 else len(np.asarray(each))
    if d is None and size is None:
        raise InputError(f"Give d, the number of columns, or a {name} for each column.")
    if d is None:
        return int(size or 0)
    if isinstance(d, bool) or not isinstance(d, int | np.integer) or d < 1:
        raise InputError(f"d must be a number of columns, at least 1; got {shown(d)}.")
    if size is not None and size != d:
        raise InputError(f"{name} has {size} numbers for {d} columns; give one for each.")
    return int(d)


def _usual(spread: Floats, limits: Limits | None, *, apart: bool) -> Floats:
    """Return where the means of columns lie if nobody says so: unlike each other, if `apart`."""
    usual = _USUAL_CENTER * spread
    unlike = (0.5 + _GOLDEN * np.arange(spread.size)) % 1.0 - 0.5 if apart else 0.0
    if limits is None:
        return usual + unlike * usual
    lower, upper = limits
    middle, half = 0.5 * lower + 0.5 * upper, 0.5 * upper - 0.5 * lower
    bounded = np.isfinite(middle)
    return np.asarray(np.where(bounded, middle, usual) + unlike * np.minimum(usual, half))


def _of_booleans(true: Floats) -> Floats:
    """Return the standard deviations of booleans of which such parts are true."""
    if not np.all((true > 0.0) & (true < 1.0)):
        raise InputError("The center of a boolean, the part that is true, is between 0 and 1.")
    return np.asarray(np.sqrt(true * (1.0 - true)))
