"""What a regression must know before it can sum: where the rows are, and how long.

Where counts are fine, means and standard deviations (`standardize`); where they are coarse,
places and widths from as few counts as can tell (`place`); where the features cannot be seen
at all, only the target's. Where rows are many, a random sample of them is searched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.curator import Curator
from prolate.estimators.columns import SomeColumns
from prolate.estimators.lengths.norms import MeasuredNorms, measure_norms
from prolate.estimators.regression.bounded import around_middles
from prolate.estimators.regression.bounded_target import BoundedTarget, target_within_bounds
from prolate.estimators.regression.radii import enough_rows
from prolate.estimators.regression.remarks import ALIKE, hidden_target
from prolate.estimators.regression.standard import Standard
from prolate.estimators.regression.standardize import standardize
from prolate.estimators.search.far import TOO_FAR, too_far
from prolate.estimators.search.place import place
from prolate.estimators.search.spread import LARGEST
from prolate.estimators.shares import one_row_noise, part_for
from prolate.neighbors import rows_changed

__all__ = ["Found", "search"]

# Shares of the searches: enough for counts as fine as the first number (a fraction of the
# rows), if that costs no more than the second; else as fine as the third, at most the fourth.
_TARGET = (0.004, 0.03, 0.1, 0.1)
_FEATURES = (0.004, 0.045, 0.07, 0.06)
_NORMS = (0.004, 0.01, 0.02, 0.03)
_MOST_NORMS = 0.1  # of what is left, as they may be asked four times
_LEAST = 0.0004
# Where rows are many, a sample is searched: at least so many rows, and as many as make the
# fine counts cost no more than this share; but none of more cells than memory can be asked for.
_SAMPLE, _TINY_SHARE = 200_000, 0.002
_MOST_CELLS = 1 << 24
_AROUND = 0.3  # of a feature's root mean square from 0, at most, if it is around 0
# Noise of the target's counts, as a part of the rows, from which on they are coarse; and of the
# features' counts.
_COARSE, _COARSE_FEATURES = 0.05, 0.1
_HOPELESS = 0.32  # noise of the features' counts that hides where they are

_MAGNITUDE, _PLACE = (0.18, 0.25), (0.12, 0.15)
_MAGNITUDES, _PLACES = (0.18, 0.12), (0.15, 0.1)
_PLACES_MOST, _PLACE_MOST = 0.45, 0.6  # all together
_SURELY = 3.0  # standard deviations by which a mean is surely not a single value
_OFF = 0.3  # how far the target's mean may be from its center, in its deviations


@dataclass(frozen=True, eq=False)
class Found:
    """What the searches found.

    Attributes
    ----------
    standard : Standard
    norms : MeasuredNorms or None
        How long the standardized features are; None where they cannot be seen.
    sample : Curator
        Of the rows that were searched: all, or a random sample.
    warnings : tuple of str
    hidden : bool
        Whether only a single value was seen of the target.
    predicted : float, optional
        What is predicted of all rows, where noise hides how the target varies within its bounds.
    """

    standard: Standard
    norms: MeasuredNorms | None
    sample: Curator
    warnings: tuple[str, ...] = ()
    hidden: bool = False
    predicted: float | None = None


def search(curator: Curator, all_rows: float, *, fit_intercept: bool) -> Found:
    """Find the rows of a regression; the target is the last column.

    Without an intercept, features that are around 0 are standardized around it, unless some fill
    public bounds; others around their centers, as with an intercept.
    """
    k = curator.dimension - 1
    sample = curator.sampled(_sample_size(curator), all_rows)
    rows = all_rows * sample.fraction
    target = _find_target(sample, rows, k, flag=_is_flag(curator))
    middle, spread = target.center, target.spread
    hidden = not target.seen and target.predicted is None
    warnings = (hidden_target(curator),) if hidden else ()
    if target.predicted is not None:
        warnings = (ALIKE,)
    far = target.ends is None and bool(too_far(middle, spread).any())
    if far and _share(sample, rows, 1, _TARGET)[1] <= _COARSE:  # else noise may say anything
        warnings, hidden = (TOO_FAR,), True
    fine = _share(sample, rows, k, _FEATURES)[1] <= _COARSE_FEATURES
    found = _find_features(sample, rows, k)
    if found is not None and fine and np.any(too_far(found[0], np.zeros(k)) & found[2]):
        warnings = tuple(dict.fromkeys((*warnings, TOO_FAR)))
    of_target = warnings, hidden, target.predicted
    if found is None or not np.any(found[1] < LARGEST):
        center, scale = np.append(np.zeros(k), middle), np.append(np.full(k, LARGEST), spread)
        nothing = np.zeros(k, dtype=np.bool_)
        standard = Standard(center, scale, nothing, target.off, fit_intercept, ends=target.ends)
        return Found(standard, None, sample, *of_target)
    center, scale = np.append(found[0], middle), np.append(found[1], spread)
    size = np.minimum(np.hypot(scale, center), LARGEST)
    around = bool(np.all(np.abs(center[:-1]) < _AROUND * size[:-1]))
    standard = Standard(center, scale, found[2], target.off, fit_intercept=True, ends=target.ends)
    standard = around_middles(standard, curator.bounds, enough_rows(curator, all_rows))
    if around and not fit_intercept and standard.middles is None:
        standard = replace(standard, center=np.zeros(k + 1), scale=size, fit_intercept=False)
    scale = standard.scale[:-1]
    share = min(_share(curator, rows, 1, _NORMS)[0], _MOST_NORMS * curator.remaining)
    norms = measure_norms(
        SomeColumns(sample, np.arange(k)),
        center=standard.center[:-1],
        scale=scale,
        spread=np.where(scale < LARGEST, scale * np.sqrt(standard.square), 0.0),
        share=share,
    )
    counts, noise = norms.counts / sample.fraction, norms.noise / sample.fraction
    norms = replace(norms, counts=counts, noise=noise)
    return Found(standard, norms, sample, *of_target)


@dataclass(frozen=True, eq=False)
class _Target:
    """Its center and spread, how far its mean may be from the center, and whether it is spread.

    And its public bounds, where nothing is to be cut within them; and what is predicted, where
    noise hides how it varies within these.
    """

    center: Floats
    spread: Floats
    off: float
    seen: bool
    ends: tuple[float, float] | None = None
    predicted: float | None = None

    @classmethod
    def within(cls, found: BoundedTarget) -> _Target:
        off = max(found.off / found.spread, _OFF)
        return cls(np.array([found.mean]), np.array([found.spread]), off, True, found.ends)


def _find_target(sample: Curator, rows: float, column: int, *, flag: bool) -> _Target:
    """Search the target, unless it fills public bounds, or noise hides all but one value of it."""
    target = SomeColumns(sample, np.array([column]))
    within = target_within_bounds(target, rows, flag=flag)
    if within is not None and within.filled:
        return _Target.within(within)
    found = _search_target(sample, target, rows)
    if found.seen or within is None:
        return found
    if within.seen:
        return _Target.within(within)
    alone = float(found.center[0])  # the only value that was seen
    away, hidden = within.mean - alone, _SURELY * within.off
    kept = 1.0 - (hidden / away) ** 2 if abs(away) > hidden else 0.0
    return replace(_Target.within(within), predicted=alone + kept * away)


def _is_flag(curator: Curator) -> bool:
    """Return whether the target's type and bounds say that it has but two values, the bounds."""
    if curator.bounds is None or not curator.are_whole[-1]:
        return False
    return float(curator.bounds[1][-1] - curator.bounds[0][-1]) == 1.0


def _search_target(sample: Curator, target: SomeColumns, rows: float) -> _Target:
    share, noise = _share(sample, rows, 1, _TARGET)
    if noise <= _COARSE:
        middle, spread, seen = standardize(target, rows, share=share, target=True)
        return _Target(middle, spread, _OFF, bool(seen[0]))
    here = place(
        target,
        rows,
        magnitude_share=_coarse(sample, rows, 1, _MAGNITUDE),
        share=_coarse(sample, rows, 1, _PLACE),
        most=_PLACE_MOST,
    )
    off = max(float(here.doubt[0]), _OFF)
    return _Target(here.center, here.spread, off, not here.narrow[0])


def _find_features(sample: Curator, rows: float, k: int) -> tuple[Floats, Floats, Bools] | None:
    """Return the features' centers and scales, and which were seen; None if rows are too few."""
    features = SomeColumns(sample, np.arange(k))
    share, noise = _share(sample, rows, k, _FEATURES)
    if noise > _HOPELESS:
        return None
    if noise > _COARSE_FEATURES:
        there = place(
            features,
            rows,
            magnitude_share=_coarse(sample, rows, k, _MAGNITUDES),
            share=_coarse(sample, rows, k, _PLACES),
            most=_PLACES_MOST * sample.remaining,
        )
        centers, spreads, seen = there.center, there.spread, ~there.narrow
    else:
        centers, spreads, seen = standardize(features, rows, share=share)
    return centers, spreads, seen


def _share(
    curator: Curator, rows: float, columns: int, wanted: tuple[float, float, float, float]
) -> tuple[float, float]:
    """Return the share of a search's measurements, and their noise as a fraction of the rows."""
    cost = rows_changed(curator.neighbors) * columns / (curator.budget.mu * max(rows, 1.0)) ** 2
    fine, most_fine, coarse, most = wanted
    share = max(min(cost / fine**2, most_fine), min(cost / coarse**2, most), _LEAST)
    return share, math.sqrt(cost / share)


def _coarse(curator: Curator, rows: float, columns: int, wanted: tuple[float, float]) -> float:
    """Return the share of coarse counts: it makes the wanted noise, or is the most of the rest."""
    noise = math.sqrt(columns) * one_row_noise(curator, rows)
    return curator.remaining * part_for(noise, *wanted)


def _sample_size(curator: Curator) -> float:
    """Return how many rows make the searches as fine as they should be for a tiny share.

    Infinite where these are too many to hold: then all rows are searched, block by block.
    """
    cost = rows_changed(curator.neighbors) * curator.dimension / curator.budget.mu**2
    wanted = max(_SAMPLE, math.sqrt(cost / _TINY_SHARE) / _FEATURES[0])
    return wanted if wanted * curator.dimension <= _MOST_CELLS else math.inf
