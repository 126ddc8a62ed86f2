"""Releases for each group of rows, or of persons: the same statistic, measured in each.

Why the groups together cost what one of them does is proved in `prolate.api.terms`. Rows are read
once, and those of all groups are held in memory, or on Spark in its storage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from prolate.api.group_columns import JoinedLabels
from prolate.api.signing import sign
from prolate.api.terms import FOR_COUNT, FOR_THE_REST, Terms, for_keys, keys_price, passes
from prolate.arguments import Bounds
from prolate.budget import Budget
from prolate.curator import Curator, Progress
from prolate.errors import InputError
from prolate.ledger import Ledger
from prolate.measurement import Measurement
from prolate.queries import Count
from prolate.release import GroupedRelease, Release
from prolate.release.key import Key, in_words
from prolate.sources.label_types import LabelType
from prolate.sources.source import Block, Source
from prolate.sources.threads import thread_count

if TYPE_CHECKING:
    from prolate.api.job import Job
    from prolate.sources.spark import SparkSource

__all__ = ["GROUPS", "check_source", "release_groups"]

GROUPS = "groups"
"""What progress is called where it counts groups."""


def check_source(source: Source, by: int, keys: Sequence[Key] | None) -> None:
    """Raise `InputError` where rows cannot be put into groups.

    Parameters
    ----------
    source : Source
        Its columns of labels are those of persons, if there are any, and then of groups.
    by : int
        How many are those of groups.
    keys : sequence or None
    """
    from prolate.sources.spark import SparkSource

    if not isinstance(source, SparkSource):
        return
    if keys is None:
        raise InputError(
            "On Spark, groups are not found: labels stay there. Give the groups, if they are "
            "public: keys=['north', 'south']."
        )
    if by > 1:
        raise InputError(
            "On Spark, by is one column; make one of several, for example with concat_ws."
        )
    if len(source.labels) > by:
        raise InputError(
            "On Spark, by goes without unit: persons have no first row there, which says whose "
            "group they are in."
        )


def release_groups(
    job: Job,
    source: Source,
    terms: Terms,
    by: Key,
    keys: Sequence[Key] | None,
    by_types: tuple[LabelType, ...],
    *,
    bounds: Bounds | None,
    seed: int | None,
    ledger: Ledger | None,
    progress: Progress | None = None,
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
    by : str or tuple of str
        What that column is called.
    keys : sequence or None
        The keys of the groups, public, or None: then those are found that are surely large
        enough not to be one person's.
    by_types : tuple of str
        What values the labels of each column of groups are.
    bounds, seed
        As for `prolate.mean`.
    ledger : Ledger or None
        Charged before any row is read.
    progress : callable, optional
        Called as rows are read; and then with how many groups are done, of how many, where
        the keys are public: which groups there are, and how large, is private.
    """
    thread_count()  # what it cannot read is said before anything is charged
    _check_possible(source, keys or ())
    names = source.columns[:-1] or ("rows",)
    limits = job.limits(bounds, source, names)
    delta, aside = None, 0.0
    if keys is None:
        price, delta = for_keys(terms.price)
        terms = replace(terms, price=price)
        aside = keys_price(terms, delta)
    # A part that is too small is said before anything is charged, or it would tell of a group.
    of_group = terms.budget() if delta is None else terms.budget(FOR_THE_REST)
    of_count = of_group if delta is None else terms.budget(FOR_COUNT)
    label = job.entry(names, seed, by=in_words(by))
    terms.charging(ledger, terms.price, label, aside)()

    report = progress or _quiet
    rows = _split(source, names, keys, report)
    numbers = rows.numbers(keys)
    marks: dict[str, object] = {"by": by} if delta is None else {"by": by, "keys_delta": delta}
    found: dict[Key, Release] = {}
    if delta is not None:
        report(GROUPS, 0, None)
    for place, key in enumerate(numbers):
        if delta is None:
            report(GROUPS, place, len(numbers))
        group = rows.group(numbers[key])
        counts = []
        if delta is not None:
            count = _count_if_large(group, of_count, terms, delta, _seed(seed, place, 1))
            if count is None:
                continue
            counts = [count]
        curator = Curator(
            group,
            of_group,
            neighbors=terms.relation,
            bounds=limits,
            seed=_seed(seed, place, 0),
        )
        details = {"group": {**marks, "key": key}}
        found[key] = sign(
            job, curator, job.estimate(curator), terms, before=counts, details=details
        )
    if delta is None:
        report(GROUPS, len(numbers), len(numbers))
    return GroupedRelease(
        statistic=job.statistic,
        by=by,
        by_types=by_types,
        groups=found,
        columns=job.names(names),
        budget=terms.price,
        neighbors=terms.neighbors,
        unit=terms.unit,
        keys_delta=delta,
        private=seed is None,
    )


def _count_if_large(
    group: Source, budget: Budget, terms: Terms, delta: float, seed: int | None
) -> Measurement | None:
    """Return the count of a group, or None if it is too small to show that the group is there."""
    counter = Curator(group, budget, neighbors=terms.relation, seed=seed)
    count = counter.measure(Count(len(group.columns)), share=1.0, label="is the group there")
    return count if passes(count, terms, delta) else None


def _check_possible(source: Source, keys: Sequence[Key]) -> None:
    """Raise `InputError` where no row can have a key, as the file or the column's type says."""
    for key in keys:
        why = source.labels[-1].refusal(key)
        if why is not None:
            raise InputError(why)


def _quiet(label: str, rows_done: int, rows_total: int | None) -> None:
    """Report progress to nobody."""


def _seed(seed: int | None, place: int, which: int) -> int | None:
    """Return a seed for each curator, so that no two groups have the same noise."""
    if seed is None:
        return None
    return int(np.random.SeedSequence([seed, place, which]).generate_state(1, np.uint64)[0])


def _split(
    source: Source, names: tuple[str, ...], keys: Sequence[Key] | None, report: Progress
) -> _Split | _SparkSplit:
    from prolate.sources.spark import SparkSource

    if isinstance(source, SparkSource):
        return _SparkSplit(source, keys or ())
    return _Split(source, names, report)


class _SparkSplit:
    """The rows of a Spark data frame, group by group, in Spark's storage."""

    def __init__(self, source: SparkSource, keys: Sequence[Key]) -> None:
        self._source, self._keys = source.grouped(keys), keys

    def numbers(self, keys: Sequence[Key] | None) -> dict[Key, int]:
        """Return numbers of the groups, whose keys are public."""
        return {key: number for number, key in enumerate(keys or ())}

    def group(self, number: int) -> Source:
        """Return the rows of one group, which stay on Spark."""
        return self._source.group(self._keys[number])


class _Split:
    """The rows of a source, group by group, in memory."""

    def __init__(self, source: Source, names: tuple[str, ...], report: Progress = _quiet) -> None:
        self._labels = source.labels[-1]
        self._names, self._rows_per_block = names, source.rows_per_block
        self._kinds = source.flags, source.whole, source.averaged
        self._parts: dict[int, list[Block]] = {}
        read = 0
        report("rows of all groups", read, source.n_rows)
        for block in source.blocks():
            groups = block[:, -1].astype(np.int64)
            order = np.argsort(groups, kind="stable")
            begins = np.flatnonzero(np.diff(groups[order], prepend=-1))
            for rows in np.split(order, begins[1:]) if order.size else ():
                # Where there is nothing but the groups, they are what is counted.
                values = block[rows, :-1] if block.shape[1] > 1 else block[rows]
                self._parts.setdefault(int(groups[rows[0]]), []).append(values)
            read += block.shape[0]
            report("rows of all groups", read, source.n_rows)

    def numbers(self, keys: Sequence[Key] | None) -> dict[Key, int]:
        """Return the numbers of the groups, in an order that depends on no row.

        Groups that are to be found have a row at least: a label may stand in rows that do not
        count, thousands of them one person's, and each would have its chance to be shown.
        """
        labels = self._labels
        if keys is not None:
            return {key: labels.number(key) for key in keys}
        named: Mapping[Any, int] = (
            labels.tuples() if isinstance(labels, JoinedLabels) else labels.named()
        )
        return {key: number for key, number in sorted(named.items()) if number in self._parts}

    def group(self, number: int) -> Source:
        """Return the rows of one group; they are forgotten here."""
        held = _Held(self._parts.pop(number, []), self._names, self._rows_per_block)
        held.flags, held.whole, held.averaged = self._kinds
        return held


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
