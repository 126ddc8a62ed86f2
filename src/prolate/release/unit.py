"""Whom a release protects if that is not a row: a person who may own many rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from prolate.errors import ReleaseError
from prolate.release.json import read_fields, read_integer, read_text

__all__ = ["Contribution", "Unit"]

Contribution = Literal["mean", "rows"]


@dataclass(frozen=True)
class Unit:
    """Whom a release protects: a person, all of whose rows have the same label.

    Attributes
    ----------
    column : str
        The name of the column of labels.
    contribution : {"mean", "rows"}
        ``"mean"``: a person counts once, with the mean of their rows. ``"rows"``: each of a
        person's rows counts, up to `max_rows`.
    max_rows : int or None
        The most rows that count per person; None with ``"mean"``.

    Examples
    --------
    >>> print(Unit("patient_id"))
    patient_id (one person's mean counts once)
    >>> print(Unit("patient_id", "rows", 5))
    patient_id (at most 5 rows of one person count)
    """

    column: str
    contribution: Contribution = "mean"
    max_rows: int | None = None

    def __post_init__(self) -> None:
        rows = self.contribution == "rows"
        if self.contribution not in ("mean", "rows") or rows != (self.max_rows is not None):
            raise ReleaseError(
                "The contribution of a unit must be 'mean' without max_rows, or 'rows' with it."
            )

    @property
    def rows(self) -> int:
        """The most rows of one person that are measured."""
        return 1 if self.max_rows is None else self.max_rows

    def __str__(self) -> str:
        if self.max_rows is None:
            return f"{self.column} (one person's mean counts once)"
        rows = "row" if self.max_rows == 1 else "rows"
        return f"{self.column} (at most {self.max_rows:,} {rows} of one person count)"

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain values, ready for JSON."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> Unit:
        """Return the unit that `to_dict` described, or raise `ReleaseError`."""
        needed = {"column": read_text, "contribution": read_text}
        return Unit(**read_fields(fields, "unit", needed, {"max_rows": read_integer}))
