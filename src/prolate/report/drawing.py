"""Coordinates of the figures. All are percent of a figure's width and height.

The templates draw with them, in SVG that is stretched to whatever room there is; so there
is no text in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats
from prolate.release.plot import comparable

__all__ = [
    "ErrorBar",
    "Mark",
    "Profile",
    "draw_errors",
    "draw_profile",
    "draw_together",
    "shade",
    "shrunk",
    "ticks",
]

_LARGEST = np.finfo(float).max
_MARGIN = 6.0  # percent on both sides of a scale
_SHADES = 5
_MOST_DECADES = 12  # of a profile: what is smaller has no height
_FAR_WIDER, _FAR_AWAY = 5.0, 3.0  # than the median width; in distances of the quartiles
_MOST_BINS = 400  # bars of a profile: more cannot be told apart


@dataclass(frozen=True)
class Mark:
    """A labelled place on an axis."""

    at: float
    label: str


@dataclass(frozen=True)
class ErrorBar:
    """An estimate with its whole interval and the part of it that is noise."""

    at: float
    low: float
    high: float
    noise_low: float
    noise_high: float
    zero: float | None


@dataclass(frozen=True)
class Profile:
    """Sizes of noise as bars on a log scale, the largest first, and of other errors as ticks.

    Attributes
    ----------
    bars, ticks : str
        Paths of SVG; `ticks` is empty where there are none.
    axis : list of Mark
        Percent from the bottom.
    order : list of int
        Which of the sizes the bars are, from the left.
    """

    bars: str
    ticks: str
    axis: list[Mark]
    order: list[int]


def draw_errors(
    estimate: Floats,
    low: Floats,
    high: Floats,
    noise: Floats,
    group: NDArray[np.intp],
    *,
    zero: bool,
) -> tuple[list[ErrorBar], list[Mark]]:
    """Return an error bar for every estimate, and the marks of their axis.

    Parameters
    ----------
    estimate, low, high, noise : float64 arrays of shape (k,)
        Estimates, the ends of their intervals, the standard deviations of their noise.
    group : integer array of shape (k,)
        Rows of one group, 0, 1, ..., always share a scale.
    zero : bool
        Whether scales that are not common to all rows reach to 0.

    Returns
    -------
    bars : list of ErrorBar
    axis : list of Mark
        Empty if each group has a scale of its own.
    """
    low, high = np.clip(low, -_LARGEST, _LARGEST), np.clip(high, -_LARGEST, _LARGEST)
    unit = max(float(np.max(np.abs([low, high]))), np.finfo(float).tiny)
    with np.errstate(under="ignore"):  # of others that are far larger
        estimate, low, high, noise = estimate / unit, low / unit, high / unit, noise / unit
    count = int(group.max()) + 1
    start, end = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(start, group, low)
    np.maximum.at(end, group, high)
    shared = count > 1 and comparable(start, end)
    if shared:
        start[:], end[:] = start.min(), end.max()
    elif zero:
        start, end = np.minimum(start, 0.0), np.maximum(end, 0.0)
    bars = _bars(estimate, low, high, noise, start[group], end[group])
    return bars, _marks(float(start[0]), float(end[0]), unit) if shared else []


def draw_together(
    estimate: Floats, low: Floats, high: Floats, noise: Floats
) -> tuple[list[ErrorBar], list[Mark]]:
    """Return an error bar for every estimate, all on one scale, and the marks of their axis.

    Parameters are as for `draw_errors`. Where most intervals could not be seen on a scale of all,
    it leaves out those that are far wider than others, and those that lie far from the others;
    they run to the edge.
    """
    low, high = np.clip(low, -_LARGEST, _LARGEST), np.clip(high, -_LARGEST, _LARGEST)
    unit = max(float(np.max(np.abs([low, high]))), np.finfo(float).tiny)
    estimate, low, high, noise = estimate / unit, low / unit, high / unit, noise / unit
    seen = np.ones(low.size, dtype=bool)
    if not comparable(low, high):
        width = high - low
        seen = width <= _FAR_WIDER * np.median(width)
        first, third = np.quantile(estimate[seen], [0.25, 0.75])
        away = np.maximum(first - estimate, estimate - third)
        seen &= away <= _FAR_AWAY * max(third - first, float(np.median(width)))
    start, end = float(low[seen].min()), float(high[seen].max())
    ones = np.ones(low.size)
    bars = _bars(estimate, low, high, noise, start * ones, end * ones)
    return bars, _marks(start, end, unit)


def _bars(
    estimate: Floats, low: Floats, high: Floats, noise: Floats, start: Floats, end: Floats
) -> list[ErrorBar]:
    """Return error bars, each on a scale from its start to its end, and to the edge beyond."""
    start, width = _opened(start, end)

    def place(values: Floats) -> list[float]:
        with np.errstate(over="ignore"):  # far beyond the edge
            part = _MARGIN + (100.0 - 2.0 * _MARGIN) * (values - start) / width
        return [round(float(x), 2) for x in np.clip(part, 0.0, 100.0)]

    origin = place(np.zeros(estimate.size))
    inside = (start <= 0.0) & (start + width >= 0.0)
    at, left, right = place(estimate), place(low), place(high)
    noise_left, noise_right = place(estimate - noise), place(estimate + noise)
    return [
        ErrorBar(
            at=at[i],
            low=left[i],
            high=right[i],
            noise_low=noise_left[i],
            noise_high=noise_right[i],
            zero=origin[i] if inside[i] else None,
        )
        for i in range(estimate.size)
    ]


def _opened(start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Return the starts and widths of scales, none of which is a single point."""
    flat = end <= start
    return np.where(flat, start - 0.5, start), np.where(flat, 1.0, end - start)


def _marks(start: float, end: float, unit: float) -> list[Mark]:
    """Return the marks of a scale that is stated in a unit."""
    low, width = (float(x) for x in _opened(np.array(start), np.array(end)))
    values = ticks(low * unit, (low + width) * unit, 3)
    marks = _MARGIN + (100.0 - 2.0 * _MARGIN) * (np.array(values) / unit - low) / width
    return [Mark(round(float(x), 2), f"{v:.6g}") for x, v in zip(marks, values, strict=True)]


def ticks(low: float, high: float, count: int) -> list[float]:
    """Return about `count` round numbers within an interval.

    Examples
    --------
    >>> ticks(0.3, 9.7, 4)
    [2.0, 4.0, 6.0, 8.0]
    """
    rough = high / count - low / count
    if not (0.0 < rough < math.inf):
        return [low]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((m * power for m in (1.0, 2.0, 5.0) if m * power >= rough * 0.8), 10.0 * power)
    if not step > 0.0:
        return [low]
    first, last = math.ceil(low / step), math.floor(high / step)
    return [float(f"{i * step:.12g}") for i in range(first, min(last, first + 10) + 1)]


def draw_profile(noise: Floats, other: Floats | None) -> Profile | None:
    """Return the profile of noises, or None if fewer than two are above 0.

    Parameters
    ----------
    noise : float64 array of shape (k,)
        Sizes; those that are 0 are left out.
    other : float64 array of shape (k,), optional
        Sizes of other errors, to compare.
    """
    order = np.argsort(-noise, kind="stable")
    order = order[noise[order] > 0.0]
    if order.size < 2:
        return None
    shown = order
    if order.size > _MOST_BINS:
        shown = order[np.linspace(0, order.size - 1, _MOST_BINS).round().astype(int)]
    sizes = [noise[shown]] + ([] if other is None else [other[shown]])
    known = np.concatenate(sizes)
    exponent = np.log10(known[known > 0.0])
    top = math.ceil(exponent.max() + 0.02)
    bottom = max(math.floor(exponent.min() - 0.1), top - _MOST_DECADES)

    def height(values: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            part = (np.log10(values) - bottom) / (top - bottom)
        return np.asarray(100.0 * np.maximum(part, 0.0))

    step = 100.0 / shown.size
    gap = 0.15 * step if shown.size <= _MOST_BINS / 4 else 0.0
    bars = "".join(
        f"M{i * step + gap:.2f} 100V{100.0 - y:.2f}H{(i + 1) * step - gap:.2f}V100Z"
        for i, y in enumerate(height(sizes[0]))
    )
    marks = ""
    if other is not None:
        marks = "".join(
            f"M{i * step:.2f} {100.0 - y:.2f}H{(i + 1) * step:.2f}"
            for i, y in enumerate(height(sizes[1]))
            if y > 0.0
        )
    every = max(1, math.ceil((top - bottom) / 4))
    axis = [
        Mark(100.0 * (e - bottom) / (top - bottom), f"{10.0**e:g}" if -5 < e < 6 else f"1e{e}")
        for e in range(bottom, top + 1, every)
    ]
    return Profile(bars, marks, axis, [int(i) for i in shown])


def shade(correlation: float) -> str:
    """Return the class of a color between -1 and 1: ``n5`` to ``n1``, ``z``, ``p1`` to ``p5``.

    Examples
    --------
    >>> shade(0.93), shade(-0.31), shade(0.02)
    ('p5', 'n2', 'z')
    """
    level = round(_SHADES * min(abs(correlation), 1.0))
    return f"{'p' if correlation > 0.0 else 'n'}{level}" if level else "z"


def shrunk(matrix: Floats, most: int) -> Floats:
    """Return at most `most` rows and columns of blocks: each the value farthest from 0 in it.

    Examples
    --------
    >>> shrunk(np.array([[1.0, 0.2, 0.1], [0.2, 1.0, -0.5], [0.1, -0.5, 1.0]]), 2)
    array([[ 1. , -0.5],
           [-0.5,  1. ]])
    """
    d = matrix.shape[0]
    size = math.ceil(d / most)
    if size == 1:
        return matrix
    starts = np.arange(0, d, size)
    high = np.maximum.reduceat(np.maximum.reduceat(matrix, starts, axis=0), starts, axis=1)
    low = np.minimum.reduceat(np.minimum.reduceat(matrix, starts, axis=0), starts, axis=1)
    return np.where(high >= -low, high, low)
