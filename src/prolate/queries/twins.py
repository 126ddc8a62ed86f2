"""The kernels of `prolate.queries.kernels` in plain NumPy, under the same names.

They run for little work, and where numba is not installed; tests hold the compiled ones
against them.
"""

from __future__ import annotations

import numpy as np

from prolate.arrays import Bools, Floats, Integers
from prolate.queries.doubles import EXACT

__all__ = [
    "clip_factors",
    "clipped_steps",
    "clipped_sum",
    "cut",
    "edge_histogram",
    "farthest",
    "linear_histogram",
    "magnitude_histogram",
    "norm_cells",
    "norms",
    "pooled_histogram",
    "products",
    "tally",
    "turn",
]

_ROWS = 1 << 28  # integers up to 2**24 that sum exactly within 2**53


def clipped_sum(
    rows: Floats,
    center: Floats | None,
    gain: Floats,
    lower: Floats | None,
    upper: Floats | None,
    about: Floats | None,
    missing: Floats,
    radius: float,
    middle: float,
    half: float,
    total: Integers,
) -> None:
    """Add every row's vector to `total`."""
    cap = 2.0 * radius
    with np.errstate(over="ignore", invalid="ignore"):
        value = _inside(rows, lower, upper)
        value = value if about is None else (value - about) * (value - about)
        # From here on in place: new memory takes as long as the work.
        steps = rows - value if center is None else value - center
        steps *= gain
        np.rint(steps, out=steps)
    # Integers, none negative: exact in any order as long as they sum up to less than 2**53, and
    # 2**53 or more if they do not.
    square = np.einsum("ij,ij->i", steps, steps)
    if lower is not None or not np.all(square <= cap * cap):  # some are to be cut, or missing
        np.clip(steps, -cap, cap, out=steps)
        np.copyto(steps, missing, where=~np.isfinite(rows))
        square = np.minimum(np.einsum("ij,ij->i", steps, steps), EXACT)
    factor = clip_factors(square, missing.size, radius, middle, half)
    long = np.flatnonzero(factor != 1.0)
    if 2 * long.size > factor.size:
        steps *= factor[:, np.newaxis]
        np.rint(steps, out=steps)
    elif long.size:
        steps[long] = np.rint(steps[long] * factor[long, np.newaxis])
    # Integers up to 2**24, some of them at a time, so exact in a double.
    for start in range(0, len(steps), _ROWS):
        total += steps[start : start + _ROWS].sum(axis=0).astype(np.int64)


def clip_factors(square: Floats, d: int, radius: float, middle: float, half: float) -> Floats:
    """Return what the steps of rows are multiplied by; see `kernels.clipped_sum`."""
    cap, inside = 2.0 * radius, (radius - 0.5 * float(np.sqrt(float(d)))) * (1.0 - 2.0**-40)
    root = np.sqrt(np.where(square < EXACT, square, max(d * cap * cap, EXACT)))
    if half > 0.0:
        weight: Floats = np.clip((square - middle) / half, -1.0, 1.0)
        return weight * (inside / np.maximum(root, radius))
    factor = np.ones(square.size)
    long = square > radius * radius
    factor[long] = inside / root[long]
    return factor


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
    factors: Floats,
) -> None:
    """Write every row's clipped integer vector into `steps`, and its factor; see `Gram`."""
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
    factors[:] = 1.0
    factors[long] = inner / np.sqrt(square[long])
    norm[long] = np.rint(norm[long] * factors[long, None])


def linear_histogram(rows: Floats, low: Floats, per_unit: Floats, total: Integers) -> None:
    """Count each column's values into `total`, (d, cells + 2); see `LinearGrid`."""
    with np.errstate(all="ignore"):
        place = rows - low
        place *= per_unit
        place += 1.0
    np.fmax(place, 0.0, out=place)
    cell = np.minimum(place, float(total.shape[1] - 1), out=place).astype(np.int64)
    tally(cell, np.isfinite(rows), total)


def magnitude_histogram(
    rows: Floats, center: Floats, first: Integers, shift: int, total: Integers
) -> None:
    """Count each column's |x - center| into `total`, (d, cells); see `MagnitudeGrid`."""
    finite = np.isfinite(rows)
    tally(_magnitude_cells(rows, finite, center, first, shift, total.shape[1]), finite, total)


def pooled_histogram(
    rows: Floats, center: Floats, first: Integers, shift: int, total: Integers
) -> None:
    """Count |x - center| of all columns by bit pattern into `total`, (cells,)."""
    finite = np.isfinite(rows)
    cell = _magnitude_cells(rows, finite, center, first, shift, total.size)
    flat = cell.ravel() if np.all(finite) else cell[finite]
    total += np.bincount(flat, minlength=total.size)


def _magnitude_cells(
    rows: Floats, finite: Bools, center: Floats, first: Integers, shift: int, cells: int
) -> Integers:
    with np.errstate(all="ignore"):
        magnitude = np.ascontiguousarray(rows - center)
        np.abs(magnitude, out=magnitude)
    np.copyto(magnitude, 0.0, where=~finite)
    cell = magnitude.view(np.int64)
    cell >>= shift
    cell -= first
    return np.clip(cell, 0, cells - 1, out=cell)


def edge_histogram(rows: Floats, edge: Floats, index: Integers, total: Integers) -> None:
    """Count the values of columns between rising edges into `total`; see `EdgesGrid`."""
    rows = rows[:, index]
    lowest = np.full((len(edge), 1), -np.inf)
    edges = np.concatenate([lowest, edge], axis=1)
    reaching = np.zeros((len(edge), edges.shape[1] + 1), dtype=np.int64)
    with np.errstate(invalid="ignore"):
        finite = rows + (rows - rows)  # infinite ones become no numbers, which reach no edge
        if len(rows) > len(edge):
            for j, values in enumerate(np.ascontiguousarray(finite.T)):
                reaching[j, :-1] = [np.count_nonzero(values >= one) for one in edges[j]]
        else:
            for k, some in enumerate(edges.T):
                reaching[:, k] = np.count_nonzero(finite >= some, axis=0)
    total -= np.diff(reaching, axis=1)


def tally(cell: Integers, counted: Bools, total: Integers) -> None:
    """Count the cells of the values of each column that are `counted`; `cell` is overwritten."""
    d, cells = total.shape
    cell += np.arange(d) * cells
    flat = cell.ravel() if np.all(counted) else cell[counted]
    total += np.bincount(flat, minlength=d * cells).reshape(d, cells)


def norms(
    rows: Floats,
    center: Floats,
    gain: Floats,
    lower: Floats | None,
    upper: Floats | None,
    about: Floats | None,
) -> Floats:
    """Return |(v - center) * gain|_2 of each row."""
    with np.errstate(over="ignore", invalid="ignore"):
        value = _inside(rows, lower, upper)
        value = value if about is None else (value - about) ** 2
        y = value - center
        y *= gain
        y *= y
        np.copyto(y, 0.0, where=~np.isfinite(rows))
        square = np.zeros(len(rows))
        for column in np.ascontiguousarray(y.T):  # in the order of columns
            square += column
    return np.asarray(np.minimum(np.sqrt(square), np.finfo(np.float64).max))


def norm_cells(
    rows: Floats,
    center: Floats,
    gain: Floats,
    edges: Floats,
    lower: Floats | None,
    upper: Floats | None,
    about: Floats | None,
) -> Integers:
    """Return how many of the rising `edges` each row's norm reaches."""
    lengths = norms(rows, center, gain, lower, upper, about)
    return np.searchsorted(edges, lengths, side="right")


def farthest(
    rows: Floats, center: Floats, gain: Floats, lower: Floats | None, upper: Floats | None
) -> tuple[Floats, Integers]:
    """Return each row's largest |(x - center) gain| and the first column that has it."""
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.abs((_inside(rows, lower, upper) - center) * gain)
    away[~np.isfinite(rows) | np.isnan(away)] = 0.0
    which = np.argmax(away, axis=1)
    return away[np.arange(len(rows)), which], which


def _inside(rows: Floats, lower: Floats | None, upper: Floats | None) -> Floats:
    value = rows if lower is None else np.maximum(rows, lower)
    return value if upper is None else np.minimum(value, upper)


def cut(rows: Floats, lower: Floats, upper: Floats) -> Floats:
    """Return values with finite ones cut to [lower, upper]; see `Cut`."""
    inside = np.where(rows < lower, lower, np.where(rows > upper, upper, rows))
    return np.where(np.isfinite(rows), inside, rows)


def turn(rows: Floats, center: Floats, matrix: Floats) -> Floats:
    """Return (x - center) @ matrix of each row, missing values counting as the center."""
    out = np.zeros((rows.shape[0], matrix.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = np.where(np.isfinite(rows), rows - center, 0.0)
        for j in range(center.size):
            out += deviation[:, j : j + 1] * matrix[j]
    return out


def products(rows: Floats, center: Floats, scale: Floats) -> Floats:
    """Return the products of the scaled columns of each row; see `Products`."""
    with np.errstate(over="ignore", invalid="ignore"):
        z = np.where(np.isfinite(rows), (rows - center) / scale, 0.0)
    z = np.minimum(np.maximum(z, -1e100), 1e100)
    first, second = np.triu_indices(center.size)
    return np.asarray(z[:, first] * np.where(first == second, 1.0, np.sqrt(2.0)) * z[:, second])
