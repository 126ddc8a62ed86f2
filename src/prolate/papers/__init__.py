"""The figures and tables of the papers as functions: each returns a table and draws it.

>>> from prolate import papers
>>> table = papers.reproduce("plan-6", papers.Options())
>>> table.column("scaling")[2]
'least second moment (p = 2)'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prolate.errors import InputError, did_you_mean
from prolate.papers import figures, kalaja, poulsen, poulsen_views
from prolate.papers.draw import draw_errors, draw_shapes, draw_variances, need_matplotlib
from prolate.papers.kalaja_views import draw_sets, errors_by_set
from prolate.papers.measure import Options, Progress
from prolate.papers.poulsen_draw import (
    draw_clips,
    draw_constraint,
    draw_improvements,
    draw_shares,
)
from prolate.papers.shapes import figure_6
from prolate.papers.table import Table, in_words
from prolate.papers.variances import table_2
from prolate.papers.views import errors_by_setting, variances_by_method

__all__ = [
    "CATALOG",
    "Entry",
    "Options",
    "Progress",
    "Table",
    "entry",
    "in_words",
    "need_matplotlib",
    "reproduce",
]


@dataclass(frozen=True)
class Entry:
    """A figure or table: how it is measured, drawn and shown.

    Attributes
    ----------
    measure : callable
        From `Options` to a `Table`, as it goes into a file.
    draw : callable
        From that table to a PNG image, in bytes.
    show : callable
        From that table to tables for people.
    folder : str
        Where its data usually lie, among the shared ones.
    """

    measure: Callable[[Options], Table]
    draw: Callable[[Table], bytes]
    show: Callable[[Table], tuple[Table, ...]]
    folder: str = "sparse"

    @property
    def summary(self) -> str:
        """What it is, in one line."""
        line = (self.measure.__doc__ or "").strip().partition("\n")[0]  # none under python -OO
        return line.partition(" ")[2].removesuffix(".")


def _errors(measure: Callable[[Options], Table]) -> Entry:
    return Entry(measure, draw_errors, errors_by_setting)


def _sets(measure: Callable[[Options], Table]) -> Entry:
    return Entry(measure, draw_sets, errors_by_set, "uci")


def _whole(table: Table) -> tuple[Table, ...]:
    return (table,)


CATALOG: dict[str, Entry] = {
    "plan-3a": _errors(figures.figure_3a),
    "plan-3b": _errors(figures.figure_3b),
    "plan-3c": _errors(figures.figure_3c),
    "plan-4a": _errors(figures.figure_4a),
    "plan-4b": _errors(figures.figure_4b),
    "plan-4c": _errors(figures.figure_4c),
    "plan-5a": _errors(figures.figure_5a),
    "plan-5b": _errors(figures.figure_5b),
    "plan-5c": _errors(figures.figure_5c),
    "plan-6": Entry(figure_6, draw_shapes, _whole),
    "plan-7a": _errors(figures.figure_7a),
    "plan-7b": _errors(figures.figure_7b),
    "plan-8": _errors(figures.figure_8),
    "plan-9": _errors(figures.figure_9),
    "plan-10": _errors(figures.figure_10),
    "plan-table-2": Entry(table_2, draw_variances, variances_by_method),
    "poulsen-1": Entry(poulsen.figure_1, draw_shares, poulsen_views.first_columns),
    "poulsen-2": Entry(poulsen.figure_2, draw_improvements, poulsen_views.improvements),
    "poulsen-clip": Entry(poulsen.clip_curves, draw_clips, poulsen_views.best_clips),
    "poulsen-constraint": Entry(poulsen.constraint_table, draw_constraint, poulsen_views.gains),
    "kalaja-4.1": _sets(kalaja.figure_4_1),
    "kalaja-4.2": _sets(kalaja.figure_4_2),
    "kalaja-4.3": _sets(kalaja.figure_4_3),
    "kalaja-4.4": _sets(kalaja.figure_4_4),
    "kalaja-4.5": _sets(kalaja.figure_4_5),
    "kalaja-4.6": _sets(kalaja.figure_4_6),
    "kalaja-4.7": _sets(kalaja.figure_4_7),
    "kalaja-4.8": _sets(kalaja.figure_4_8),
    "kalaja-all": _sets(kalaja.every_set),
}


def entry(name: str) -> Entry:
    """Return the entry of a name.

    Raises
    ------
    InputError
        If there is none.

    Examples
    --------
    >>> entry("plan-3a").summary
    'Figure 3a: equal variances, by dimension'
    """
    if name not in CATALOG:
        raise InputError(
            f"There is no figure or table {name!r}.{did_you_mean(name, CATALOG)} "
            "`prolate reproduce --list` names them all."
        )
    return CATALOG[name]


def reproduce(name: str, options: Options) -> Table:
    """Measure a figure or table.

    Parameters
    ----------
    name : str
        A key of `CATALOG`.
    options : Options

    Returns
    -------
    Table

    Raises
    ------
    InputError
        If the name, an option or a file will not do.
    """
    return entry(name).measure(options)
