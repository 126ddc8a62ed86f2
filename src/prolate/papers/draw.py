"""The plots: error curves, ellipses of noise, and the dots of Table 2."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from prolate.papers.methods import OURS, SAMPLE_MEAN
from prolate.papers.style import LOOKS, axes_grid, need_matplotlib, png, tidy
from prolate.papers.table import Table, in_words
from prolate.papers.views import lines_of, x_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_errors", "draw_shapes", "draw_variances", "need_matplotlib", "write_out_y"]

_X_LABELS = {"d": "dimension d", "alpha": "skewness α", "rho": "budget ρ"}
_ABOVE, _BELOW = 1.0, 0.6  # heights of a panel's two plots
_FARTHEST, _WORST = 20.0, 10.0  # times Prolate's: beyond that, a number at the edge says it
_BACKGROUND = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
_MARKERS = tuple(look.marker for look in LOOKS.values())
_TICKS = (0.01, 0.03, 0.1, 0.3)
_SHAPE_COLORS = ("#8B5A2B", "#009E73", "#0072B2", "#E69F00")

Record = dict[str, Any]


def draw_errors(table: Table) -> bytes:
    """Return error curves as a PNG: two plots, one below the other, per panel and budget.

    Above, errors as in the paper, with thin bars from the least to the greatest of the runs,
    and hollow markers for published numbers. Below, the distances to the sample's own mean in
    units of Prolate's. What exceeds a plot by far is a number at its upper edge.
    """
    panels = [_plots(records) for records in lines_of(table.records(), "panel").values()]
    most = max(map(len, panels))
    # A panel's budgets stand side by side; those of several panels, below each other.
    across = len(panels) == 1
    figure, grid = axes_grid(
        [_ABOVE, _BELOW] * (1 if across else most), most if across else len(panels)
    )
    for column, of_panel in enumerate(panels):
        pairs = [
            (grid[0][i], grid[1][i]) if across else (grid[2 * i][column], grid[2 * i + 1][column])
            for i in range(most)
        ]
        _draw_panel(of_panel, pairs, across=across)
    _finish(figure, grid[0][0], table)
    return png(figure)


def _draw_panel(
    plots: Sequence[Sequence[Record]], pairs: Sequence[tuple[Axes, Axes]], *, across: bool
) -> None:
    used = [record for plot in plots for record in plot]
    for place, (above, below) in enumerate(pairs):
        if place >= len(plots):
            above.set_axis_off()
            below.set_axis_off()
            continue
        if place > 0:
            above.sharey(pairs[0][0])
            below.sharey(pairs[0][1])
        _draw_curves(above, plots[place])
        _draw_ratios(below, plots[place])
        if place > 0 and across:
            above.tick_params(labelleft=False)
            below.tick_params(labelleft=False)
        else:
            above.set_ylabel(_y_label(used), fontsize=9)
            below.set_ylabel(f"noise over\n{OURS}’s", fontsize=9)
    drawn = pairs[: len(plots)]
    most = max(r["error"] for r in used if r["method"] == OURS)
    _cut([above for above, _ in drawn], _FARTHEST * most)
    _cut([below for _, below in drawn], _WORST)


def _plots(records: Sequence[Record]) -> list[list[Record]]:
    """Return a panel's records plot by plot: one for each budget, or one with all of them."""
    return [list(records)] if x_axis(records) == "rho" else list(lines_of(records, "rho").values())


def _draw_curves(axes: Axes, records: Sequence[Record]) -> None:
    x = x_axis(records)
    for (method,), curve in lines_of(records, "method").items():
        drawn = [r for r in curve if r["error"] > 0.0]  # the sample mean's own noise is 0
        if not drawn:
            continue
        look = LOOKS[str(method)]
        at, error = [r[x] for r in drawn], np.array([r["error"] for r in drawn])
        ends = np.array([[r["lowest"], r["highest"]] for r in drawn]).T
        axes.errorbar(
            at, error, yerr=np.abs(ends - error), label=str(method), elinewidth=0.8, capsize=2,
            **look.line(thick=method == OURS),
        )  # fmt: skip
        known = [r for r in curve if r["published"] is not None]
        axes.plot([r[x] for r in known], [r["published"] for r in known], **look.hollow())
    first = records[0]
    where = str(first["data"]) if x == "rho" else f"ρ = {first['rho']:g}"
    axes.set_title(f"{first['panel']}, {where}", fontsize=10, loc="left")
    _finish_axes(axes, records)


def _draw_ratios(axes: Axes, records: Sequence[Record]) -> None:
    x = x_axis(records)
    ours = {r[x]: r["noise_error"] for r in records if r["method"] == OURS}
    for (method,), curve in lines_of(records, "method").items():
        ratios = [r["noise_error"] / ours[r[x]] for r in curve]
        if method != SAMPLE_MEAN:
            axes.plot(
                [r[x] for r in curve], ratios, **LOOKS[str(method)].line(thick=method == OURS)
            )
    _finish_axes(axes, records)
    label = _X_LABELS[x]
    if x == "alpha" and records[0]["data"] == "Binary":
        label = "part α of balanced columns"
    axes.set_xlabel(label, fontsize=9)


def _finish_axes(axes: Axes, records: Sequence[Record]) -> None:
    x = x_axis(records)
    axes.set_yscale("log")
    if x != "alpha":
        axes.set_xscale("log", base=2)
    points = sorted({r[x] for r in records})
    axes.set_xticks(points, [f"{point:g}" for point in points])
    axes.minorticks_off()
    tidy(axes)


def _cut(row: Sequence[Axes], farthest: float) -> None:
    """Cut the shared y axis of a row at `farthest`, naming what lies beyond, and label it."""
    low, high = row[0].get_ylim()
    for axes in row:
        beyond: dict[float, list[tuple[float, str]]] = {}
        for line in axes.get_lines():
            xs, ys = (np.asarray(values, dtype=float) for values in line.get_data())
            if line.get_marker() not in _MARKERS:
                continue  # the ends of an error bar
            for x, y in zip(xs, ys, strict=True):
                if y > farthest:
                    beyond.setdefault(x, []).append((y, str(line.get_color())))
        for x, found in beyond.items():
            for place, (y, color) in enumerate(sorted(found, reverse=True)):
                axes.annotate(
                    f"{in_words(float(y))} ↑", (x, 1.0), xycoords=("data", "axes fraction"),
                    xytext=(-4, -2 - 10 * place), textcoords="offset points", fontsize=8,
                    color=color, ha="right", va="top", bbox=_BACKGROUND,
                )  # fmt: skip
    if high > farthest:
        row[0].set_ylim(low, farthest)
    for axes in row:
        write_out_y(axes)


def write_out_y(axes: Axes) -> None:
    """Write the numbers of a logarithmic axis out, and enough of them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_ylim()
    decades = np.log10(high / low)
    steps: tuple[float, ...] = (1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 7.0)
    for enough, coarser in (
        (0.5, (1.0, 1.5, 2.0, 3.0, 5.0)),
        (1.0, (1.0, 2.0, 5.0)),
        (3.0, (1.0,)),
    ):
        steps = coarser if decades > enough else steps
    axes.yaxis.set_major_locator(LogLocator(base=10.0, subs=steps, numticks=20))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _y_label(records: Sequence[Record]) -> str:
    binary = records[0]["data"] in ("Binary", "Kosarak", "POS")
    against_sample = all(r["error"] == r["noise_error"] for r in records)
    what = "½ ℓ1" if binary else "ℓ2"
    return f"{what} distance to the {'sample’s own' if against_sample else 'true'} mean"


def _finish(figure: Figure, axes: Axes, table: Table) -> None:
    from matplotlib.lines import Line2D

    handles, labels = axes.get_legend_handles_labels()
    if any(cell is not None for cell in table.column("published")):
        handles.append(
            Line2D([], [], linestyle="none", marker="o", markersize=8, color="#555555",
                   markerfacecolor="none")
        )  # fmt: skip
        labels.append("published")
    width = figure.get_size_inches()[0]
    widths = [0.6 + 0.08 * len(label) for label in labels]  # inches
    columns = len(labels) if sum(widths) < width else max(2, int(width / max(widths)))
    figure.suptitle("\n".join(textwrap.wrap(table.title, int(12 * width))), fontsize=11)
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, fontsize=9,
        frameon=False,
    )  # fmt: skip


def draw_shapes(table: Table) -> bytes:
    """Return Figure 6 as a PNG: where noise lies within one standard deviation."""
    figure, grid = axes_grid([1.0], 1)
    axes, turn = grid[0][0], np.linspace(0.0, 2.0 * np.pi, 400)
    lines = ("-", "-", "-", "--")
    for record, color, line in zip(table.records(), _SHAPE_COLORS, lines, strict=True):
        first, second = record["std 1"], record["std 2"]
        axes.plot(first * np.cos(turn), second * np.sin(turn), color=color, linestyle=line,
                  linewidth=1.8, label=record["scaling"])  # fmt: skip
    axes.set_aspect("equal")
    axes.set_xlabel("query of sensitivity 4", fontsize=9)
    axes.set_ylabel("query of sensitivity 1", fontsize=9)
    tidy(axes)
    handles, labels = axes.get_legend_handles_labels()
    figure.suptitle("PLAN, Figure 6: one standard deviation of the noise", fontsize=11)
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=9, frameon=False)
    return png(figure)


def draw_variances(table: Table) -> bytes:
    """Return Table 2 as a PNG: a plot per setting, a dot per method, hollow if published."""
    plots = lines_of(table.records(), "rho", "variance")
    figure, grid = axes_grid([1.0], len(plots))
    for axes, ((rho, variance), records) in zip(grid[0], plots.items(), strict=True):
        for place, record in enumerate(records):
            color = LOOKS[OURS if record["method"] == OURS else "PLAN"].color
            axes.plot(record["error"], place, "o", color=color, markersize=6)
            if record["published"] is not None:
                axes.plot(record["published"], place, "o", markersize=10, markerfacecolor="none",
                          markeredgecolor=color)  # fmt: skip
        axes.set_yticks(range(len(records)), [record["method"] for record in records])
        axes.tick_params(labelleft=axes is grid[0][0])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.set_xlim(0.004, 0.6)
        axes.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
        axes.minorticks_off()
        axes.set_title(f"ρ = {rho:g}, σ² = {variance:g}", fontsize=10, loc="left")
        axes.set_xlabel("relative error of σ", fontsize=9)
        tidy(axes)
    figure.suptitle(f"{table.title} (filled: measured, hollow: published)", fontsize=11)
    return png(figure)
