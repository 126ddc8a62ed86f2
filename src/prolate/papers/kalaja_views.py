"""Kalaja's figures as tables for people, and as plots."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from prolate.papers.draw import write_out_y
from prolate.papers.methods import OURS
from prolate.papers.style import LOOKS, Look, axes_grid, png, tidy
from prolate.papers.table import Cell, Table
from prolate.papers.views import lines_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_sets", "errors_by_set"]

_FIXED_LOOKS = {OURS: LOOKS[OURS], "trivial": Look("#000000", "x", ":")}
_OTHERS = (
    Look("#777777", "D", "--"),
    Look("#0072B2", "s"),
    Look("#56B4E9", "^", "--"),
    Look("#009E73", "v"),
    Look("#CC79A7", "D", "--"),
    Look("#E69F00", "s"),
)
_ACROSS, _MANY = 2, 4
_FARTHEST = 3.0  # times the trivial error: SSP's may be anything

Record = dict[str, Any]


def errors_by_set(table: Table) -> tuple[Table, ...]:
    """Return a line per set and budget with a column per curve, and how Wang's compare."""
    records = table.records()
    curves = [str(curve) for (curve,) in lines_of(records, "curve")]
    private = {r["curve"]: r["private"] == "yes" for r in records}
    rows = [
        (*place, *(_of(found, curve, "error") for curve in curves))
        for place, found in lines_of(records, "data", "n", "d", "epsilon").items()
    ]
    heads = [curve if private[curve] else f"{curve} *" for curve in curves]
    why: dict[str, list[str]] = {}
    for record in records:
        steps = [step for step in str(record["not_private"]).split(", ") if step != "method"]
        curves_of = why.setdefault(", ".join(steps), [])
        if record["not_private"] and record["curve"] not in curves_of:
            curves_of.append(str(record["curve"]))
    notes = [
        f"* is not private, by its rows ({steps}): {'; '.join(of)}."
        for steps, of in why.items()
        if of
    ]
    if any(str(record["not_private"]).endswith("method") for record in records):
        notes.append("ridge, with lambda = 1, is not private by itself.")
    repeats = records[0]["repeats"]
    notes.append(f"Means of {repeats} cross-validation{'s' * (repeats != 1)}.")
    columns = ("data", "n", "d", "epsilon", *heads)
    shown = [Table(table.name, table.title, columns, tuple(rows), tuple(notes))]
    known = [r for r in records if r["published"] is not None]
    if known:
        theirs = [str(curve) for (curve,) in lines_of(known, "curve")]
        ratios = [
            (*place, *(_of(found, curve, "over_published") for curve in theirs))
            for place, found in lines_of(known, "data", "epsilon").items()
        ]
        title = f"{table.title}; measured over published"
        shown.append(Table(table.name, title, ("data", "epsilon", *theirs), tuple(ratios)))
    return tuple(shown)


def _of(records: Sequence[Record], curve: str, column: str) -> Cell:
    found: Cell = next((r[column] for r in records if r["curve"] == curve), None)
    return found


def draw_sets(table: Table) -> bytes:
    """Return the curves as a PNG, a plot per set; hollow markers are the published numbers.

    A plot ends at three times the trivial error; what lies beyond is in the table.
    """
    plots = lines_of(table.records(), "data")
    across = min(len(plots), _ACROSS if len(plots) <= _MANY else _MANY)
    figure, grid = axes_grid([1.0] * -(-len(plots) // across), across)
    cells = [axes for line in grid for axes in line]
    curves = [str(curve) for (curve,) in lines_of(table.records(), "curve")]
    others = iter(_OTHERS)
    looks = {curve: _FIXED_LOOKS.get(curve) or next(others) for curve in curves}
    for axes, records in zip(cells, plots.values(), strict=False):
        _draw_set(axes, records, looks)
    for axes in cells[len(plots) :]:
        axes.set_axis_off()
    for line in grid:
        line[0].set_ylabel("mean squared error / max y²", fontsize=9)
    title = table.title
    if any(cell is not None for cell in table.column("published")):
        title += " (hollow: published)"
    width = figure.get_size_inches()[0]
    figure.suptitle("\n".join(textwrap.wrap(title, int(12 * width))), fontsize=11)
    handles, labels = cells[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=2 * across, fontsize=9, frameon=False
    )
    return png(figure)


def _draw_set(axes: Axes, records: Sequence[Record], looks: dict[str, Look]) -> None:
    for (curve,), found in lines_of(records, "curve").items():
        look = looks[str(curve)]
        at = [r["epsilon"] for r in found]
        line = look.line(thick=curve == OURS)
        axes.plot(at, [r["error"] for r in found], label=str(curve), **line)
        known = [r for r in found if r["published"] is not None]
        axes.plot([r["epsilon"] for r in known], [r["published"] for r in known], **look.hollow())
    first = records[0]
    axes.set_title(f"{first['data']}, {first['n']:,} × {first['d']}", fontsize=10, loc="left")
    axes.set_xscale("log")
    axes.set_yscale("log")
    points = sorted({r["epsilon"] for r in records})
    axes.set_xticks(points, [f"{point:g}" for point in points])
    axes.minorticks_off()
    axes.set_xlabel("ε", fontsize=9)
    trivial = max(r["error"] for r in records if r["curve"] == "trivial")
    least = min(r["error"] for r in records)
    axes.set_ylim(0.8 * least, _FARTHEST * trivial)
    write_out_y(axes)
    tidy(axes)
