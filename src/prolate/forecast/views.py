"""How a forecast looks: as text, as JSON, as a plot."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from prolate.release.views import aligned
from prolate.release.words import error_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from prolate.forecast.forecast import Forecast

__all__ = ["cells", "headline", "notes", "plain", "plot", "text"]

_WIDTH = 96
_SPAN, _POINTS = 10.0, 7  # of the plot: rows around those that were asked for


def headline(forecast: Forecast) -> str:
    """Return the first line: of what, at which budget."""
    d = forecast.columns
    return (
        f"Expected error of a private mean ({forecast.method}): {forecast.n:,} rows, "
        f"{d:,} column{'' if d == 1 else 's'}, {forecast.budget}, "
        f"neighbors: {forecast.neighbors}"
    )


def cells(forecast: Forecast) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the printed table, as text."""
    per_column = forecast.columns ** (-1.0 / (forecast.error_norm or 2.0))
    parts = (
        ("noise", forecast.noise, "private mean to the mean of these rows"),
        ("sampling", forecast.sampling, "mean of these rows to that of the population"),
        ("both", forecast.total, "private mean to that of the population"),
    )
    rows = [
        [name, f"{value:.3g}", f"{value * per_column:.3g}", meaning]
        for name, value, meaning in parts
    ]
    return ["", _error(forecast), "per column", "distance of"], rows


def _error(forecast: Forecast) -> str:
    return error_in_words(forecast.error_norm).removeprefix("the ")


def notes(forecast: Forecast) -> list[tuple[str, str]]:
    """Return what stands below the table: names and sentences."""
    needed = "more than can be handled"
    if forecast.rows_needed is not None:
        needed = f"{forecast.rows_needed:,}"
    found = [("rows needed", f"{needed}, for noise below sampling")]
    if forecast.needed is not None:
        found.append(("budget needed", f"{forecast.needed}, for noise of {forecast.target:g}"))
    if forecast.clipped is not None:
        found.append(("clipping", f"{_percent(forecast.clipped)} of the rows"))
    largest = sorted(forecast.shares.items(), key=lambda item: -item[1])
    found.append(("shares", ", ".join(f"{name} {_percent(share)}" for name, share in largest)))
    shape = "normal, independent columns with the standard deviations given"
    if forecast.question.flags:
        shape = "independent booleans, true in the parts of the rows given"
    found.append(("assumed", f"{shape}; no data is read"))
    return found + [("warning", warning) for warning in forecast.warnings]


def text(forecast: Forecast) -> str:
    """Return the forecast as a plain-text table."""
    header, rows = cells(forecast)
    lines = [headline(forecast), *aligned(header, rows, left=(0, 3)), ""]
    names = notes(forecast)
    width = max(len(name) for name, _ in names) + 2
    for name, sentence in names:
        lines += textwrap.wrap(name.ljust(width) + sentence, _WIDTH, subsequent_indent=" " * width)
    return "\n".join(lines)


def plain(forecast: Forecast) -> dict[str, Any]:
    """Return the forecast ready for JSON."""
    question = forecast.question
    return {
        "n": forecast.n,
        "columns": forecast.columns,
        "scale": question.scale.tolist(),
        "budget": forecast.budget.to_dict(),
        "method": forecast.method,
        "neighbors": forecast.neighbors,
        "error_norm": forecast.error_norm,
        "noise": forecast.noise,
        "noise_std": forecast.noise_std.tolist(),
        "sampling": forecast.sampling,
        "total": forecast.total,
        "rows_needed": forecast.rows_needed,
        "shares": forecast.shares,
        "radius": forecast.radius,
        "clipped": forecast.clipped,
        "target": forecast.target,
        "needed": None if forecast.needed is None else forecast.needed.to_dict(),
        "warnings": list(forecast.warnings),
    }


def plot(forecast: Forecast, ax: Axes | None) -> Axes:
    """Draw noise and sampling error against the number of rows."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Forecast.plot needs matplotlib, which is not installed: pip install matplotlib."
        ) from error
    question = forecast.question
    rows = forecast.n * np.geomspace(1.0 / _SPAN, _SPAN, _POINTS)
    rows = np.unique(np.maximum(np.rint(rows), 1.0)).astype(np.int64).tolist()
    noise = [question.expect(n, forecast.budget, quick=True).noise for n in rows]
    sampling = [question.sampling(n) for n in rows]
    if ax is None:
        ax = plt.subplots(figsize=(6.4, 4.2))[1]
    ax.plot(rows, noise, "o-", ms=4, label="noise: to the mean of the rows")
    ax.plot(rows, sampling, "--", label="sampling: to that of the population")
    ax.plot([forecast.n], [forecast.noise], "o", ms=9, mfc="none", mec="black")
    if forecast.target is not None:
        ax.axhline(forecast.target, color="gray", lw=0.8, label="target")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("rows")
    ax.set_ylabel(f"expected {_error(forecast)}")
    ax.set_title(f"{forecast.method}, {forecast.columns:,} columns, {forecast.budget}", size=10)
    ax.legend()
    return ax


def _percent(part: float) -> str:
    return f"{100.0 * part:.{3 if part > 0.99 else 2}g}%"
