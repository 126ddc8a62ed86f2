"""What every statistic does in the same way: open the rows, charge, measure, sign the release."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from prolate.api.group_columns import (
    By,
    Keys,
    WithJoinedLabels,
    check_keys,
    columns_of,
    keys_of_types,
)
from prolate.api.groups import check_source, release_groups
from prolate.api.options import Columns, Engine
from prolate.api.signing import sign
from prolate.api.terms import Terms
from prolate.arguments import check_budget, check_flag, check_progress, check_unit
from prolate.arrays import Limits
from prolate.budget import Budget, Neighbors, check_neighbors
from prolate.curator import Curator, Progress
from prolate.errors import InputError
from prolate.estimators import Estimate
from prolate.ledger import Ledger
from prolate.noise import NumberedBits, random_bits
from prolate.public_numbers import Bounds, read_bounds
from prolate.release import GroupedRelease, Release
from prolate.release.key import as_key
from prolate.release.unit import Unit
from prolate.sources import Source, open_source
from prolate.sources.threads import ignoring, one_blas_thread

__all__ = ["Job"]

_NAMED = 4  # columns of a release that its entry in a ledger names
_NO_ORDER = (
    "Rows of persons, of groups and on Spark have no places that are theirs alone (nor those of "
    "files on Spark whose row groups do not begin at even places), so there are no first rows and "
    "no pairs of rows. Leave exchangeable out, and use a method that does not pair rows, such as "
    "'auto'."
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
    cells : str
        As a source has it.
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
    cells: str = ""

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
        public = check_keys(groups, keys)
        if self.needs_zcdp:
            price = price.for_zcdp()
        labels = [*([] if unit is None else [unit]), *groups]
        source = open_source(data, columns, engine=engine, labels=labels)
        job = self
        if not self.only_counts:
            job = replace(self, left_out=source.left_out, cells=source.cells)
        of_groups = source.labels[len(source.labels) - len(groups) :]
        if groups:
            public = public or keys_of_types(of_groups, price)
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
        self._check_public(terms)
        book = ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger)
        with _reporter(progress, terms.relation) as report:
            if groups:
                return release_groups(
                    job,
                    source,
                    terms,
                    as_key(marks[len(labels) - len(groups) :]),
                    public,
                    tuple(one.kind for one in of_groups),
                    bounds=bounds,
                    seed=seed,
                    ledger=book,
                    progress=report,
                )
            return job._release_all(
                source,
                terms,
                bounds=bounds,
                seed=seed,
                ledger=book,
                progress=report,
                exchangeable=exchangeable,
            )

    def _release_all(
        self,
        source: Source,
        terms: Terms,
        *,
        bounds: Bounds | None,
        seed: int | None,
        ledger: Ledger | None,
        progress: Progress | None,
        exchangeable: bool,
    ) -> Release:
        """Charge, measure, estimate and sign, of all rows together."""
        limits = self.limits(bounds, source, source.columns)
        label = self.entry(source.columns, seed)
        free = self.only_counts and terms.relation == "replace"
        curator = Curator(
            source,
            terms.budget(),
            neighbors=terms.relation,
            bounds=limits,
            seed=seed,
            charge=terms.charging(ledger, None if free else terms.price, label),
            progress=progress,
            exchangeable=exchangeable,
        )
        if free or (ledger is not None and ledger.promise != terms.promise):
            curator.book()  # refused, perhaps, before the number of rows shows in anything
        if not free and terms.relation == "replace" and curator.public_rows() == 0:
            raise InputError("The data has no rows; there is nothing to release.")
        found = self.estimate(curator)
        order = {"exchangeable": True} if exchangeable else None
        return sign(self, curator, found, terms, details=order)

    def limits(
        self, bounds: Bounds | None, source: Source, columns: Sequence[str]
    ) -> Limits | None:
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

    def _check_public(self, terms: Terms) -> None:
        if self.needs_public_rows and terms.relation != "replace":
            raise InputError(
                f"method={self.method!r} needs a public number of rows: neighbors='replace', no "
                "groups, and no contribution='rows'. Use method='auto', which needs none of these."
            )

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
