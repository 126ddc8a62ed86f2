"""The release of what was found: with its price, its receipt, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from prolate.api.remarks import weak_guarantee
from prolate.api.terms import Terms
from prolate.api.values import counted_values
from prolate.arrays import Bools, Floats, Limits
from prolate.curator import Curator
from prolate.errors import listed
from prolate.estimators import Estimate
from prolate.estimators.present import MISSING
from prolate.measurement import Measurement
from prolate.release import Release
from prolate.theory import RELATIVE

if TYPE_CHECKING:
    from prolate.api.job import Job

__all__ = ["sign"]


_LARGEST = float(np.finfo(np.float64).max)
_BESIDE = 1.5  # noise and clipping over sampling error, of a mean that could have less
_MUCH = 3.0  # noise over what it may hide, and over that of others
_APART = 25.0  # times more spread is a column that rules; few rows let some look ten times so
_HIDDEN = 0.5  # noise over a variance, or a sum, that may as well be none
_LEFT_OUT = (
    "Left out as an index of the rows: {}. To take it as a column, name it among the columns or "
    "call it something else."
)
_NOT_INDEPENDENT = (
    "The sampling errors are computed as if rows were independent. Rows of one person rarely are, "
    "so the true sampling errors are larger. With contribution='mean', each person counts once, "
    "and they are right."
)


def sign(
    job: Job,
    curator: Curator,
    found: Estimate,
    terms: Terms,
    *,
    before: Sequence[Measurement] = (),
    details: Mapping[str, Any] | None = None,
    rows: float | None = None,
    said: Sequence[str] = (),
) -> Release:
    """Return the release of what was found: with its price, receipt and noise.

    Parameters
    ----------
    job : Job
        The statistic.
    curator : Curator
    found : Estimate
    terms : Terms
        What is promised for the price.
    before : sequence of Measurement
        What another curator of the same rows has measured.
    details : dict, optional
        More details of the release.
    rows : float, optional
        The number of all rows, or persons, if that is public where that of `found` is not.
    said : sequence of str
        More to say.
    """
    warnings = (*found.warnings, *said)
    names = job.names(curator.columns)
    asked = {name: value for name, value in job.asked.items() if value is not None}
    if job.method == "auto" and job.error_norm != RELATIVE:
        warnings = (*warnings, *_drowned(job.statistic, names, found, curator.bounds))
    if (
        terms.unit is not None
        and terms.unit.max_rows is not None
        and found.sampling_std is not None
    ):
        warnings = (*warnings, _NOT_INDEPENDENT)
    if curator.receipt:  # else it is free
        public = found.rows if terms.relation == "replace" else rows
        warnings = (*warnings, *weak_guarantee(terms.price, public))
    if job.left_out:
        warnings = (*warnings, _LEFT_OUT.format(listed(job.left_out, 3)))
    return Release(
        statistic=job.statistic,
        estimate=_possible(job, curator, _finite(found.value)),
        columns=names,
        noise_std=_finite(found.noise_std, unknown=_LARGEST),
        sampling_std=_finite(found.sampling_std, unknown=_LARGEST),
        clipping_std=_finite(found.clipping_std, unknown=_LARGEST),
        error_covariance=_finite(found.error_covariance),
        n=found.rows,
        budget=terms.price,
        neighbors=terms.neighbors,
        method=job.method,
        error_norm=job.error_norm,
        receipt=(*terms.receipt(before), *terms.receipt(curator.receipt)),
        warnings=warnings,
        private=curator.private,
        details={
            **_given(curator),
            **asked,
            **found.details,
            **counted_values(curator.receipt, curator.columns, found.rows, warnings),
            **({"cells": job.cells} if job.cells else {}),
            **(details or {}),
        },
        unit=terms.unit,
    )


def _drowned(
    statistic: str, names: Sequence[str], found: Estimate, bounds: Limits | None
) -> tuple[str, ...]:
    """Return what to say of columns that noise hides because others are far more spread.

    From what is released: noise beside the sampling error of a mean, beside a variance, or beside
    a sum within public bounds.
    """
    if found.noise_std is None or len(names) == 1:
        return ()
    if statistic == "mean":
        hidden = _noisy_mean(found.noise_std, found.clipping_std, found.sampling_std)
    elif statistic == "variance":
        hidden = _hidden_variance(found.noise_std, np.abs(found.value))
    elif statistic == "sum" and bounds is not None:
        hidden = _hidden_sum(found, found.noise_std, *bounds)
    else:
        return ()
    if MISSING in found.warnings:  # of which noise hides nothing
        hidden &= np.isfinite(found.noise_std)
    drowned = [names[i] for i in np.flatnonzero(hidden).tolist()]
    if not drowned:
        return ()
    of = f"the {statistic} of {listed(drowned, 3)}"
    what = (
        f"it makes {of} much less certain than sampling"
        if statistic == "mean"
        else f"it hides {of}"
    )
    own = "range" if statistic == "sum" else "spread"
    said = (
        f"Noise is shaped for the error of all columns together, which others rule: {what}. The "
        f"error norm 'relative' gives each column noise in proportion to its own {own}."
    )
    return (said,)


def _noisy_mean(noise_std: Floats, clipping_std: Floats | None, size: Floats | None) -> Bools:
    if size is None:
        return np.zeros(noise_std.size, dtype=np.bool_)
    total = noise_std if clipping_std is None else np.hypot(noise_std, clipping_std)
    noise = total / np.maximum(size, 1e-300)
    most = np.max(size[np.isfinite(noise)], initial=0.0)
    return np.asarray((noise > _BESIDE) & (size < most / _APART))


def _hidden_variance(noise_std: Floats, size: Floats) -> Bools:
    noise = noise_std / np.maximum(size, 1e-300)
    seen = noise[np.isfinite(noise) & (size > 0.0)]
    return np.asarray((noise > _HIDDEN) & (np.min(seen, initial=np.inf) < 1.0 / _MUCH))


def _hidden_sum(found: Estimate, noise_std: Floats, lower: Floats, upper: Floats) -> Bools:
    """Return which sums noise hides that has more of their ranges than it has of others'.

    A sum may be near 0 by itself, so that noise in proportion to the range would hide it, too.
    """
    most = found.rows * np.maximum(np.abs(lower), np.abs(upper))
    size = np.minimum(np.abs(found.value), most)
    part = noise_std / np.maximum(upper - lower, 1e-300)
    ruled = part > _MUCH * np.min(part[upper > lower], initial=np.inf)
    return np.asarray((noise_std > _HIDDEN * size) & ruled & (upper > lower))


def _possible(job: Job, curator: Curator, value: Floats) -> Floats:
    """Return means cut to the public bounds, which noise alone can lead beyond.

    That makes no error larger. Sums stay as they are, to be added up; so do published methods'.
    """
    if job.statistic != "mean" or job.method != "auto" or curator.bounds is None:
        return value
    return np.asarray(np.clip(value, *curator.bounds))


def _given(curator: Curator) -> dict[str, Any]:
    """Return the public bounds, so that the release says how to make it again."""
    if curator.bounds is None:
        return {}
    pairs = np.column_stack(curator.bounds)
    known = np.asarray(np.isfinite(pairs).all(axis=1))
    if known.all() and np.all(pairs == pairs[0]):
        return {"bounds": pairs[0].tolist()}
    named = zip(curator.columns, pairs.tolist(), known.tolist(), strict=True)
    return {"bounds": {name: pair for name, pair, given in named if given}}


@overload
def _finite(values: Floats, unknown: float = 0.0) -> Floats: ...
@overload
def _finite(values: Floats | None, unknown: float = 0.0) -> Floats | None: ...
def _finite(values: Floats | None, unknown: float = 0.0) -> Floats | None:
    """Return `values` cut to what a float can hold: noise may lead past the largest one.

    Where that leaves nothing to say, an estimate is 0, with `unknown`, the largest, as its noise.
    """
    if values is None:
        return None
    return np.nan_to_num(values, nan=unknown, posinf=_LARGEST, neginf=-_LARGEST)
