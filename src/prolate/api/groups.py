"""Releases for each group of rows, or of persons: the same statistic, measured in each.

Why the groups together cost what one of them does is proved in `prolate.api.terms`. Rows are read
once, and those of all groups are held in memory, or on Spark in its storage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from prolate.api.remarks import perhaps_empty
from prolate.api.signing import sign
from prolate.api.splitting import Held, quiet, split_rows
from prolate.api.terms import FOR_COUNT, FOR_THE_REST, Terms, for_keys, keys_price, passes
from prolate.budget import Budget
from prolate.curator import Curator, OneProcess, Progress
from prolate.errors import InputError
from prolate.ledger import Ledger
from prolate.measurement import Measurement
from prolate.public_numbers import Bounds
from prolate.queries import Count, Histogram, LinearGrid
from prolate.release import GroupedRelease, Release
from prolate.release.key import Key, in_words
from prolate.sources.label_types import LabelType
from prolate.sources.source import Source
from prolate.sources.threads import thread_count

if TYPE_CHECKING:
    from prolate.api.job import Job
__all__ = ["GROUPS", "check_source", "release_groups"]

GROUPS = "groups"
"""What progress is called where it counts groups."""

_PLACES_PER_BLOCK = 1 << 20


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
    process = OneProcess()

    report = progress or quiet
    rows = split_rows(source, names, keys, report)
    numbers = rows.numbers(keys)
    marks: dict[str, object] = {"by": by} if delta is None else {"by": by, "keys_delta": delta}
    public = source.n_rows if terms.neighbors == "replace" and terms.unit is None else None
    found: dict[Key, Release] = {}
    if delta is not None:
        report(GROUPS, 0, None)
    counts: dict[int, Measurement] = {}
    if delta is not None:
        sizes = [rows.size(number) for number in numbers.values()]
        process.check()
        counts = _large_enough(sizes, of_count, terms, delta, _seed(seed, 0, 1))
    for place, key in enumerate(numbers):
        if delta is None:
            report(GROUPS, place, len(numbers))
        elif place not in counts:
            continue
        process.check()
        group = rows.group(numbers[key])
        curator = Curator(
            group,
            of_group,
            neighbors=terms.relation,
            bounds=limits,
            seed=_seed(seed, place, 0),
        )
        details = {"group": {**marks, "key": key}}
        estimate = job.estimate(curator)
        named = delta is None and not job.only_counts  # where the count itself says it
        found[key] = sign(
            job,
            curator,
            estimate,
            terms,
            before=[counts[place]] if place in counts else [],
            details=details,
            rows=public,
            said=perhaps_empty(curator.receipt, estimate.rows) if named else (),
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


def _large_enough(
    sizes: Sequence[int], budget: Budget, terms: Terms, delta: float, seed: int | None
) -> dict[int, Measurement]:
    """Return the counts of the groups that are so large that they show, by the groups' places.

    Each is counted as if by a curator of its own, with noise of its own; all at once, because there
    may be very many. A row is in one cell of the histogram, so it moves one count by 1. How many
    cells there are is private, and is told by nothing that is returned.
    """
    if not sizes:
        return {}
    places = np.repeat(np.arange(len(sizes), dtype=np.float64), sizes)[:, np.newaxis]
    every = Held([places], ("group",), _PLACES_PER_BLOCK)
    cells = Histogram(LinearGrid(np.array([-0.5]), np.ones(1), len(sizes)))
    counter = Curator(every, budget, neighbors=terms.relation, seed=seed)
    counted = counter.measure(cells, share=1.0, label="is the group there")
    counts = counted.values[1:-1]  # none are beyond
    query = Count(1).describe()
    return {
        place: replace(counted, values=counts[place : place + 1], query=query)
        for place in np.flatnonzero(passes(counts, counted.std, terms, delta)).tolist()
    }


def _check_possible(source: Source, keys: Sequence[Key]) -> None:
    """Raise `InputError` where no row can have a key, as the file or the column's type says."""
    for key in keys:
        why = source.labels[-1].refusal(key)
        if why is not None:
            raise InputError(why)


def _seed(seed: int | None, place: int, which: int) -> int | None:
    """Return a seed for each curator, so that no two groups have the same noise."""
    if seed is None:
        return None
    return int(np.random.SeedSequence([seed, place, which]).generate_state(1, np.uint64)[0])
