"""What every statistic does in the same way: open the rows, charge, measure, sign the release."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from prolate.api.group_columns import By, Keys, WithJoinedLabels, check_keys, columns_of
from prolate.api.groups import check_source, release_groups
from prolate.api.options import Columns, Engine
from prolate.api.terms import Terms
from prolate.arguments import (
    Bounds,
    check_budget,
    check_flag,
    check_progress,
    check_unit,
    read_bounds,
)
from prolate.budget import Budget, Neighbors, check_neighbors
from prolate.curator import Curator, Progress
from prolate.errors import InputError, listed
from prolate.estimators import Estimate
from prolate.ledger import Ledger
from prolate.measurement import Measurement
from prolate.noise import NumberedBits, random_bits
from prolate.release import GroupedRelease, Release
from prolate.release.key import as_key
from prolate.release.unit import Unit
from prolate.sources import Source, open_source
from prolate.sources.threads import ignoring, one_blas_thread
from prolate.theory import RELATIVE

__all__ = ["Job"]

_LARGEST = float(np.finfo(np.float64).max)
_MUCH, _APART = 3.0, 5.0  # noise over sampling error that hides a mean, and others' is less
_NAMED = 4  # columns of a release that its entry in a ledger names
_NO_ORDER = (
    "Rows of persons, of groups and on Spark have no places that are theirs alone (nor those of "
    "files on Spark whose row groups do not begin at even places), so there are no first rows and "
    "no pairs of rows. Leave exchangeable out, and use a method that does not pair rows, such as "
    "'auto'."
)
_LEFT_OUT = (
    "Left out as an index of the rows: {}. To take it as a column, name it among the columns or "
    "call it something else."
)
_NOT_INDEPENDENT = (
    "The sampling errors are computed as if rows were independent. Rows of one person rarely are, "
    "so the true sampling errors are larger. With contribution='mean', each person counts once, "
    "and they are right."
)


@dataclass(frozen=True, kw_only=True)
class Job:
    """One statistic, from checked arguments to a signed release.

    Attributes
    ----------
    statistic, method : str
        Their names, for the release.
    error_norm : float
        The p of the l_p error that is to be small.
    estimate : callable
        What to ask and what to make of the answers.
    needs_bounds : bool
        Whether every column needs public bounds.
    needs_zcdp : bool
        Whether a step is not Gaussian, so that the release is charged, and stated, in rho.
    pairs_rows : bool
        Whether a step looks at pairs of neighboring rows.
    needs_public_rows : bool
        Whether the number of rows that are measured must be public.
    only_counts : bool
        Whether all that it tells is public where the number of rows is: it costs nothing then.
    names : callable
        From the names of the columns to those of what is estimated of them; the same by default.
    check : callable, optional
        Given the names of the columns, raises `InputError` where an argument does not fit them.
    asked : dict
        More arguments that the release states, to be made again; those that are None are not.
    left_out : tuple of str
        Columns that nobody named, taken for an index of the rows.
    """

    statistic: str
    method: str
    error_norm: float
    estimate: Callable[[Curator], Estimate]
    needs_bounds: bool = False
    needs_zcdp: bool = False
    pairs_rows: bool = False
    needs_public_rows: bool = False
    only_counts: bool = False
    names: Callable[[tuple[str, ...]], tuple[str, ...]] = tuple
    check: Callable[[Sequence[str]], object] | None = None
    asked: Mapping[str, str | float | None] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    # Noise, and what is made of it, may be too large for a float: `_finite` is for that.
    @ignoring("all")
    @one_blas_thread
    def release(
        self,
        data: object,
        *,
        columns: Columns | None,
        bounds: Bounds | None,
        budget: Budget,
        neighbors: Neighbors,
        seed: int | None,
        ledger: Ledger | str | os.PathLike[str] | None,
        progress: bool | Progress,
        engine: Engine | None = None,
        exchangeable: bool = False,
        unit: str | int | None = None,
        contribution: str = "mean",
        max_rows: int | None = None,
        by: By | None = None,
        keys: Keys | None = None,
    ) -> Release | GroupedRelease:
        """Open the rows, charge, measure, estimate and sign; arguments as for `prolate.mean`.

        Where `data` is a `Source` already, its columns of labels are those of `unit` and `by`.

        Raises
        ------
        InputError, BudgetError
            If an argument, the schema or the budget will not do; never because of a value.
        LedgerError
            If the ledger refuses.
        """
        price = check_budget(budget)
        neighbors = check_neighbors(neighbors)
        bits = random_bits(seed)
        check_progress(progress)
        kind = check_unit(unit, contribution, max_rows)
        groups = columns_of(by)
        public = check_keys(groups, keys, price)
        if self.needs_zcdp:
            price = price.for_zcdp()
        labels = [*([] if unit is None else [unit]), *groups]
        source = open_source(data, columns, engine=engine, labels=labels)
        job = replace(self, left_out=() if self.only_counts else source.left_out)
        if groups:
            check_source(source, len(groups), public)
        marks = source.columns[len(source.columns) - len(labels) :]
        if len(groups) > 1:
            source = WithJoinedLabels(source, len(groups))
        whose = None
        if unit is not None:
            whose = Unit(marks[0], kind, max_rows)
            source = source.persons(max_rows, NumberedBits.from_bits(bits))
        terms = Terms(price, neighbors, whose, grouped=bool(groups))
        self._check_order(source.ordered and not groups, exchangeable)
        if self.needs_public_rows and terms.relation != "replace":
            raise InputError(
                f"method={self.method!r} needs a public number of rows: neighbors='replace', no "
                "groups, and no contribution='rows'. Use method='auto', which needs none of these."
            )
        book = ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger)
        if groups:
            with _reporter(progress, terms.relation) as report:
                return release_groups(
                    job,
                    source,
                    terms,
                    as_key(marks[len(labels) - len(groups) :]),
                    public,
                    bounds=bounds,
                    seed=seed,
                    ledger=book,
                    progress=report,
                )
        limits = self.limits(bounds, source, source.columns)
        label = self.entry(source.columns, seed)
        free = self.only_counts and terms.relation == "replace"
        charge = terms.charging(book, None if free else price, label)
        with _reporter(progress, terms.relation) as report:
            curator = Curator(
                source,
                terms.budget(),
                neighbors=terms.relation,
                bounds=limits,
                seed=seed,
                charge=charge,
                progress=report,
                exchangeable=exchangeable,
            )
            if free or (book is not None and book.promise != terms.promise):
                curator.book()  # refused, perhaps, before the number of rows shows in anything
            if terms.relation == "replace" and curator.public_rows() == 0:
                raise InputError("The data has no rows; there is nothing to release.")
            found = self.estimate(curator)
        order = {"exchangeable": True} if exchangeable else None
        return job.sign(curator, found, terms, details=order)

    def limits(
        self, bounds: Bounds | None, source: Source, columns: Sequence[str]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return the public bounds of columns: those given, and 0 to 1 of booleans.

        Published methods do what they do with the bounds that are given. Other arguments about
        columns are checked as well, because nothing is charged yet.
        """
        if self.check is not None:
            self.check(columns)
        known = self.needs_bounds or (self.method == "auto" and not self.only_counts)
        flags = source.flags if known else ()
        return read_bounds(bounds, columns, required=self.needs_bounds, flags=flags)

    def _check_order(self, ordered: bool, exchangeable: object) -> None:
        first_are_any = check_flag("exchangeable", exchangeable)
        if not ordered and (self.pairs_rows or first_are_any):
            raise InputError(_NO_ORDER)

    def entry(self, columns: Sequence[str], seed: int | None, *, by: str = "") -> str:
        """Return what a ledger calls the release: the columns, some by name, and the groups."""
        names = self._of(columns)
        shown = ", ".join(map(str, names[:_NAMED])).replace("\0", "")
        shown = shown.encode(errors="replace").decode()
        more = len(names) - _NAMED
        return (
            f"{self.statistic} of {shown}{f' and {more:,} more' if more > 0 else ''}"
            f"{f' by {by}' if by else ''}{'' if seed is None else ' (seeded: NOT PRIVATE)'}"
        )

    def _of(self, columns: Sequence[str]) -> Sequence[str]:
        return self.names(tuple(columns)) if self.only_counts else columns

    def sign(
        self,
        curator: Curator,
        found: Estimate,
        terms: Terms,
        *,
        before: Sequence[Measurement] = (),
        details: Mapping[str, Any] | None = None,
    ) -> Release:
        """Return the release of what was found: with its price, receipt and noise.

        Parameters
        ----------
        curator : Curator
        found : Estimate
        terms : Terms
            What is promised for the price.
        before : sequence of Measurement
            What another curator of the same rows has measured.
        details : dict, optional
            More details of the release.
        """
        warnings = found.warnings
        names = self.names(curator.columns)
        asked = {name: value for name, value in self.asked.items() if value is not None}
        if self.method == "auto" and self.error_norm != RELATIVE:
            warnings = (*warnings, *_drowned(self.statistic, names, found))
        if (
            terms.unit is not None
            and terms.unit.max_rows is not None
            and found.sampling_std is not None
        ):
            warnings = (*warnings, _NOT_INDEPENDENT)
        if self.left_out:
            warnings = (*warnings, _LEFT_OUT.format(listed(self.left_out, 3)))
        return Release(
            statistic=self.statistic,
            estimate=_finite(found.value),
            columns=names,
            noise_std=_finite(found.noise_std, unknown=_LARGEST),
            sampling_std=_finite(found.sampling_std, unknown=_LARGEST),
            clipping_std=_finite(found.clipping_std, unknown=_LARGEST),
            error_covariance=_finite(found.error_covariance),
            n=found.rows,
            budget=terms.price,
            neighbors=terms.neighbors,
            method=self.method,
            error_norm=self.error_norm,
            receipt=tuple(map(terms.entry, (*before, *curator.receipt))),
            warnings=warnings,
            private=curator.private,
            details={**_given(curator), **asked, **found.details, **(details or {})},
            unit=terms.unit,
        )


def _drowned(statistic: str, names: Sequence[str], found: Estimate) -> tuple[str, ...]:
    """Return what to say of columns that noise hides because others are far more spread.

    From what is released: noise beside the sampling error of a mean, or beside a variance.
    """
    size = {"mean": found.sampling_std, "variance": np.abs(found.value)}.get(statistic)
    if size is None or found.noise_std is None or len(names) == 1:
        return ()
    noise = found.noise_std / np.maximum(size, 1e-300)
    seen = noise[np.isfinite(noise) & (size > 0.0)]
    if statistic == "mean":
        hidden = (noise > _MUCH) & (noise > _APART * np.min(seen, initial=np.inf))
    else:
        hidden = (noise > 1.0) & (np.min(seen, initial=np.inf) < 1.0 / _MUCH)
    drowned = [names[i] for i in np.flatnonzero(hidden).tolist()]
    if not drowned:
        return ()
    said = (
        "Noise is shaped for the error of all columns together, which others rule: it hides the "
        f"{statistic} of {listed(drowned, 3)}. The error norm 'relative' gives each column noise "
        "in proportion to its own spread."
    )
    return (said,)


@contextmanager
def _reporter(progress: bool | Progress, neighbors: Neighbors) -> Iterator[Progress | None]:
    if callable(progress):
        yield progress
    elif progress:
        from prolate.terminal import progress_bar

        with progress_bar(count_rows=neighbors == "replace") as bar:
            yield None if isinstance(bar, bool) else bar
    else:
        yield None


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
def _finite(values: NDArray[np.float64], unknown: float = 0.0) -> NDArray[np.float64]: ...
@overload
def _finite(
    values: NDArray[np.float64] | None, unknown: float = 0.0
) -> NDArray[np.float64] | None: ...
def _finite(values: NDArray[np.float64] | None, unknown: float = 0.0) -> NDArray[np.float64] | None:
    """Return `values` cut to what a float can hold: noise may lead past the largest one.

    Where that leaves nothing to say, an estimate is 0, with `unknown`, the largest, as its noise.
    """
    if values is None:
        return None
    return np.nan_to_num(values, nan=unknown, posinf=_LARGEST, neginf=-_LARGEST)
