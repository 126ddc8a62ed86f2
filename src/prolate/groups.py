"""Releases for each group of rows, or of persons: the same statistic, measured in each.

Why the groups together cost what one of them does is proved in `prolate.terms`. Rows are read
once, and those of all groups are held in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from prolate._release_groups import GroupedRelease
from prolate.arguments import Bounds, read_bounds
from prolate.budget import Budget
from prolate.curator import Curator
from prolate.errors import BudgetError, InputError
from prolate.queries import Count
from prolate.release import Release
from prolate.sources.labels import text_of
from prolate.sources.source import Block, Source
from prolate.sources.threads import thread_count
from prolate.terms import FOR_COUNT, FOR_THE_REST, Terms, for_keys, passes

if TYPE_CHECKING:
    from prolate.job import Job

__all__ = ["check_keys", "check_source", "release_groups"]


def check_keys(by: object, keys: Sequence[object] | None, budget: Budget) -> list[str] | None:
    """Return the public keys as text, or None where they are to be found privately.

    Raises
    ------
    InputError
        If there are keys and no `by`, or a key is no label, or is there twice.
    BudgetError
        If keys are to be found, and the budget has no delta.
    """
    if by is None:
        if keys is not None:
            raise InputError("keys are those of groups; name their column, such as by='region'.")
        return None
    if keys is None:
        if "delta" not in budget.stated:
            raise BudgetError(
                "Finding out which groups there are needs a budget with a delta, such as "
                "Budget(epsilon=1, delta=1e-6). Or give the groups: keys=['north', 'south']."
            )
        return None
    if isinstance(keys, str | bytes) or not hasattr(keys, "__iter__"):
        raise InputError(f"keys must be a list, such as keys=['north', 'south']; got {keys!r}.")
    texts = [text_of(key) for key in keys]
    twice = next((text for text in texts if texts.count(text) > 1), None)
    if twice is not None:
        raise InputError(f"keys has {twice!r} twice; name each group once.")
    if not texts:
        raise InputError("keys=[] leaves no group; name at least one, or leave keys out.")
    return texts


def check_source(source: Source) -> None:
    """Raise `InputError` where rows cannot be put into groups."""
    from prolate.sources.spark import SparkSource

    if isinstance(source, SparkSource):
        raise InputError("On Spark there are no groups; filter the data frame for each of them.")


def release_groups(
    job: Job,
    source: Source,
    terms: Terms,
    keys: Sequence[str] | None,
    *,
    bounds: Bounds | None,
    seed: int | None,
    charge: Callable[[Budget, str], object] | None,
) -> GroupedRelease:
    """Return a release of each group; the last column of `source` says which a row is in.

    Parameters
    ----------
    job : Job
        The statistic.
    source : Source
        Its last column is one of labels.
    terms : Terms
        What is promised.
    keys : sequence of str or None
        The keys of the groups, public, or None: then those are found that are surely large
        enough not to be one person's.
    bounds, seed
        As for `prolate.mean`.
    charge : callable or None
        Books a budget and its label.
    """
    thread_count()  # what it cannot read is said before anything is charged
    *columns, by = source.columns
    names = tuple(columns) or ("rows",)
    limits = read_bounds(bounds, names, required=job.needs_bounds)
    delta = None
    if keys is None:
        if charge is not None:
            raise InputError(
                "A ledger adds up what Gaussian measurements cost, and has no place for the delta "
                "of showing which groups there are. Give the groups: keys=['north', 'south']."
            )
        price, delta = for_keys(terms.price)
        terms = replace(terms, price=price)
    elif charge is not None:
        charge(terms.price, f"{job.statistic} of {len(names)} columns by {by}")

    rows = _Split(source, names)
    numbers = rows.numbers(keys)
    marks: dict[str, object] = {"by": by} if delta is None else {"by": by, "keys_delta": delta}
    found: dict[str, Release] = {}
    for place, key in enumerate(numbers):
        group = rows.group(numbers[key])
        counts = []
        if delta is not None:
            counter = Curator(
                group,
                terms.budget(FOR_COUNT),
                neighbors=terms.relation,
                seed=_seed(seed, place, 1),
            )
            count = counter.measure(Count(len(names)), share=1.0, label="is the group there")
            if not passes(count, terms, delta):
                continue
            counts = [count]
        curator = Curator(
            group,
            terms.budget() if delta is None else terms.budget(FOR_THE_REST),
            neighbors=terms.relation,
            bounds=limits,
            seed=_seed(seed, place, 0),
        )
        details = {"group": {**marks, "key": key}}
        found[key] = job.sign(curator, job.estimate(curator), terms, before=counts, details=details)
    return GroupedRelease(
        statistic=job.statistic,
        by=by,
        groups=found,
        columns=job.names(names),
        budget=terms.price,
        neighbors=terms.neighbors,
        unit=terms.unit,
        keys_delta=delta,
        private=seed is None,
    )


def _seed(seed: int | None, place: int, which: int) -> int | None:
    """Return a seed for each curator, so that no two groups have the same noise."""
    if seed is None:
        return None
    return int(np.random.SeedSequence([seed, place, which]).generate_state(1, np.uint64)[0])


class _Split:
    """The rows of a source, group by group, in memory."""

    def __init__(self, source: Source, names: tuple[str, ...]) -> None:
        self._labels = source.labels[-1]
        self._names, self._rows_per_block = names, source.rows_per_block
        self._parts: dict[int, list[Block]] = {}
        for block in source.blocks():
            groups = block[:, -1].astype(np.int64)
            order = np.argsort(groups, kind="stable")
            begins = np.flatnonzero(np.diff(groups[order], prepend=-1))
            for rows in np.split(order, begins[1:]) if order.size else ():
                # Where there is nothing but the groups, they are what is counted.
                values = block[rows, :-1] if block.shape[1] > 1 else block[rows]
                self._parts.setdefault(int(groups[rows[0]]), []).append(values)

    def numbers(self, keys: Sequence[str] | None) -> dict[str, int]:
        """Return the numbers of the groups, in an order that depends on no row.

        Groups that are to be found have a row at least: a label may stand in rows that do not
        count, thousands of them one person's, and each would have its chance to be shown.
        """
        if keys is not None:
            return {key: self._labels.number(key) for key in keys}
        return {
            key: number
            for key, number in sorted(self._labels.named().items())
            if number in self._parts
        }

    def group(self, number: int) -> Source:
        """Return the rows of one group; they are forgotten here."""
        return _Held(self._parts.pop(number, []), self._names, self._rows_per_block)


class _Held(Source):
    """Rows in memory."""

    ordered = False

    def __init__(self, parts: list[Block], names: tuple[str, ...], rows_per_block: int) -> None:
        super().__init__(names, None, 1)
        self.rows_per_block = rows_per_block
        self._parts = [np.concatenate(parts)] if parts else []

    def blocks(self) -> Iterator[Block]:
        """Yield the rows."""
        for rows in self._parts:
            for start in range(0, rows.shape[0], self.rows_per_block):
                yield rows[start : start + self.rows_per_block]
