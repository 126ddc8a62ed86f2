"""What histograms of ever narrower windows say together about where a column is, and how wide.

Each histogram has equal cells in a window of its column, and one beyond it on either side. It is
matched with curves of many places, widths and kinds (`curves.py`), so many that those of the next
window are among them, as good as exactly. Windows that are narrower still are as good as points in
this one: it tells no more of what is where in them.

All of it is arithmetic on noisy measurements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats
from prolate.estimators.search.curves import (
    AT,
    CELLS,
    FINER,
    KINDS,
    NARROWER,
    SKEWED,
    STEP,
    TAILS,
    WIDTHS,
    curves,
)
from prolate.estimators.search.pooling import pooled_posterior
from prolate.queries import LinearGrid

__all__ = ["MISFIT", "Look", "Matched", "match", "narrower", "wider"]

Integers = NDArray[np.intp]

MISFIT = 0.03
"""Part of the rows by which a cell may differ from its curve's."""

_MOST_STEPS, _STEPS_BACK = 7, 6  # from a window to the next; and where a column was left behind
_FEW, _TINY = 16, 1e-200  # columns that show nothing in common
_ROUNDS = 10  # of what kinds columns are, and what is common
_AT_ONCE = 12  # columns: their tables stay small


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
        return LinearGrid(center - half, half * (2.0 / CELLS), CELLS)

    @property
    def cell(self) -> Floats:
        """The width of a cell, per column."""
        return self.half * (2.0 / CELLS)

    @property
    def beyond(self) -> Floats:
        """Part of the rows that are beyond the window, per column."""
        return self.parts[:, 0] + self.parts[:, -1]

    def of(self, index: Integers | slice) -> Look:
        """Return that of some columns."""
        return Look(self.center[index], self.half[index], self.parts[index], self.noise[index])


@dataclass(frozen=True, eq=False)
class Matched:
    """What a posterior says of each column.

    Attributes
    ----------
    center, spread : float64 arrays of shape (d,)
        Its mean and standard deviation.
    doubt : float64 array of shape (d,)
        The standard deviation of the error in its mean.
    skewed : float64 array of shape (d,)
        How likely it has a tail on one side.
    tail : float64 array of shape (d,)
        Part of the rows that make that tail, if it has one.
    """

    center: Floats
    spread: Floats
    doubt: Floats
    skewed: Floats
    tail: Floats


def wider(look: Look) -> tuple[Floats, Floats]:
    """Return the middle and half the width of a window on the side where most values are."""
    half = look.half * STEP**_STEPS_BACK
    upwards = look.parts[:, -1] > look.parts[:, 0]
    return look.center + np.where(upwards, half, -half), half


def narrower(half: Floats, wanted: Floats) -> Floats:
    """Return half the width of the next window: about what is wanted, and in whole steps."""
    steps = np.floor(np.log(half / wanted) / math.log(STEP))
    return half * STEP ** -np.clip(steps, 0.0, _MOST_STEPS)


def match(looks: list[Look]) -> Matched:
    """Return what is likely of each column.

    Parameters
    ----------
    looks : list of Look
        Of the same columns. The last one's window is the one that counts: about inside of the
        others, and narrower by whole steps.
    """
    d = looks[0].center.size
    pieces = [slice(k, k + _AT_ONCE) for k in range(0, d, _AT_ONCE)]
    found = [_match([look.of(piece) for look in looks]) for piece in pieces]
    by_kind, first, second = (np.concatenate(each) for each in zip(*found, strict=True))
    kinds = _common_kinds(by_kind.sum(axis=1)) if d > _FEW else KINDS
    mass = by_kind @ kinds
    mass /= mass.sum(axis=1)[:, np.newaxis]
    kind = by_kind.sum(axis=1) * kinds
    skewed = kind[:, SKEWED].sum(axis=1)
    if d > _FEW:  # noise makes some look wide, or narrow, that are as the others are
        likely = np.log(np.maximum(mass, _TINY))
        mass = pooled_posterior(likely, np.zeros(d, dtype=np.int64), width=3)
    total = np.maximum(by_kind @ kinds, _TINY)
    middle, square = (np.sum(mass * (each @ kinds) / total, axis=1) for each in (first, second))
    doubt = np.sqrt(np.maximum(square - middle**2, 0.0))
    center, half = looks[-1].center, looks[-1].half
    return Matched(
        center + half * middle,
        spread=half * np.exp(mass @ np.log(WIDTHS)),
        doubt=half * doubt,
        skewed=skewed / kind.sum(axis=1),
        tail=(kind[:, SKEWED] @ TAILS + _TINY) / (skewed + _TINY),
    )


def _match(looks: list[Look]) -> tuple[Floats, Floats, Floats]:
    """Return how likely each width and kind is; times where the column is then; and its square.

    Each of shape (d, widths, kinds).
    """
    center, half = looks[-1].center, looks[-1].half
    fit = sum(_fit(look, center, half) for look in looks)
    fit -= np.max(fit, axis=(1, 2, 3), keepdims=True)
    # As likely in every octave, of places and widths.
    octave = np.abs((center / half)[:, np.newaxis, np.newaxis] + AT) + WIDTHS[:, np.newaxis]
    likely = np.swapaxes(np.exp(fit) / octave[..., np.newaxis], 2, 3)
    return likely.sum(axis=3), likely @ AT, likely @ AT**2


def _common_kinds(by_kind: Floats) -> Floats:
    """Return how likely each kind is in a table of many columns, by what is seen of them all."""
    prior = KINDS / KINDS.sum()
    kinds = prior
    for _ in range(_ROUNDS):
        each = by_kind * kinds
        each /= np.maximum(each.sum(axis=1), _TINY)[:, np.newaxis]
        kinds = (_FEW * prior + each.sum(axis=0)) / (_FEW + len(each))
    return np.asarray(kinds)


def _fit(look: Look, center: Floats, half: Floats) -> Floats:
    """Return how well the curves of windows inside of a look's fit it, as a logarithm.

    Of shape (d, widths, places, kinds).
    """
    table, squares = curves()
    moved, ratio = (center - look.center) / look.half, half / look.half
    steps = np.rint(-np.log(ratio) / math.log(STEP)).astype(np.intp)
    width = np.arange(WIDTHS.size) + NARROWER - steps[:, np.newaxis]
    finer = (moved[:, np.newaxis] + ratio[:, np.newaxis] * AT) * FINER
    middle = table.shape[1] // 2
    at = np.clip(np.rint(finer), -middle, middle).astype(np.intp) + middle
    which = np.clip(width, 0, len(table) - 1)[:, :, np.newaxis], at[:, np.newaxis, :]
    expected = table[which]
    shape = expected.shape[:-1]
    parts = look.parts.astype(np.float32)[:, :, np.newaxis]
    fit = (expected.reshape(len(parts), -1, parts.shape[1]) @ parts).reshape(shape)
    fit -= squares[which]
    # Of windows that are narrower still it tells that all is in them, not where.
    weight = np.where(steps > _MOST_STEPS, 0.0, 1.0 / (look.noise**2 + MISFIT**2))
    return np.asarray(fit * weight[:, np.newaxis, np.newaxis, np.newaxis])
