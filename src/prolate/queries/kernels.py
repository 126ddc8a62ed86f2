"""The loops over rows, compiled, and their NumPy twins.

Each kernel comes twice: ``_name_numba``, compiled on first use, and ``name_numpy``,
which the tests hold it against and which runs where numba is not installed. Both give
the same integers: every operation on a value is a correctly rounded one in the same
order, and sums are either exact or taken column by column.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "clipped_steps",
    "clipped_steps_numpy",
    "clipped_sum",
    "clipped_sum_numpy",
    "key_histogram",
    "key_histogram_numpy",
    "linear_histogram",
    "linear_histogram_numpy",
    "magnitude_histogram",
    "magnitude_histogram_numpy",
    "norms",
    "norms_numpy",
    "products",
    "products_numpy",
    "turn",
    "turn_numpy",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_LANES = 32  # squares of integers up to 2**24 that sum exactly within 2**53
_EXACT = 2.0**53


def clipped_sum(
    rows: Floats,
    lower: Floats,
    upper: Floats,
    about: Floats,
    center: Floats,
    gain: Floats,
    missing: Floats,
    radius: float,
    middle: float,
    half: float,
    total: Integers,
) -> None:
    """Add every row's clipped integer vector to `total`; see `ClippedSum`."""
    kernel = _compiled("clipped_sum") or clipped_sum_numpy
    kernel(rows, lower, upper, about, center, gain, missing, radius, middle, half, total)


def clipped_sum_numpy(
    rows: Floats,
    lower: Floats,
    upper: Floats,
    about: Floats,
    center: Floats,
    gain: Floats,
    missing: Floats,
    radius: float,
    middle: float,
    half: float,
    total: Integers,
) -> None:
    """Twin of `clipped_sum`."""
    cap = 2.0 * radius
    d = center.size
    with np.errstate(over="ignore", invalid="ignore"):
        value = np.minimum(np.maximum(rows, lower), upper)
        squared = about == about  # noqa: PLR0124  NaN: not given
        value = np.where(squared, (value - about) * (value - about), value)
        steps = np.minimum(np.maximum(np.rint((value - center) * gain), -cap), cap)
        steps = np.where(np.isfinite(rows), steps, missing)
    square = np.zeros(rows.shape[0])
    for start in range(0, d, _LANES):
        chunk = steps[:, start : start + _LANES]
        square = np.minimum(square + np.einsum("ij,ij->i", chunk, chunk), _EXACT)
    weight = np.clip((square - middle) / half, -1.0, 1.0) if half > 0.0 else None
    long = square > radius * radius
    square[square >= _EXACT] = max(d * cap * cap, _EXACT)
    factor = np.ones(rows.shape[0])
    factor[long] = _inner(radius, d) / np.sqrt(square[long])
    if weight is not None:
        factor = weight * (_inner(radius, d) / np.sqrt(np.maximum(square, radius * radius)))
    total += np.rint(steps * factor[:, np.newaxis]).astype(np.int64).sum(axis=0)


def _inner(radius: float, d: int) -> float:
    return (radius - 0.5 * float(np.sqrt(float(d)))) * (1.0 - 2.0**-40)


def clipped_steps(
    rows: Floats,
    lower: Floats,
    upper: Floats,
    center: Floats,
    gain: Floats,
    constant: float,
    radius: float,
    cap: float,
    target: float,
    steps: Floats,
) -> None:
    """Write every row's clipped integer vector into `steps`; see `Gram`."""
    kernel = _compiled("clipped_steps") or clipped_steps_numpy
    kernel(rows, lower, upper, center, gain, constant, radius, cap, target, steps)


def clipped_steps_numpy(
    rows: Floats,
    lower: Floats,
    upper: Floats,
    center: Floats,
    gain: Floats,
    constant: float,
    radius: float,
    cap: float,
    target: float,
    steps: Floats,
) -> None:
    """Twin of `clipped_steps`."""
    d = center.size
    first = steps.shape[1] - d
    last = first + d - (1 if target >= 0.0 else 0)
    most = np.full(d, cap)
    most[last - first :] = target
    with np.errstate(over="ignore", invalid="ignore"):
        value = np.rint((np.minimum(np.maximum(rows, lower), upper) - center) * gain)
        value = np.minimum(np.maximum(value, -most), most)
    steps[:, :first] = constant
    steps[:, first:] = np.where(np.isfinite(rows), value, 0.0)
    norm = steps[:, first:last]
    square = np.sum(norm * norm, axis=1)
    long = square > radius * radius
    inner = (radius - 0.5 * np.sqrt(float(last - first))) * (1.0 - 2.0**-40)
    norm[long] = np.rint(norm[long] * (inner / np.sqrt(square[long]))[:, None])


def linear_histogram(rows: Floats, low: Floats, width: Floats, cells: int, total: Integers) -> None:
    """Count each column's values into `total`, (d, cells + 2); see `LinearGrid`."""
    kernel = _compiled("linear_histogram") or linear_histogram_numpy
    kernel(rows, low, width, cells, total)


def linear_histogram_numpy(
    rows: Floats, low: Floats, width: Floats, cells: int, total: Integers
) -> None:
    """Twin of `linear_histogram`."""
    with np.errstate(all="ignore"):
        place = np.floor((rows - low) / width)
        place = np.where(np.isnan(place), 0.0, np.minimum(np.maximum(place, -1.0), float(cells)))
    _tally(place.astype(np.int64) + 1, np.isfinite(rows), total)


def magnitude_histogram(
    rows: Floats, center: Floats, first: Integers, shift: int, total: Integers
) -> None:
    """Count each column's |x - center| into `total`, (d, cells); see `MagnitudeGrid`."""
    kernel = _compiled("magnitude_histogram") or magnitude_histogram_numpy
    kernel(rows, center, first, shift, total)


def magnitude_histogram_numpy(
    rows: Floats, center: Floats, first: Integers, shift: int, total: Integers
) -> None:
    """Twin of `magnitude_histogram`."""
    with np.errstate(all="ignore"):
        magnitude = np.where(np.isfinite(rows), np.abs(rows - center), 0.0)
    cell = (np.ascontiguousarray(magnitude).view(np.int64) >> shift) - first
    cell = np.minimum(np.maximum(cell, 0), total.shape[1] - 1)
    _tally(cell, np.isfinite(rows), total)


def key_histogram(
    rows: Floats, index: Integers, first: Integers, shift: int, total: Integers
) -> None:
    """Count the order-preserving keys of columns `index` into `total`; see `KeyHistogram`."""
    kernel = _compiled("key_histogram") or key_histogram_numpy
    kernel(rows, index, first, shift, total)


def key_histogram_numpy(
    rows: Floats, index: Integers, first: Integers, shift: int, total: Integers
) -> None:
    """Twin of `key_histogram`."""
    patterns = rows.view(np.int64)[:, index]
    keys = np.where(patterns >= 0, patterns, -(patterns & np.int64(2**63 - 1)))
    cell = np.clip((keys >> shift) - first, -1, total.shape[1] - 2) + 1
    _tally(cell, np.isfinite(rows[:, index]), total)


def _tally(cell: Integers, counted: NDArray[np.bool_], total: Integers) -> None:
    d, cells = total.shape
    flat = (cell + np.arange(d) * cells)[counted]
    total += np.bincount(flat, minlength=d * cells).reshape(d, cells)


def norms(rows: Floats, about: Floats, center: Floats, gain: Floats) -> Floats:
    """Return |(v - center) * gain|_2 of each row; see `NormHistogram`."""
    kernel: Callable[..., Floats] = _compiled("norms") or norms_numpy
    return kernel(rows, about, center, gain)


def norms_numpy(rows: Floats, about: Floats, center: Floats, gain: Floats) -> Floats:
    """Twin of `norms`."""
    square = np.zeros(rows.shape[0])
    with np.errstate(over="ignore", invalid="ignore"):
        for j in range(rows.shape[1]):
            value = rows[:, j]
            if not np.isnan(about[j]):
                value = (value - about[j]) * (value - about[j])
            y = (value - center[j]) * gain[j]
            square += np.where(np.isfinite(rows[:, j]), y * y, 0.0)
    return np.asarray(np.minimum(np.sqrt(square), np.finfo(np.float64).max))


def turn(rows: Floats, center: Floats, matrix: Floats) -> Floats:
    """Return (x - center) @ matrix of each row, missing values counting as the center."""
    kernel: Callable[..., Floats] = _compiled("turn") or turn_numpy
    return kernel(rows, center, matrix)


def turn_numpy(rows: Floats, center: Floats, matrix: Floats) -> Floats:
    """Twin of `turn`."""
    out = np.zeros(rows.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = np.where(np.isfinite(rows), rows - center, 0.0)
        for j in range(center.size):
            out += deviation[:, j : j + 1] * matrix[j]
    return out


def products(rows: Floats, center: Floats, scale: Floats) -> Floats:
    """Return the products of the scaled columns of each row; see `Products`."""
    kernel: Callable[..., Floats] = _compiled("products") or products_numpy
    return kernel(rows, center, scale)


def products_numpy(rows: Floats, center: Floats, scale: Floats) -> Floats:
    """Twin of `products`."""
    with np.errstate(over="ignore", invalid="ignore"):
        z = np.where(np.isfinite(rows), (rows - center) / scale, 0.0)
    z = np.minimum(np.maximum(z, -1e100), 1e100)
    first, second = np.triu_indices(center.size)
    return np.asarray(z[:, first] * np.where(first == second, 1.0, np.sqrt(2.0)) * z[:, second])


@cache
def _compiled(name: str) -> Callable[..., Any] | None:
    """Return the compiled kernel `name`, or None where numba is not installed."""
    try:
        from prolate.queries import _compiled as module
    except (ImportError, RuntimeError):  # not installed, or no folder for its cache
        return None
    kernel: Callable[..., Any] = getattr(module, name)
    return kernel
