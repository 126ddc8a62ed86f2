"""The tables of Poulsen's drafts as people see them: one line per setting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prolate.papers.table import Cell, Table
from prolate.papers.views import lines_of

__all__ = ["best_clips", "first_columns", "gains", "improvements"]

_FIRST = (1, 2, 3, 5, 10, 20, 50, 100)

Record = dict[str, Any]
Place = tuple[Cell, ...]


def first_columns(table: Table) -> tuple[Table, ...]:
    """Return Figure 1 with a line for some of the columns, and alpha side by side."""
    groups = lines_of(table.records(), "column")
    rows = [(j, *(r["sigma"] for r in records)) for (j,), records in groups.items() if j in _FIRST]
    alphas = lines_of(table.records(), "alpha")
    columns = ("column", *(f"alpha = {alpha:g}" for (alpha,) in alphas))
    return (Table(table.name, table.title, columns, tuple(rows)),)


def improvements(table: Table) -> tuple[Table, ...]:
    """Return Figure 2 with a line per d and alpha, and n side by side."""
    shown = [_by_rows(table, table.title, {"improvement": ""})]
    known = [r for r in table.records() if r["published"] is not None]
    if known:
        part = Table(table.name, "", table.columns, tuple(tuple(r.values()) for r in known))
        title = "Figure 2: worked out over published"
        shown.append(_by_rows(part, title, {"over_published": ""}))
    return tuple(shown)


def best_clips(table: Table) -> tuple[Table, ...]:
    """Return one line per setting: the best clipping probability, and what it gains."""
    rows: list[tuple[Cell, ...]] = []
    for setting, records in lines_of(table.records(), "alpha", "d", "n", "offset").items():
        points = {record["point"]: record for record in records}
        best, usual = points["best"], points["1/n"]
        numbers = usual["over_sampling"], best["over_sampling"], best["clip"]
        rows.append((*setting, *numbers, 1.0 / best["over_usual"]))
    columns = (
        "alpha", "d", "n", "offset", "error at 1/n", "at the best", "best probability", "gain",
    )  # fmt: skip
    note = "Errors are lengths over the sampling error. gain: error at 1/n over the best."
    return (Table(table.name, table.title, columns, tuple(rows), (note,)),)


def gains(table: Table) -> tuple[Table, ...]:
    """Return one line per d and alpha: gains at each n side by side."""
    return (_by_rows(table, table.title, {"gain": "", "gain_at_best": "best clip, "}),)


def _by_rows(table: Table, title: str, measures: dict[str, str]) -> Table:
    """Return a line per d and alpha, and a column for each measure and n."""
    sizes = [n for (n,) in lines_of(table.records(), "n")]
    groups = lines_of(table.records(), "d", "alpha")
    rows = [
        (*place, *(_at(records, n, measure) for measure in measures for n in sizes))
        for place, records in groups.items()
    ]
    columns = ("d", "alpha", *(f"{word}n = {n}" for word in measures.values() for n in sizes))
    return Table(table.name, title, columns, tuple(rows))


def _at(records: Sequence[Record], n: Cell, measure: str) -> Cell:
    found: Cell = next((r[measure] for r in records if r["n"] == n), None)
    return found
