"""An estimator's expected error, from rehearsals on imagined rows.

Each rehearsal runs the estimator itself, under a real curator, on `ImaginedRows`. Its last
measurement is the answer, one number per column or several, and the estimate depends on each
linearly; so the estimator is run again with the same answers, but for the noise of the last
one. The estimates tell what it would be without that noise, and how the noise enters each
column, so the expectation over it is exact: few rehearsals are enough. Where some columns are
a table of their own, each table's last measurement is the answer for its columns. The
fluctuations of the imagined rows are drawn as a Latin square for the same reason.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from prolate.arrays import Floats, Integers, Limits
from prolate.budget import Budget, Neighbors
from prolate.curator import Curator, Measurement
from prolate.curator.rows import Rows
from prolate.estimators import Estimate
from prolate.forecast.imagined import ImaginedRows
from prolate.noise import SeededBits
from prolate.queries import Query, Selected
from prolate.sources.threads import one_blas_thread
from prolate.theory import RELATIVE

__all__ = ["Expectation", "length", "moment", "power", "rehearse"]

Estimator = Callable[[Curator], Estimate]

_CELLS = 1000  # columns of all rehearsals together
_FEWEST, _MOST = 4, 12
_QUICK = 2
_HUGE = 1e140  # its squares are floats
_PLAIN = 1e-3  # of the distance: noise that does not matter


@dataclass(frozen=True, eq=False)
class Expectation:
    """What is expected of a private mean.

    Attributes
    ----------
    noise : float
        (E |error|_p**p)**(1 / p), against the rows' own mean.
    noise_std : float64 array of shape (d,)
        Root mean square of that error, column by column.
    shares : dict
        Shares of mu**2, by what they are for.
    radius, clipped : float or None
        The clipping radius and the part of the rows that is clipped, where they are known:
        medians.
    warnings : tuple of str
        What most rehearsals warned of.
    """

    noise: float
    noise_std: Floats
    shares: dict[str, float]
    radius: float | None = None
    clipped: float | None = None
    warnings: tuple[str, ...] = ()


class _Taped(Curator):
    """A curator that keeps what each sum was before its noise, and of which columns.

    The noise of a measurement has a seed of its own, so that it is the same if the search before
    it asks for one cell more: forecasts of nearly equal questions then are nearly equal.
    """

    tape: list[tuple[Floats, Integers | None]]
    run: int
    query: Query

    def measure(self, query: Query, *, share: float, label: str) -> Measurement:
        before = sum(entry.label == label for entry in self.receipt)
        key = [self.run, before, *label.encode()]
        self._bits = SeededBits(int(np.random.SeedSequence(key).generate_state(1, np.uint64)[0]))
        self.query = query
        return super().measure(query, share=share, label=label)

    def _total(self, rows: Rows, query: Query, label: str) -> Integers:
        total = super()._total(rows, query, label)
        self.tape.append((total.astype(np.float64), _columns_of(self.query)))
        return total


def _columns_of(query: Query) -> Integers | None:
    """Return the columns that a query is about; None: all of them."""
    if not isinstance(query, Selected):
        return None
    inner = _columns_of(query.query)  # of a table that is some columns of another one
    return query.index if inner is None else query.index[inner]


class _Again(Curator):
    """A curator that gives answers that were given before."""

    script: Iterator[Measurement]

    def measure(self, query: Query, *, share: float, label: str) -> Measurement:
        self._pay([share])
        return next(self.script)


@one_blas_thread
def rehearse(
    estimator: Estimator,
    *,
    n: int,
    center: Floats,
    spread: Floats,
    budget: Budget,
    neighbors: Neighbors,
    error_norm: float,
    bounds: Limits | None = None,
    flags: bool = False,
    quick: bool = False,
) -> Expectation:
    """Return what is expected of an estimator on n normal rows.

    Parameters
    ----------
    estimator : callable
        From a curator to an estimate.
    n : int
    center, spread : float64 arrays of shape (d,)
        Means and standard deviations of the population from which rows are imagined to be.
    budget, neighbors, error_norm
        As for `prolate.mean`.
    bounds : (lower, upper), optional
        Public bounds, taken to hold all values.
    flags : bool
        Whether all columns are booleans by their type.
    quick : bool
        Whether to rehearse a third as often: else 4 to 12 times, less often with many columns.
    """
    runs = min(max(_CELLS // spread.size, _FEWEST), _MOST)
    runs = max(runs // 3, _QUICK) if quick else runs
    off, noise, estimates, shares = [], [], [], []
    sampled = _latin(runs, spread.size, seed=1)
    for run, fluctuation in enumerate(_latin(runs, spread.size, seed=0)):
        at = center + spread * next(sampled) / math.sqrt(n)
        if bounds is not None:
            at = np.clip(at, *bounds)
        rows = ImaginedRows(n, at, spread, fluctuation, run, bounds)
        rows.flags = frozenset(rows.columns if flags else ())
        options: dict[str, Any] = {"neighbors": neighbors, "bounds": bounds, "seed": run}
        curator = _Taped(rows, budget, **options)
        curator.run = run
        found, without, std = _once(estimator, curator, partial(_Again, rows, budget, **options))
        estimates.append(found)
        shares.append(_by_purpose(curator.receipt))
        off.append(without - at)
        noise.append(std)
    lengths = [power(*each, spread, error_norm) for each in zip(off, noise, strict=True)]
    said = Counter(text for estimate in estimates for text in estimate.warnings)
    squares = np.array([moment(*each, 2.0) for each in zip(off, noise, strict=True)])
    purposes = dict.fromkeys(name for each in shares for name in each)  # runs may ask differently
    return Expectation(
        noise=length(float(np.mean(lengths)), error_norm),
        noise_std=np.sqrt(np.mean(squares, axis=0)),
        shares={name: float(np.mean([s.get(name, 0.0) for s in shares])) for name in purposes},
        radius=_median(e.details.get("radius") for e in estimates),
        clipped=_median(e.details.get("clipped_fraction") for e in estimates),
        warnings=tuple(text for text, times in said.items() if times > len(estimates) // 2),
    )


def _once(
    estimator: Estimator, curator: _Taped, again: Callable[[], _Again]
) -> tuple[Estimate, Floats, Floats]:
    """Return an estimate, what it would be without the noise of its last sums, and that noise."""
    curator.tape = []
    found, receipt = _run(estimator, curator), curator.receipt
    without, squares = found.value.copy(), np.zeros(found.value.size)
    for place in _last(receipt, found):
        last, (exact, index) = receipt[place], curator.tape[place]
        index = np.arange(without.size) if index is None else index
        drawn = last.values - exact
        other = -np.copysign(last.std, drawn)  # far from what was drawn
        # From one noise to the other: a column's first numbers, its second ones, and so on.
        before = found.value[index]
        for start in range(0, drawn.size, index.size):
            stop = start + index.size
            values = exact + np.concatenate([other[:stop], drawn[stop:]])
            other_time = again()
            script = (*receipt[:place], replace(last, values=values), *receipt[place + 1 :])
            other_time.script = iter(script)
            after = _run(estimator, other_time).value[index]
            per_step = (before - after) / (drawn - other)[start:stop]
            without[index] -= per_step * drawn[start:stop]
            squares[index] += (per_step * last.std) ** 2
            before = after
    return found, without, np.sqrt(squares)


def _last(receipt: Sequence[Measurement], found: Estimate) -> list[int]:
    """Return the places of the measurements that are answers: the last, or each table's."""
    places = range(len(receipt))
    if not found.columns_apart:
        return [places[-1]]
    return [place for place in places if receipt[place].label == receipt[-1].label]


def _run(estimator: Estimator, curator: Curator) -> Estimate:
    with np.errstate(all="ignore"):  # far too few rows: whatever comes out is the forecast
        found = estimator(curator)
    return replace(found, value=np.clip(np.nan_to_num(found.value), -_HUGE, _HUGE))


def power(off: Floats, std: Floats, spread: Floats, error_norm: float) -> float:
    """Return the expected p-th power of an l_p length; of numbers over `spread` if relative."""
    if error_norm == RELATIVE:
        off, std, error_norm = off / spread, std / spread, 2.0
    return float(np.sum(moment(off, std, error_norm)))


def length(power: float, error_norm: float) -> float:
    """Return the length whose p-th power that is."""
    return float(power ** (1.0 / (error_norm or 2.0)))


def moment(off: Floats, std: Floats, p: float) -> Floats:
    """Return E |N|**p of normal numbers with means `off` and standard deviations `std`.

    Examples
    --------
    >>> moment(np.array([3.0, 0.0]), np.array([4.0, 1.0]), 2.0).round(9).tolist()
    [25.0, 1.0]
    """
    from scipy.special import hyp1f1

    size = np.maximum(np.abs(off), std)
    size[size == 0.0] = 1.0
    off, std = off / size, std / size
    if p == 2.0:
        return np.asarray(size**2 * (off**2 + std**2))
    plain = std < _PLAIN
    std = np.where(plain, 1.0, std)
    constant = 2.0 ** (0.5 * p) * math.gamma(0.5 * (p + 1.0)) / math.sqrt(math.pi)
    spread = constant * std**p * hyp1f1(-0.5 * p, 0.5, -0.5 * (off / std) ** 2)
    return np.asarray(size**p * np.where(plain, np.abs(off) ** p, spread))


def _latin(runs: int, d: int, *, seed: int) -> Iterator[Floats]:
    """Yield standard normal numbers for each run: a column has one of each `runs`-quantile."""
    from scipy.special import ndtri

    draw = np.random.default_rng([runs, seed])
    place = draw.permuted(np.tile(np.arange(runs), (d, 1)), axis=1) + draw.random((d, runs))
    yield from np.asarray(ndtri(place / runs)).T


def _by_purpose(receipt: Iterable[Measurement]) -> dict[str, float]:
    """Return what is spent for what; of all that separate parts were asked, for the dearest one."""
    shares: dict[str, float] = {}
    apart: defaultdict[tuple[int, int], float] = defaultdict(float)
    for entry in receipt:
        if entry.place is not None:
            for part in entry.place.parts:
                apart[entry.place.dealt, part] += entry.share
            continue
        name = entry.label.rstrip(" 0123456789")
        shares[name] = shares.get(name, 0.0) + entry.share
    if apart:
        times = {dealt for dealt, _ in apart}
        dearest = (max(apart[one] for one in apart if one[0] == each) for each in times)
        shares["searches"] = sum(dearest)
    return shares


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None
