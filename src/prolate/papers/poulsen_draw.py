"""The plots of Poulsen's drafts: curves over alpha, over columns, over clipping probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from prolate.papers.style import axes_grid, png, tidy
from prolate.papers.table import Table
from prolate.papers.views import lines_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_clips", "draw_constraint", "draw_improvements", "draw_shares"]

_COLORS = ("#0072B2", "#D55E00", "#009E73")
_DASHES = ("-", "--")

Record = dict[str, Any]


def draw_shares(table: Table) -> bytes:
    """Return Figure 1 as a PNG: a column's share of the standard deviations."""
    figure, grid = axes_grid([1.0], 1)
    axes = grid[0][0]
    for ((alpha,), records), color in zip(
        lines_of(table.records(), "alpha").items(), _COLORS, strict=True
    ):
        axes.plot([r["column"] for r in records], [r["sigma"] for r in records], ".-",
                  color=color, markersize=4, linewidth=1.2, label=f"α = {alpha:g}")  # fmt: skip
    axes.set_yscale("log")
    axes.set_xlabel("column", fontsize=9)
    axes.set_ylabel("standard deviation, over the sum", fontsize=9)
    axes.legend(fontsize=9, frameon=False)
    tidy(axes)
    figure.suptitle(table.title, fontsize=11)
    return png(figure)


def draw_improvements(table: Table) -> bytes:
    """Return Figure 2 as a PNG: a plot per d; hollow markers are the published numbers."""

    def curve(axes: Axes, records: Sequence[Record], color: str) -> None:
        _plot(axes, records, "improvement", color)
        known = [r for r in records if r["published"] is not None]
        axes.plot([r["alpha"] for r in known], [r["published"] for r in known], "o", color=color,
                  markersize=7, markerfacecolor="none", markeredgewidth=0.9)  # fmt: skip

    published = any(cell is not None for cell in table.column("published"))
    title = f"{table.title} (hollow: published)" if published else table.title
    return _by_dimension(table, title, "improvement of the squared error", curve, log=True)


def draw_constraint(table: Table) -> bytes:
    """Return the gains of Eq. 25 as a PNG: a plot per d; dashed at the best clip."""

    def curve(axes: Axes, records: Sequence[Record], color: str) -> None:
        _plot(axes, records, "gain", color)
        axes.plot([r["alpha"] for r in records], [r["gain_at_best"] for r in records], "--",
                  color=color, linewidth=1.2)  # fmt: skip

    title = f"{table.title} (dashed: whole error, best clips)"
    return _by_dimension(table, title, "error with Lemma 4.1 over that with Eq. 25", curve)


def draw_clips(table: Table) -> bytes:
    """Return error curves as a PNG: a row of plots per n, a plot per d."""
    sizes = [n for (n,) in lines_of(table.records(), "n")]
    dimensions = [d for (d,) in lines_of(table.records(), "d")]
    figure, grid = axes_grid([1.0] * len(sizes), len(dimensions))
    plots = lines_of(table.records(), "n", "d")
    alphas = [alpha for (alpha,) in lines_of(table.records(), "alpha")]
    offsets = [offset for (offset,) in lines_of(table.records(), "offset")]
    for (n, d), records in plots.items():
        axes = grid[sizes.index(n)][dimensions.index(d)]
        for (alpha, offset), of_curve in lines_of(records, "alpha", "offset").items():
            color, dashes = _COLORS[offsets.index(offset)], _DASHES[alphas.index(alpha)]
            points = sorted((r["clip"], r["over_sampling"]) for r in of_curve)
            axes.plot([x for x, _ in points], [y for _, y in points], color=color, linestyle=dashes,
                      linewidth=1.4, label=f"α = {alpha:g}, off by {offset:g} σ")  # fmt: skip
            for name, marker in (("1/n", "s"), ("best", "o")):
                at = next(r for r in of_curve if r["point"] == name)
                axes.plot(at["clip"], at["over_sampling"], marker, color=color,
                          markersize=5)  # fmt: skip
        axes.set_xscale("logit")
        axes.set_yscale("log")
        axes.set_xlim(5e-7, 0.995)
        axes.set_xticks([1e-6, 1e-4, 0.01, 0.5, 0.97], ["1e-6", "1e-4", "0.01", "0.5", "0.97"])
        axes.xaxis.set_minor_locator(_none())
        axes.set_title(f"d = {d}, n = {n:,}", fontsize=10, loc="left")
        axes.set_xlabel("clipping probability", fontsize=9)
        _plain(axes)
        tidy(axes)
    grid[0][0].set_ylabel("error over sampling error", fontsize=9)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.suptitle(f"{table.title} (square: 1/n, dot: best)", fontsize=11)
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=9, frameon=False)
    return png(figure)


def _by_dimension(
    table: Table,
    title: str,
    label: str,
    curve: Callable[[Axes, Sequence[Record], str], None],
    *,
    log: bool = False,
) -> bytes:
    plots = lines_of(table.records(), "d")
    figure, grid = axes_grid([1.0], len(plots))
    for axes, ((d,), records) in zip(grid[0], plots.items(), strict=True):
        for (_, of_curve), color in zip(lines_of(records, "n").items(), _COLORS, strict=True):
            curve(axes, of_curve, color)
        axes.set_xscale("log")
        if log:
            axes.set_yscale("log")
            _plain(axes)
        axes.set_title(f"d = {d}", fontsize=10, loc="left")
        axes.set_xlabel("skewness α", fontsize=9)
        tidy(axes)
    grid[0][0].set_ylabel(label, fontsize=9)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.suptitle(title, fontsize=11)
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=9, frameon=False)
    return png(figure)


def _plot(axes: Axes, records: Sequence[Record], column: str, color: str) -> None:
    axes.plot([r["alpha"] for r in records], [r[column] for r in records], ".-", color=color,
              linewidth=1.4, markersize=4, label=f"n = {records[0]['n']:,}")  # fmt: skip


def _plain(axes: Axes) -> None:
    """Write the numbers of a logarithmic axis out."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_ylim()
    steps = (1.0, 2.0, 5.0) if high < 1e3 * low else (1.0,)
    axes.yaxis.set_major_locator(LogLocator(base=10.0, subs=steps, numticks=20))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _none() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()
