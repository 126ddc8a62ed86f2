"""How the numbers of a release look as text and as a data frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prolate.digits import all_digits, percent
from prolate.errors import InputError, shown
from prolate.release.notes import UNKNOWN, about_intervals, about_rows
from prolate.release.words import NOT_PRIVATE, advice, headline, printable

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from prolate.release.release import Release
    from prolate.release.shown import Shown

_SHOWN_ROWS = 20
_SHOWN_COLUMNS = 8  # of a matrix; larger ones are listed number by number
_INFINITE = 1e308  # numbers beyond are the largest one
_NO_DIGITS = 12  # of a zero
_MUCH_WIDER = 1e-6  # noise, over half an interval, that tells nothing of how sure a number is
_NOTHING = "unknown"  # in the place of a number whose noise is infinite
NUMBERS = ("estimate", "noise_std", "sampling_std", "lower", "upper")  # of a record


def confidence(level: object) -> float:
    """Return the confidence of intervals as a number, or raise `InputError` if it is none.

    Examples
    --------
    >>> confidence(np.float32(0.5))
    0.5
    """
    try:
        value = math.nan if isinstance(level, str) else float(level)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not 0.0 < value < 1.0:
        raise InputError(
            f"level must lie strictly between 0 and 1, such as 0.95; got {shown(level)}."
        )
    return value


def round_to(value: float, error: float) -> str:
    """Return `value` with two digits of its `error`, and no more than it deserves.

    Examples
    --------
    >>> round_to(2.8604258, 0.0317), round_to(1234567.8, 2100.0), round_to(3e-5, 1.2e-7)
    ('2.860', '1,234,600', '3.000e-05')
    >>> round_to(1.7976931348623157e308, 1.7976931348623157e308)
    'inf'
    """
    if abs(value) > _INFINITE:
        value = math.copysign(math.inf, value)
    if not (error > 0.0 and math.isfinite(error) and math.isfinite(value)):
        return f"{value:.6g}"
    decimals = 1 - math.floor(math.log10(error))
    leading = math.floor(math.log10(abs(value))) if value else -decimals
    if not -12 <= leading + decimals <= 12 or leading >= 15:
        return f"{value:.6g}"
    if value == 0.0 and decimals > _NO_DIGITS:
        return "0"
    if decimals > 6 and leading < -1:
        return f"{value:.{max(leading + decimals, 0)}e}"
    rounded = round(value, decimals) + 0.0  # + 0.0 makes -0.0 a plain zero
    return f"{rounded:,.{max(decimals, 0)}f}"


def is_unknown(noise_std: float | None) -> bool:
    """Return whether the noise of a number is infinite, so that the number says nothing."""
    return noise_std is not None and noise_std > UNKNOWN


def shown_as_matrix(release: Release) -> bool:
    """Whether the printed table is a matrix with the noise, and intervals are in another table."""
    return release.is_matrix and len(release.columns) <= _SHOWN_COLUMNS


def cells(
    release: Release, level: float, *, intervals: bool = True, most: int | None = None
) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the printed table, as text; what is stated only.

    Of more rows than `most`, those in the middle are left out, as by `middle_out`.
    """
    if shown_as_matrix(release):
        return _matrix_cells(release)
    parts = stated(release)
    intervals = intervals and release.has_intervals
    header = ["column", *value_header(release, parts, level, intervals=intervals)]
    return header, lines(release, parts, level, intervals=intervals, most=most)


def value_header(
    release: Release, parts: Sequence[str], level: float, *, intervals: bool
) -> list[str]:
    """Return the header of a table after the first name: a second name, and numbers."""
    second = release.second_label
    value = "coefficient" if release.statistic == "regression" else release.statistic
    header = [*([second] if second else []), value, *(f"± {name}" for name in parts)]
    return [*header, f"{percent(level)} interval"] if intervals else header


def lines(
    release: Release,
    parts: Sequence[str],
    level: float,
    *,
    intervals: bool,
    most: int | None = None,
) -> list[list[str]]:
    """Return the rows of a table as text: names and numbers."""
    second = release.second_label
    places = list(np.ndindex(release.estimate.shape))
    head, tail = _ends(len(places), most)
    rows = []
    for record in release._records(places[:head] + places[tail:], level):
        names = [printable(record["column"])]
        names += [] if second is None else [label_of(record[second])]
        rows.append([*names, *numbers(record, parts, intervals=intervals)])
    return [*rows[:head], *_left_out(tail - head, rows), *rows[head:]]


def stated(*releases: Release) -> list[str]:
    """Return which errors any of the releases states: "noise", "sampling"."""
    return [
        part
        for part in ("noise", "sampling")
        if any(getattr(release, f"{part}_std") is not None for release in releases)
    ]


def each(release: Release) -> tuple[NDArray[np.intp], ...]:
    """Return the places of all numbers of a release, as indices; of a matrix, one triangle."""
    shape = release.estimate.shape
    if release.is_matrix:
        return np.triu_indices(shape[0], 1 if release.statistic == "correlation" else 0)
    return tuple(np.indices(shape).reshape(len(shape), -1))


def name_of(release: Release, place: tuple[int, ...]) -> str:
    """Return the name of one number of a release."""
    column = printable(release.columns[place[-1]])
    if release.is_matrix:
        return f"{printable(release.columns[place[0]])} with {column}"
    return (
        f"{column}, q = {label_of(release.quantile_labels[place[0]])}"
        if len(place) == 2
        else column
    )


def label_of(second: str | float) -> str:
    """Return the text of a record's second label: a column's name or a q.

    Examples
    --------
    >>> label_of(1 / 3), label_of(0.99999999), label_of(1.0)
    ('0.333333', '0.99999999', '1')
    """
    if isinstance(second, str):
        return printable(second)
    short = f"{second:g}"
    return all_digits(second) if short == "1" else short  # q = 1 is the largest value


def nearest(record: dict[str, Any]) -> float:
    """Return the estimate of a record, or the nearest value that is possible.

    Noise may lead beyond these; an interval never does, and holds the nearest one.
    """
    if record["lower"] is None:
        return float(record["estimate"])
    return float(min(max(record["estimate"], record["lower"]), record["upper"]))


def numbers(record: dict[str, Any], parts: Sequence[str], *, intervals: bool) -> list[str]:
    """Return the numbers of one record as text: the estimate, its errors, its interval.

    What the record does not state is left empty. Of a number whose noise is infinite nothing is
    shown but that, and where it can be at all.
    """
    low, high, noise = record["lower"], record["upper"], record["noise_std"]
    width = 0.0 if low is None else high / 2.0 - low / 2.0
    stds = [record[f"{part}_std"] for part in parts]
    error = noise if noise and noise > _MUCH_WIDER * width else width
    if is_unknown(noise):
        row = [_NOTHING, *("" if part != "noise" else round_to(noise, noise) for part in parts)]
    else:
        row = [round_to(nearest(record), error)]
        row += ["" if std is None else round_to(std, std) for std in stds]
    if not intervals:
        return row
    return [*row, "" if low is None else f"{round_to(low, error)} to {round_to(high, error)}"]


def _matrix_cells(release: Release) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a small matrix: every number with its noise."""
    names = [printable(name) for name in release.columns]
    noise = np.zeros(release.estimate.shape) if release.noise_std is None else release.noise_std
    rows = []
    for name, values, stds in zip(names, release.estimate, noise, strict=True):
        pairs = zip(values, stds, strict=True)
        shown = [
            f"{_NOTHING if is_unknown(std) else round_to(value, std)} ± {round_to(std, std)}"
            if std > 0.0
            else f"{value:g}"
            for value, std in pairs
        ]
        rows.append([name, *shown])
    return [release.statistic, *names], rows


def pair_cells(release: Release, level: float) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of what a small printed matrix leaves out, each pair once."""
    parts = [part for part in stated(release) if part != "noise"]
    header = value_header(release, parts, level, intervals=True)[2:]  # without "with", estimates
    places = list(zip(*(axis.tolist() for axis in each(release)), strict=True))
    rows = [
        [name_of(release, place), *numbers(record, parts, intervals=True)[1:]]
        for place, record in zip(places, release._records(places, level), strict=True)
    ]
    return [release.statistic, *header], rows


def middle_out(rows: list[list[str]], limit: int) -> list[list[str]]:
    """Return at most `limit` rows and one that says how many were left out between them."""
    head, tail = _ends(len(rows), limit)
    return [*rows[:head], *_left_out(tail - head, rows), *rows[tail:]]


def _ends(count: int, limit: int | None) -> tuple[int, int]:
    """Return where the first rows that are shown end, and where the last ones begin."""
    if limit is None or count <= limit:
        return count, count
    return (limit + 1) // 2, count - limit // 2


def _left_out(count: int, rows: list[list[str]]) -> list[list[str]]:
    """Return a row that says how many are left out, if any are."""
    return [[f"... {count:,} more ...", *[""] * (len(rows[0]) - 1)]] if count else []


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
    header, rows = cells(release, level, most=_SHOWN_ROWS)
    lines = [headline(release)]
    if not release.private:
        lines.append(NOT_PRIVATE)
    lines += aligned(header, rows)
    if shown_as_matrix(release) and each(release)[0].size:
        header, rows = pair_cells(release, level)
        lines += ["", *aligned(header, middle_out(rows, _SHOWN_ROWS))]
    lines += [f"note: {words}" for words in (*about_intervals(release), *about_rows(release))]
    lines += [f"advice: {words}" for words in advice(release)]
    lines += [f"warning: {printable(warning)}" for warning in release.warnings]
    return "\n".join(lines)


def frame(shown: Shown, level: float) -> pd.DataFrame:
    """Return the records of a release as a pandas data frame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(_missing(shown, "to_frame", "pandas")) from error
    fields = shown._fields()
    result = pd.DataFrame.from_records(shown.table(level), columns=list(fields))
    return result.astype({name: kind for name, kind in fields.items() if kind is not str})


def polars_frame(shown: Shown, level: float) -> pl.DataFrame:
    """Return the records of a release as a polars data frame."""
    try:
        import polars as pl
    except ImportError as error:
        raise ImportError(_missing(shown, "to_polars", "polars")) from error
    return pl.DataFrame(arrow_table(shown, level))


def arrow_table(shown: Shown, level: float) -> pa.Table:
    """Return the records of a release as an Arrow table."""
    import pyarrow as pa

    kinds = {str: pa.string(), float: pa.float64(), int: pa.int64(), bool: pa.bool_()}
    fields = [(name, kinds[kind]) for name, kind in shown._fields().items()]
    return pa.Table.from_pylist(shown.table(level), schema=pa.schema(fields))


def csv_text(shown: Shown, level: float) -> str:
    """Return the records of a release as CSV."""
    from io import BytesIO

    from pyarrow import csv

    sink = BytesIO()
    csv.write_csv(arrow_table(shown, level), sink)
    return sink.getvalue().decode()


def _missing(shown: Shown, method: str, library: str) -> str:
    name = type(shown).__name__
    return (
        f"{name}.{method} needs {library}, which is not installed: pip install {library}. "
        f"{name}.table() gives the same records without it."
    )
