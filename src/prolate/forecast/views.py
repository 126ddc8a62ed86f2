"""How a forecast looks: as text, as JSON, as a plot."""

from __future__ import annotations

import textwrap
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from prolate.arrays import Limits
from prolate.release.views import aligned, middle_out
from prolate.release.words import UNEVEN, are_uneven, error_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from prolate.forecast.forecast import Forecast

__all__ = ["cells", "column_cells", "headline", "html", "notes", "plain", "plot", "text"]

_WIDTH = 96
_SHOWN_COLUMNS = 20
_SPAN, _POINTS = 10.0, 7  # of the plot: rows around those that were asked for


def headline(forecast: Forecast) -> str:
    """Return the first line: of what, at which budget."""
    return (
        f"Expected error of a private mean ({forecast.method}): {forecast.n:,} "
        f"row{'' if forecast.n == 1 else 's'}, {_columns(forecast)}, {forecast.budget}, "
        f"neighbors: {forecast.neighbors}"
    )


def _columns(forecast: Forecast) -> str:
    return f"{forecast.columns:,} column{'' if forecast.columns == 1 else 's'}"


def cells(forecast: Forecast) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the printed table, as text.

    What each column has is said here where all have the same, else by `column_cells`.
    """
    norm = 2.0 if forecast.error_norm == "relative" else forecast.error_norm
    per_column = forecast.columns ** (-1.0 / norm)
    parts = (
        ("noise", forecast.noise, "private mean to the mean of these rows"),
        ("sampling", forecast.sampling, "mean of these rows to that of the population"),
        ("both", forecast.total, "private mean to that of the population"),
    )
    rows = [
        [name, f"{value:.3g}", f"{value * per_column:.3g}", meaning]
        for name, value, meaning in parts
    ]
    header = ["", _error(forecast), "per column", "distance of"]
    if _relative(forecast):
        header[2] += ", in SD"
    if _differ(forecast):
        header.pop(2)
        for row in rows:
            row.pop(2)
    return header, rows


def column_cells(forecast: Forecast) -> tuple[list[str], list[list[str]]]:
    """Return the header and a row for each column, as text; no rows where all are the same.

    These errors are root mean squares of one column, in its own unit. Of many columns, those in
    the middle are left out: `Forecast.noise_std` has all.
    """
    header = ["column", "SD", "noise", "sampling", "both"]
    if not _differ(forecast):
        return header, []
    scale, (noise, sampling) = forecast.question.scale, _of_columns(forecast)
    numbers = zip(scale, noise, sampling, np.hypot(noise, sampling), strict=True)
    rows = [
        [f"{j + 1}", f"{one:.6g}", *(f"{error:.3g}" for error in errors)]
        for j, (one, *errors) in enumerate(numbers)
    ]
    return header, middle_out(rows, _SHOWN_COLUMNS)


def _of_columns(forecast: Forecast) -> Limits:
    """Return the noise and the sampling error of each column."""
    return forecast.noise_std, forecast.question.scale / np.sqrt(forecast.n)


def _differ(forecast: Forecast) -> bool:
    """Return whether columns have different errors, by what was said of them."""
    question = forecast.question
    return bool(np.ptp(question.scale) > 0.0 or np.ptp(question.offset) > 0.0)


def _relative(forecast: Forecast) -> bool:
    return forecast.error_norm == "relative"


def _error(forecast: Forecast) -> str:
    return error_in_words(forecast.error_norm).removeprefix("the ")


def notes(forecast: Forecast, *, wait: bool) -> list[tuple[str, str]]:
    """Return what stands below the table: names and sentences.

    The number of rows that are needed is computed only to `wait` for it, or where it takes no time.
    """
    unit = _unit(forecast)
    found = [] if unit is None else [("unit", unit)]
    needed = "not computed: rows_needed, in Python and JSON, takes about ten more forecasts"
    if wait or forecast.knows_rows_needed:
        number = forecast.rows_needed
        most = "more than can be handled" if number is None else f"{number:,}"
        needed = f"{most}, for noise below sampling"
    found.append(("rows needed", needed))
    if forecast.needed is not None:
        most = f"for noise of {forecast.target:g} or less"
        found.append(("budget needed", f"{forecast.needed}, {most}"))
    if forecast.clipped is not None:
        found.append(("clipping", f"{_percent(forecast.clipped)} of the rows"))
    found.append(("shares", _shares(forecast.shares)))
    shape = "normal, independent columns with the standard deviations given"
    if forecast.question.flags:
        shape = "independent booleans, true in the parts of the rows given"
    found.append(("assumed", f"{shape}; no data is read"))
    if not _relative(forecast) and are_uneven(*_of_columns(forecast)):
        found.append(("advice", UNEVEN))
    return found + [("warning", warning) for warning in forecast.warnings]


def _unit(forecast: Forecast) -> str | None:
    """Return in which unit errors are, where it is not just that of the columns."""
    if _relative(forecast):
        own = "; below, those of each column in its own unit" if _differ(forecast) else ""
        return f"standard deviations (SD) of the columns{own}"
    if forecast.question.flags or np.any(forecast.question.scale != 1.0):
        return None
    return "standard deviations of the columns, as each is taken to have one of 1"


def _shares(shares: dict[str, float]) -> str:
    """Return what the budget is spent on: the answer, and what is asked before it."""
    answer = next(name for name in ("mean", "sum") if name in shares)
    said = f"{answer} {_percent(shares[answer])}, the answer itself"
    before = sorted(((part, name) for name, part in shares.items() if name != answer), reverse=True)
    if not before:
        return said
    others = ", ".join(f"{name} {_percent(part)}" for part, name in before)
    return f"{said}; before it, to learn how the rows lie: {others}"


def text(forecast: Forecast) -> str:
    """Return the forecast as a plain-text table."""
    header, rows = cells(forecast)
    lines = [headline(forecast), *aligned(header, rows, left=(0, len(header) - 1)), ""]
    header, rows = column_cells(forecast)
    if rows:
        lines += [*aligned(header, rows), ""]
    names = notes(forecast, wait=False)
    width = max(len(name) for name, _ in names) + 2
    for name, sentence in names:
        lines += textwrap.wrap(name.ljust(width) + sentence, _WIDTH, subsequent_indent=" " * width)
    return "\n".join(lines)


def html(forecast: Forecast) -> str:
    """Return the forecast as tables and sentences, for notebooks."""
    parts = [_table(*cells(forecast), caption=headline(forecast))]
    header, rows = column_cells(forecast)
    parts += [_table(header, rows)] if rows else []
    named = notes(forecast, wait=False)
    parts += [f"<p><strong>{escape(name)}:</strong> {escape(words)}</p>" for name, words in named]
    return "\n".join(["<div>", *parts, "</div>"])


def _table(header: list[str], rows: list[list[str]], caption: str = "") -> str:
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table>{above}<thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


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
    quick = [question.expect(n, forecast.budget, quick=True).noise for n in rows]
    # Fewer rehearsals say how the error falls; all of them say how large it is.
    noise = np.array(quick) * (forecast.noise / quick[rows.index(forecast.n)])
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
    ax.set_title(f"{forecast.method}, {_columns(forecast)}, {forecast.budget}", size=10)
    ax.legend()
    return ax


def _percent(part: float) -> str:
    return f"{100.0 * part:.{3 if part > 0.99 else 2}g}%"
