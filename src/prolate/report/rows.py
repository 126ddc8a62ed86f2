"""The table of a report: which numbers it shows, as text and as error bars."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np

from prolate.release import GroupedRelease, Release
from prolate.release.key import parts
from prolate.release.plot import correlations
from prolate.release.views import each, is_unknown, label_of, name_of, numbers, stated, value_header
from prolate.release.words import printable
from prolate.report.drawing import ErrorBar, Mark, draw_errors, draw_together

__all__ = ["Row", "Table", "group_tables", "make_table"]

_MOST_ROWS = 3000
_MOST_PAIRS = 200  # of a matrix that has more than `_MOST_ROWS`

Place = tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """One number: its names, its texts, its error bar."""

    names: list[str]
    numbers: list[str]
    bar: ErrorBar | None


@dataclass(frozen=True)
class Table:
    """The table of a report.

    Attributes
    ----------
    header : list of str
        Names, then numbers.
    rows : list of Row
    names : int
        How many cells of a row are names.
    drawn : bool
        Whether rows have error bars.
    axis : list of Mark
        Of the error bars; empty where each has a scale of its own.
    scale : str
        What has a scale of its own, where there is no common axis.
    hidden : str
        A sentence on the numbers that are not shown, or nothing.
    """

    header: list[str]
    rows: list[Row]
    names: int
    drawn: bool
    axis: list[Mark]
    scale: str
    hidden: str


def make_table(release: Release, level: float, most: int = _MOST_ROWS) -> Table:
    """Return the table of a release, of at most `most` rows or a few more."""
    places, hidden = _places(release, most)
    parts, second = stated(release), release.second_label
    records = list(release._records(places, level))
    known = [i for i, record in enumerate(records) if _is_drawn(record)]
    drawn = bool(known) and release.noise_std is not None
    bars: dict[int, ErrorBar] = {}
    axis: list[Mark] = []
    if drawn:
        estimate, low, high, noise = (
            np.array([records[i][name] for i in known])
            for name in ("estimate", "lower", "upper", "noise_std")
        )
        own = known if release.is_matrix else [places[i][-1] for i in known]
        group = np.unique(np.array(own), return_inverse=True)[1]
        estimate = np.clip(estimate, low, high)  # as it is shown
        zero = release.is_matrix or release.statistic == "regression"
        several, axis = draw_errors(estimate, low, high, noise, group, zero=zero)
        bars = dict(zip(known, several, strict=True))
    rows = []
    for i, record in enumerate(records):
        names = [printable(record["column"]) or "(no name)"]
        if second is not None:
            names.append(label_of(record[second]))
        texts = numbers(record, parts, intervals=release.has_intervals)
        rows.append(Row(names, texts, bars.get(i)))
    return Table(
        header=["column", *value_header(release, parts, level, intervals=release.has_intervals)],
        rows=rows,
        names=2 if second else 1,
        drawn=drawn,
        axis=axis,
        scale="column" if second == "q" else "row",
        hidden=hidden,
    )


def _is_drawn(record: dict[str, Any]) -> bool:
    """Return whether a number has an interval, and is known at all."""
    return record["lower"] is not None and not is_unknown(record["noise_std"])


def group_tables(
    groups: GroupedRelease, level: float, most: int = _MOST_ROWS
) -> tuple[list[tuple[str, Table]], str]:
    """Return a table for every number of a group: its name, and a row for each group.

    With it a sentence on the tables that are left out, so that there are `most` rows or a few
    more, or nothing.
    """
    first, releases = groups.first, list(groups.groups.values())
    if first is None:
        return [], ""
    places, hidden = _places(first, max(1, most // len(releases)))
    shown = stated(*releases)
    intervals = any(release.has_intervals for release in releases)
    header = value_header(first, shown, level, intervals=intervals)
    header = header[1:] if first.second_label else header
    counted = first.statistic == "count"
    found = []
    for place in places:
        records = [next(release._records([place], level)) for release in releases]
        drawn = [i for i, record in enumerate(records) if _is_drawn(record)]
        bars: dict[int, ErrorBar] = {}
        axis: list[Mark] = []
        if drawn:
            columns = (
                np.array([records[i][name] or 0.0 for i in drawn])
                for name in ("estimate", "lower", "upper", "noise_std")
            )
            several, axis = draw_together(*columns)
            bars = dict(zip(drawn, several, strict=True))
        rows = []
        for i, (key, record) in enumerate(zip(groups.groups, records, strict=True)):
            texts = numbers(record, shown, intervals=intervals)
            texts += [] if counted else [f"{releases[i].n:,.0f}"]
            rows.append(Row([*map(printable, parts(key))], texts, bars.get(i)))
        table = Table(
            header=[*map(printable, parts(groups.by)), *header, *([] if counted else ["n"])],
            rows=rows,
            names=len(parts(groups.by)),
            drawn=bool(drawn),
            axis=axis,
            scale="group",
            hidden="",
        )
        found.append((name_of(first, place), table))
    return found, hidden


def _places(release: Release, most: int) -> tuple[list[Place], str]:
    """Return which numbers to show, in their order, and a sentence on those that are not."""
    d = len(release.columns)
    if not release.is_matrix:
        count = release.estimate.size
        every = product(range(d), *map(range, release.estimate.shape[:-1]))  # a column's together
        places: list[Place] = [place[::-1] for place in islice(every, most)]
        return places, "" if count <= most else f"These are the first {most:,} of {count:,}."
    i, j = each(release)
    if i.size > most:
        far = np.abs(correlations(release)[i, j])
        far[i == j] = 0.0
        keep = np.argsort(-far, kind="stable")[: min(_MOST_PAIRS, most)]
        hidden = (
            f"These are the {keep.size:,} of {i.size:,} pairs of columns with the strongest "
            "correlations."
        )
        i, j = i[keep], j[keep]
    else:
        hidden = ""
    return list(zip(i.tolist(), j.tolist(), strict=True)), hidden
