"""How all plots of the papers look: one place for colors, markers, sizes and axes.

Colors are those of Okabe and Ito (2008), which color-blind readers can tell apart; every
method has a marker of its own as well.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prolate.errors import InputError
from prolate.papers.methods import OURS, SAMPLE_MEAN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LOOKS", "Look", "axes_grid", "need_matplotlib", "png", "tidy"]

_DPI = 160
_PANEL = (3.7, 3.2)  # inches
_GRAY = "#555555"


@dataclass(frozen=True)
class Look:
    """Color, marker and dashes of a curve."""

    color: str
    marker: str
    dashes: str = "-"

    def line(self, *, thick: bool = False) -> dict[str, Any]:
        """Return what matplotlib calls it; a thick line lies above the others."""
        return {
            "color": self.color,
            "marker": self.marker,
            "linestyle": self.dashes,
            "linewidth": 2.2 if thick else 1.4,
            "markersize": 5,
            "zorder": 3 if thick else 2,
        }

    def hollow(self) -> dict[str, Any]:
        """Return the same for single hollow markers."""
        return {
            "color": self.color,
            "marker": self.marker,
            "linestyle": "none",
            "markersize": 8.5,
            "markerfacecolor": "none",
            "markeredgewidth": 0.9,
        }


LOOKS = {
    OURS: Look("#D55E00", "o"),
    "PLAN": Look("#0072B2", "s"),
    "PLAN without scaling": Look("#56B4E9", "D", "--"),
    "IOME": Look("#009E73", "^"),
    "CoinPress": Look("#CC79A7", "v"),
    SAMPLE_MEAN: Look("#000000", "x", ":"),
}


def need_matplotlib() -> None:
    """Raise `InputError` if there is nothing to draw with."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise InputError(
            "Drawing needs matplotlib, which is not installed: pip install 'prolate[plot]'."
        ) from error


def axes_grid(heights: Sequence[float], columns: int) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure and its axes, in rows of these heights (1 is that of a plot of its own)."""
    need_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = max(columns * _PANEL[0] + 0.4, 5.2), sum(heights) * _PANEL[1] + 1.1
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(heights), columns, squeeze=False, height_ratios=list(heights))
    return figure, [list(line) for line in grid]


def tidy(axes: Axes) -> None:
    """Give axes light grid lines, and no frame at the top and the right."""
    axes.grid(which="major", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_GRAY)
    axes.tick_params(which="both", colors=_GRAY, labelsize=9)
    axes.tick_params(which="minor", length=2)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_color("#222222")


def png(figure: Figure) -> bytes:
    """Return the figure as a PNG image."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=_DPI)
    return stream.getvalue()
