"""How a release looks: as text, as a data frame, as a plot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from prolate.release import Release

_SHOWN_ROWS = 20
_SHOWN_COLUMNS = 8  # of a matrix; larger ones are listed number by number
NOT_PRIVATE = "NOT PRIVATE: made with a seed. For tests only; do not publish."


def round_to(value: float, error: float) -> str:
    """Return `value` with two digits of its `error`, and no more than it deserves.

    Examples
    --------
    >>> round_to(2.8604258, 0.0317), round_to(1234567.8, 2100.0), round_to(3e-5, 1.2e-7)
    ('2.860', '1,234,600', '3.000e-05')
    """
    if not (error > 0.0 and math.isfinite(error) and math.isfinite(value)):
        return f"{value:.6g}"
    decimals = 1 - math.floor(math.log10(error))
    leading = math.floor(math.log10(abs(value))) if value else -decimals
    if not -12 <= leading + decimals <= 12 or leading >= 15:
        return f"{value:.6g}"
    if decimals > 6 and leading < -1:
        return f"{value:.{max(leading + decimals, 0)}e}"
    rounded = round(value, decimals) + 0.0  # + 0.0 makes -0.0 a plain zero
    return f"{rounded:,.{max(decimals, 0)}f}"


def printable(name: str) -> str:
    """Return a column name with control characters escaped: names come from files."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def rows_in_words(release: Release) -> str:
    """Return the number of rows in words, saying where it is only a noisy count."""
    count = f"{release.n:,.0f} row{'' if release.n == 1 else 's'}"
    return count if release.neighbors == "replace" else f"about {count} (a noisy count)"


def headline(release: Release) -> str:
    """Return the first line: what, of how much, at what budget, for which neighbors."""
    d = len(release.columns)
    what = release.statistic
    if what == "regression":
        d -= 1  # without the intercept
        target = release.details.get("target")
        what += f" of {printable(target)} on" if isinstance(target, str) else " on"
        return _headline(release, f"{what} {d} feature{'' if d == 1 else 's'}")
    if release.second_label == "q":
        count = release.estimate.shape[0]
        what = f"{count} {what}{'' if count == 1 else 's'}"
    return _headline(release, f"{what} of {d} column{'' if d == 1 else 's'}")


def _headline(release: Release, what: str) -> str:
    private = "Private" if release.private else "NOT PRIVATE (seeded)"
    return (
        f"{private} {what}, {rows_in_words(release)}, "
        f"{release.budget}, neighbors: {release.neighbors}"
    )


def interval_covers(release: Release) -> str:
    """Return what an interval of the release covers, in plain words."""
    if release.statistic == "sum":
        clipped = "each value clipped to its bounds"
        if release.method == "gaussian-ellipse":
            clipped = "each clipped to the ellipse around the center"
        return f"the sum of these rows, {clipped}, one column at a time (privacy noise only)"
    if release.statistic == "regression":
        return (
            "the coefficients of least squares in the population that the rows were drawn from, "
            "one at a time (privacy noise and sampling error together)"
        )
    one = "number" if release.is_matrix else "column"
    if release.noise_only:
        return (
            f"the {release.statistic} of these rows, one {one} at a time "
            "(privacy noise only: sampling error is not included)"
        )
    return (
        f"the {release.statistic} of the population that the rows were drawn from, one {one} "
        "at a time (privacy noise and sampling error together)"
    )


def guarantee(release: Release) -> str:
    """Return one sentence that says exactly what is guaranteed."""
    if not release.private:
        return (
            "No privacy is guaranteed: a seed was given, and whoever knows it can remove the noise."
        )
    names = [f"rho = {release.budget.rho:.4g} zero-concentrated differential privacy"]
    if release.budget.composition == "gdp" and "mu" in release.budget.stated:
        names = [f"mu = {release.budget.mu:.4g} Gaussian differential privacy"]
    if "epsilon" in release.budget.stated:
        stated = release.budget.stated
        names = [
            f"(epsilon = {stated['epsilon']:g}, delta = {stated['delta']:g})-differential privacy"
        ]
        if release.budget.composition == "zcdp":
            names.append(f"rho = {release.budget.rho:.4g} zero-concentrated privacy")
    event = (
        "replacing any one row by any other, the number of rows being public"
        if release.neighbors == "replace"
        else "adding or removing any one row"
    )
    if release.budget.composition == "zcdp":
        return f"{' and '.join(names)}, for {event}."
    return (
        f"{' and '.join(names)}, for {event}: whatever the other rows are, that is as hard "
        f"to notice in this release as a shift by mu = {release.budget.mu:.4g} in one standard "
        "normal number."
    )


def shown_as_matrix(release: Release) -> bool:
    """Whether the printed table is a matrix, with the noise but no intervals."""
    return release.is_matrix and len(release.columns) <= _SHOWN_COLUMNS


def cells(
    release: Release, level: float, *, intervals: bool = True
) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the printed table, as text; what is stated only."""
    if shown_as_matrix(release):
        return _matrix_cells(release)
    second = release.second_label
    intervals = intervals and release.has_intervals
    value = "coefficient" if release.statistic == "regression" else release.statistic
    header = ["column", *([second] if second else []), value]
    stds = {"noise_std": "± noise", "sampling_std": "± sampling"}
    stated = [name for name in stds if getattr(release, name) is not None]
    header += [stds[name] for name in stated]
    if intervals:
        header.append(f"{100 * level:.6g}% interval")
    rows = []
    for record in release.table(level):
        ends = (record["lower"], record["upper"])
        width = 0.0 if record["lower"] is None else (ends[1] - ends[0]) / 2.0
        error = min((record[name] for name in stated if record[name]), default=width)
        row = [printable(record["column"])]
        if second is not None:
            label = record[second]
            row.append(printable(label) if isinstance(label, str) else f"{label:g}")
        row.append(round_to(record["estimate"], error))
        row += [round_to(record[name], record[name]) for name in stated]
        if intervals:
            row.append(f"{round_to(ends[0], error)} to {round_to(ends[1], error)}")
        rows.append(row)
    return header, rows


def _matrix_cells(release: Release) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a small matrix: every number with its noise."""
    names = [printable(name) for name in release.columns]
    noise = np.zeros(release.estimate.shape) if release.noise_std is None else release.noise_std
    rows = []
    for name, values, stds in zip(names, release.estimate, noise, strict=True):
        pairs = zip(values, stds, strict=True)
        shown = [
            f"{round_to(value, std)} ± {round_to(std, std)}" if std > 0.0 else f"{value:g}"
            for value, std in pairs
        ]
        rows.append([name, *shown])
    return [release.statistic, *names], rows


def middle_out(rows: list[list[str]], limit: int) -> list[list[str]]:
    """Return at most `limit` rows and one that says how many were left out between them."""
    if len(rows) <= limit:
        return rows
    head, tail = (limit + 1) // 2, limit // 2
    hidden = [f"... {len(rows) - limit:,} more ..."] + [""] * (len(rows[0]) - 1)
    return [*rows[:head], hidden, *rows[len(rows) - tail :]]


def aligned(header: list[str], rows: list[list[str]], left: tuple[int, ...] = (0,)) -> list[str]:
    """Return the lines of a plain-text table, columns `left` to the left, others to the right."""
    grid = [header, *rows]
    widths = [max(len(row[i]) for row in grid) for i in range(len(header))]
    return [
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in grid
    ]


def text(release: Release, level: float = 0.95) -> str:
    """Return the release as a plain-text table."""
    header, rows = cells(release, level)
    lines = [headline(release)]
    if not release.private:
        lines.append(NOT_PRIVATE)
    lines += aligned(header, middle_out(rows, _SHOWN_ROWS))
    lines += [f"warning: {printable(warning)}" for warning in release.warnings]
    return "\n".join(lines)


def frame(release: Release, level: float) -> pd.DataFrame:
    """Return the release as a pandas data frame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "Release.to_frame needs pandas, which is not installed: pip install pandas. "
            "Release.table() gives the same records without it."
        ) from error
    names = ["column", *([release.second_label] if release.second_label else [])]
    names += ["estimate", "noise_std", "sampling_std", "lower", "upper"]
    result = pd.DataFrame.from_records(release.table(level), columns=names)
    return result.astype(dict.fromkeys(names[-5:], np.float64))


def plot(release: Release, ax: Axes | None, level: float) -> Axes:
    """Draw each estimate as a point, its noise thick and its whole interval thin."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Release.plot needs matplotlib, which is not installed: pip install matplotlib."
        ) from error
    if release.is_matrix:
        return _plot_matrix(release, plt.subplots()[1] if ax is None else ax)
    estimate = np.atleast_2d(release.estimate)
    half = noise = np.zeros(estimate.shape)  # of what is not stated
    if release.has_intervals:
        ends = release.interval(level)
        half = np.atleast_2d(ends[..., 1] - ends[..., 0]) / 2.0
    if release.noise_std is not None:
        noise = np.atleast_2d(release.noise_std)
    several, d = estimate.shape
    if ax is None:
        ax = plt.subplots(figsize=(6.4, max(2.0, 0.6 + 0.25 * d * several)))[1]
    labels: list[Any] = [None]
    if release.estimate.ndim == 2:
        labels = [f"q = {q:g}" for q in release.quantile_labels]
    for i in range(several):
        y = np.arange(d) + (i - (several - 1) / 2.0) * 0.8 / several
        whole = ax.errorbar(
            estimate[i], y, xerr=half[i], fmt="o", ms=4, lw=1, capsize=3, label=labels[i]
        )
        ax.errorbar(
            estimate[i], y, xerr=noise[i], fmt="none", lw=3, ecolor=whole.lines[0].get_color()
        )
    ax.set_yticks(range(d), [printable(name) for name in release.columns])
    ax.invert_yaxis()
    ax.set_xlabel(f"{release.statistic} (thick: ± noise, thin: {100 * level:.6g}% interval)")
    ax.set_title("private" if release.private else "NOT PRIVATE (seeded)")
    if several > 1:
        ax.legend()
    return ax


def _plot_matrix(release: Release, ax: Axes) -> Axes:
    """Draw a matrix as colors: covariances in units of the standard deviations."""
    variance = np.maximum(np.diagonal(release.estimate), np.finfo(float).tiny)
    unit = np.sqrt(np.outer(variance, variance))
    colors = ax.imshow(release.estimate / unit, vmin=-1.0, vmax=1.0, cmap="RdBu_r")
    names = [printable(name) for name in release.columns]
    ax.set_xticks(range(len(names)), names, rotation=90)
    ax.set_yticks(range(len(names)), names)
    ax.figure.colorbar(colors, ax=ax, label="correlation")
    ax.set_title("private" if release.private else "NOT PRIVATE (seeded)")
    return ax
