"""Rough covariances, one after the other, to see where a fine one is best measured.

Each in coordinates in which the one before is the identity: correlated columns can have variances
along some axes that are far below the noise of the first round.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.estimators.covariance.matrix import spectrum_of
from prolate.estimators.covariance.moment import Frame, Moment, Standardized, measure_moment
from prolate.estimators.covariance.spectrum import Spectrum

__all__ = ["rough_rounds", "whitening"]

_LOST = 0.25  # of the usual variance of a column: the others were clipped away
_GIVE_UP = 1.0  # spread of the last round's eigenvalues at which no more are made
_KNOWN = 1.5  # eigenvalues are known if they are so many times as large as noise may be, ...
_WELL_KNOWN, _SURE = 4.0, 8.0  # ... or well known; noise is at least four standard deviations
_SMALLEST = 1e-3  # variance that noise may leave of one


def rough_rounds(table: Standardized, share: float, most: int) -> tuple[Spectrum, Moment, int]:
    """Return what at most so many rounds of `share` each made known, the last, and how many."""
    d = table.spread.size
    frame, least = Frame.plain(d), np.full(d, -np.inf)
    rounds = 0
    while True:
        rounds += 1
        rough = measure_moment(table, frame, share=share, label="rough covariance", rough=True)
        rough = _with_variances(rough, frame.variances, least=least)
        known = _with_columns(spectrum_of(rough), table.guessed)
        edge = 2.0 * float(np.sqrt(d * rough.variance[0, 0]))
        if rounds == most or edge > _GIVE_UP or np.all(known.values > _KNOWN * known.edge):
            return known, rough, rounds
        frame, least = whitening(known, rough.mean), _least(known, edge)


def _with_columns(known: Spectrum, guessed: Bools | None) -> Spectrum:
    """Return the spectrum with what a clip took of single columns, whose variances are about 1.

    Else the axis of a column of rare values would be clipped harder each time, and end as nothing.
    """
    matrix = known.matrix
    own = np.diag(matrix)
    usual = min(float(own.max()), 1.0)
    lost = own < _LOST * usual
    if guessed is not None:
        lost &= ~guessed
    if not lost.any():
        return known
    values, vectors = np.linalg.eigh(matrix + np.diag(np.where(lost, usual - own, 0.0)))
    edge = np.sqrt(known.edge**2 @ (known.vectors.T @ vectors) ** 2)
    return Spectrum(vectors, np.maximum(values, 0.0), edge)


def whitening(known: Spectrum, mean: Floats) -> Frame:
    """Return axes of one spread, as far as that is known."""
    size = np.hypot(known.values, known.edge)
    variances = np.maximum(known.values, 0.25 * known.edge) / size
    return Frame(known.vectors / np.sqrt(size), variances, mean)


def _least(known: Spectrum, edge: float) -> Floats:
    """Return variances along these axes that a round of this noise surely finds, if well known.

    If it does not, then rows that are clipped harder than before had them.
    """
    size = np.hypot(known.values, known.edge)
    unsure = max(1.0, np.sqrt(_SURE / size.size)) * np.hypot(known.edge / size, edge)
    return np.where(known.values > _WELL_KNOWN * known.edge, known.values / size - unsure, -np.inf)


def _with_variances(moment: Moment, variances: Floats, *, least: Floats) -> Moment:
    """Return the moment with these variances along its axes, where it has less than the least."""
    own = np.diag(moment.value)
    part = np.where(own < least, np.maximum(own, _SMALLEST) / variances, 1.0)
    return replace(moment, axes=moment.axes * np.sqrt(part))
