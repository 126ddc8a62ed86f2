"""What a figure or table of a paper is once it is measured: names, numbers, notes."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import Any

__all__ = ["Cell", "Table", "in_words"]

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """A measured figure or table.

    Attributes
    ----------
    name : str
        As `prolate reproduce` knows it, such as ``"plan-3a"``.
    title : str
    columns : tuple of str
    rows : tuple of tuples
        One cell per column; None where there is no value.
    notes : tuple of str
        How it was measured, what was left out, what the columns are.

    Examples
    --------
    >>> table = Table("x", "An example", ("d", "error"), ((16, 0.5), (32, None)))
    >>> print(table.to_csv(), end="")
    d,error
    16,0.5
    32,
    >>> table.column("d")
    [16, 32]
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def column(self, name: str) -> list[Cell]:
        """Return the cells of one column."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def records(self) -> list[dict[str, Cell]]:
        """Return the rows as dictionaries."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_csv(self) -> str:
        """Return header and rows as comma-separated text; numbers keep all their digits."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(["" if cell is None else cell for cell in row] for row in self.rows)
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; a number that is not finite becomes null."""
        return {
            "name": self.name,
            "title": self.title,
            "notes": list(self.notes),
            "columns": list(self.columns),
            "rows": [[_finite(cell) for cell in row] for row in self.rows],
        }


def _finite(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def in_words(cell: Cell) -> str:
    """Return a cell as people read it: three digits, or the whole part of a large number.

    Examples
    --------
    >>> [in_words(cell) for cell in (0.0123456, 12345.6, 1024, None, 1e9)]
    ['0.0123', '12,346', '1024', '', '1e+09']
    """
    if cell is None:
        return ""
    if not isinstance(cell, float):
        return str(cell)
    if not math.isfinite(cell):
        return str(cell)
    return f"{cell:,.0f}" if 1e3 <= abs(cell) < 1e7 else f"{cell:.3g}"
