"""What histograms of ever narrower windows say together about where a column is, and how wide.

Each histogram has equal cells in a window of its column, and one beyond it on either side. It is
matched with normal curves of many places and widths, and with pairs of values, as flags have. In
units of a window the curves are the same for every column, so they are worked out once, of so many
places and widths that those of the next window are among them, as good as exactly. Windows that are
narrower still are as good as points in this one: it tells no more of what is where in them.

All of it is arithmetic on noisy measurements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from prolate.estimators.search.pooling import pooled_posterior
from prolate.queries import LinearGrid

__all__ = ["MISFIT", "Look", "match", "narrower", "wider"]

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

MISFIT = 0.03
"""Part of the rows by which a cell may differ from a normal curve's."""

_CELLS = 12
_WITHIN, _BEYOND = 24, 6  # candidates for places on either side, in a window and near it
_FINER, _FARTHER = 48, 6  # curves from one to the next; and of as many as these farther away
_FINEST = 14  # widths below half the window, each narrower than the one before by this
_STEP = math.sqrt(2.0)
_UPPER = (0.5, 0.25, 0.75)  # parts of the rows that have the upper of two values
_BLUR = 0.7  # deviations over which either of these is spread evenly
_RARER = 2.5  # by its logarithm, each kind of pair than a normal curve
_MOST_STEPS, _STEPS_BACK = 7, 6  # from a window to the next; and where a column was left behind
_FEW, _TINY = 16, 1e-200  # columns that show nothing in common
_AT_ONCE = 32  # columns: their tables stay small

_AT = np.arange(-_WITHIN - _BEYOND, _WITHIN + _BEYOND + 1) / _WITHIN
_KINDS = np.exp([0.0] + [-_RARER] * len(_UPPER))  # how likely each is
_WIDTHS = _STEP ** np.arange(-float(_FINEST), 0.5)  # over half the window
_NARROWER = 6  # widths of later windows' columns, that are as good as none in this one


@dataclass(frozen=True, eq=False)
class Look:
    """A histogram of some columns.

    Attributes
    ----------
    center, half : float64 arrays of shape (d,)
        The middle of the window, and half its width.
    parts : float64 array of shape (d, 14)
        Of the rows, in each cell; the first and the last are beyond the window.
    noise : float64 array of shape (d,)
        Of these; infinite for columns that were not asked.
    """

    center: Floats
    half: Floats
    parts: Floats
    noise: Floats

    @staticmethod
    def grid(center: Floats, half: Floats) -> LinearGrid:
        """Return the cells that are counted."""
        return LinearGrid(center - half, half * (2.0 / _CELLS), _CELLS)

    @property
    def cell(self) -> Floats:
        """The width of a cell, per column."""
        return self.half * (2.0 / _CELLS)

    @property
    def beyond(self) -> Floats:
        """Part of the rows that are beyond the window, per column."""
        return self.parts[:, 0] + self.parts[:, -1]

    def of(self, index: Integers | slice) -> Look:
        """Return that of some columns."""
        return Look(self.center[index], self.half[index], self.parts[index], self.noise[index])


def wider(look: Look) -> tuple[Floats, Floats]:
    """Return the middle and half the width of a window on the side where most values are."""
    half = look.half * _STEP**_STEPS_BACK
    upwards = look.parts[:, -1] > look.parts[:, 0]
    return look.center + np.where(upwards, half, -half), half


def narrower(half: Floats, wanted: Floats) -> Floats:
    """Return half the width of the next window: about what is wanted, and in whole steps."""
    steps = np.floor(np.log(half / wanted) / math.log(_STEP))
    return half * _STEP ** -np.clip(steps, 0.0, _MOST_STEPS)


def match(looks: list[Look]) -> tuple[Floats, Floats, Floats]:
    """Return the posterior's center, spread, and doubt of the center, of each column.

    Parameters
    ----------
    looks : list of Look
        Of the same columns. The last one's window is the one that counts: about inside of the
        others, and narrower by whole steps.
    """
    d = looks[0].center.size
    pieces = [slice(k, k + _AT_ONCE) for k in range(0, d, _AT_ONCE)]
    found = [_match([look.of(piece) for look in looks]) for piece in pieces]
    mass, first, second = (np.concatenate(each) for each in zip(*found, strict=True))
    if d > _FEW:  # noise makes some look wide, or narrow, that are as the others are
        likely = np.log(np.maximum(mass, _TINY))
        pooled = pooled_posterior(likely, np.zeros(d, dtype=np.int64), width=3)
    else:
        pooled = mass
    middle, square = (np.sum(pooled * each, axis=1) for each in (first, second))
    doubt = np.sqrt(np.maximum(square - middle**2, 0.0))
    center, half = looks[-1].center, looks[-1].half
    return center + half * middle, half * np.exp(pooled @ np.log(_WIDTHS)), half * doubt


def _match(looks: list[Look]) -> tuple[Floats, Floats, Floats]:
    """Return how likely each width is, and where the column is then: the mean, and of squares."""
    center, half = looks[-1].center, looks[-1].half
    fit = sum(_fit(look, center, half) for look in looks)
    fit -= np.max(fit, axis=(1, 2, 3), keepdims=True)
    posterior = np.exp(fit) @ _KINDS  # (d, widths, places)
    # As likely in every octave, of places and widths.
    posterior /= np.abs((center / half)[:, np.newaxis, np.newaxis] + _AT) + _WIDTHS[:, np.newaxis]
    mass = posterior.sum(axis=2)
    each = np.maximum(mass, _TINY)
    return mass / mass.sum(axis=1)[:, np.newaxis], posterior @ _AT / each, posterior @ _AT**2 / each


def _fit(look: Look, center: Floats, half: Floats) -> Floats:
    """Return how well the curves of windows inside of a look's fit it, as a logarithm.

    Of shape (d, widths, places, kinds).
    """
    curves, squares = _curves()
    moved, ratio = (center - look.center) / look.half, half / look.half
    steps = np.rint(-np.log(ratio) / math.log(_STEP)).astype(np.intp)
    width = np.arange(_WIDTHS.size) + _NARROWER - steps[:, np.newaxis]
    finer = (moved[:, np.newaxis] + ratio[:, np.newaxis] * _AT) * (_WITHIN * _FINER)
    middle = curves.shape[1] // 2
    at = np.clip(np.rint(finer), -middle, middle).astype(np.intp) + middle
    which = np.clip(width, 0, len(curves) - 1)[:, :, np.newaxis], at[:, np.newaxis, :]
    expected = curves[which]
    shape = expected.shape[:-1]
    parts = look.parts.astype(np.float32)[:, :, np.newaxis]
    fit = (expected.reshape(len(parts), -1, parts.shape[1]) @ parts).reshape(shape)
    fit -= squares[which]
    # Of windows that are narrower still it tells that all is in them, not where.
    weight = np.where(steps > _MOST_STEPS, 0.0, 1.0 / (look.noise**2 + MISFIT**2))
    return np.asarray(fit * weight[:, np.newaxis, np.newaxis, np.newaxis])


@lru_cache(maxsize=1)
def _curves() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return each curve's part of the rows in every cell, and half the sum of their squares.

    Of shape (widths, places, kinds, cells): a normal curve, and pairs of values.
    """
    from scipy.special import ndtr

    edges = np.linspace(-1.0, 1.0, _CELLS + 1)
    reach = (_WITHIN + _BEYOND + _FARTHER) * _FINER
    places = np.arange(-reach, reach + 1) / (_WITHIN * _FINER)
    widths = np.concatenate([_WIDTHS[0] * _STEP ** np.arange(-float(_NARROWER), 0.0), _WIDTHS])
    curves = np.empty((widths.size, places.size, len(_KINDS), _CELLS + 2), dtype=np.float32)
    for width, found in zip(widths, curves, strict=True):
        away = (edges - places[:, np.newaxis]) / width
        below = [ndtr(away)]
        for part in _UPPER:
            up, down = math.sqrt((1.0 - part) / part), -math.sqrt(part / (1.0 - part))
            upper, lower = (np.clip((away - at) / _BLUR + 0.5, 0.0, 1.0) for at in (up, down))
            below.append(part * upper + (1.0 - part) * lower)
        every = np.pad(np.stack(below, axis=1), [(0, 0), (0, 0), (1, 1)])
        every[:, :, -1] = 1.0
        found[:] = np.diff(every, axis=2)
    return curves, 0.5 * np.sum(curves**2, axis=3)
