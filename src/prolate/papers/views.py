"""The tables that people see: one line per setting, one column per method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prolate.papers.methods import OURS
from prolate.papers.table import Cell, Table

__all__ = ["errors_by_setting", "lines_of", "variances_by_method", "x_axis"]

_WORDS = {"d": "d", "alpha": "alpha", "rho": "rho"}
_AGAINST = ("PLAN", "IOME")

Record = dict[str, Any]


def lines_of(records: Sequence[Record], *keys: str) -> dict[tuple[Cell, ...], list[Record]]:
    """Return the records by the values of some columns, in the order of first appearance."""
    groups: dict[tuple[Cell, ...], list[Record]] = {}
    for record in records:
        groups.setdefault(tuple(record[key] for key in keys), []).append(record)
    return groups


def x_axis(records: Sequence[Record]) -> str:
    """Return which of d, alpha and rho a panel varies most: the axis of its plot."""
    return max(("d", "alpha", "rho"), key=lambda key: len({record[key] for record in records}))


def errors_by_setting(table: Table) -> tuple[Table, ...]:
    """Return the errors of every panel, and how they compare with the published ones."""
    shown = []
    panels = lines_of(table.records(), "panel", "data")
    for (panel, data), records in panels.items():
        title = table.title if len(panels) == 1 else f"Figure {panel}, {data}"
        shown.append(_errors(table, title, records))
    for (panel, _), records in panels.items():
        if any(record["published"] is not None for record in records):
            shown.append(_published(table, f"Figure {panel}: measured over published", records))
    return tuple(shown)


def _setting_columns(records: Sequence[Record]) -> tuple[str, ...]:
    x = x_axis(records)
    varied = [key for key in _WORDS if key == x or len({r[key] for r in records}) > 1]
    return tuple(sorted(varied, key=lambda key: key != "rho"))


def _errors(table: Table, title: str, records: Sequence[Record]) -> Table:
    keys = _setting_columns(records)
    methods = tuple(dict.fromkeys(record["method"] for record in records))
    rivals = [name for name in _AGAINST if name in methods]
    rows = []
    for setting, of_setting in lines_of(records, *keys).items():
        found = {record["method"]: record for record in of_setting}
        errors = [found[method]["error"] for method in methods]
        ours = found[OURS]["noise_error"]
        rows.append((*setting, *errors, *(ours / found[name]["noise_error"] for name in rivals)))
    against = tuple(f"{OURS} / {name}" for name in rivals)
    first = records[0]
    notes = [f"n = {first['n']:,}"]
    notes += [f"{key} = {first[key]:g}" for key in ("d", "rho") if key not in keys]
    runs = sorted({record["runs"] for record in records})
    notes.append("runs: " + " or ".join(map(str, runs)))
    about = (
        f"{', '.join(notes)}. {OURS} / ...: quotients of the distances to the sample's own mean."
    )
    return Table(table.name, title, (*keys, *methods, *against), tuple(rows), (about,))


def _published(table: Table, title: str, records: Sequence[Record]) -> Table:
    keys = _setting_columns(records)
    known = [r for r in records if r["published"] is not None or r["published_noise"] is not None]
    have = {record["method"] for record in known}
    methods = [str(name) for (name,) in lines_of(records, "method") if name in have]
    with_noise = any(
        r["published_noise"] is not None and r["published_noise"] != r["published"] for r in known
    )
    columns = list(keys)
    for method in methods:
        columns += [f"{method} published", "ratio"]
        columns += ["noise ratio"] if with_noise and _has_noise(known, method) else []
    rows = []
    for setting, of_setting in lines_of(known, *keys).items():
        found = {record["method"]: record for record in of_setting}
        row: list[Cell] = list(setting)
        for method in methods:
            record = found.get(method, {})
            row += [record.get("published"), record.get("over_published")]
            if with_noise and _has_noise(known, method):
                row.append(record.get("over_published_noise"))
        rows.append(tuple(row))
    return Table(table.name, title, tuple(columns), tuple(rows))


def _has_noise(records: Sequence[Record], method: str) -> bool:
    return any(r["method"] == method and r["published_noise"] is not None for r in records)


def variances_by_method(table: Table) -> tuple[Table, ...]:
    """Return Table 2 with one line per method and setting, as the paper prints it."""
    keep = [place for place, name in enumerate(table.columns) if name != "runs"]
    rows = tuple(tuple(row[place] for place in keep) for row in table.rows)
    columns = tuple(table.columns[place] for place in keep)
    runs = f"{table.column('runs')[0]} runs."
    return (Table(table.name, table.title, columns, rows, (runs,)),)
