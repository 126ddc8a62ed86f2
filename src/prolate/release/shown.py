"""What `Release` and `GroupedRelease` have in common: JSON, data frames and the report."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from prolate.budget import Budget
from prolate.errors import BudgetError, ReleaseError
from prolate.release import views
from prolate.release.files import json_text, write_table, write_whole
from prolate.release.json import (
    BUDGET_FIELDS,
    OPTIONAL_BUDGET_FIELDS,
    Reader,
    read_fields,
    read_json,
)
from prolate.release.unit import Unit

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["Shown"]


class Shown:
    """A result that can be stored, read again, and turned into data frames or a report."""

    _what: ClassVar[str]
    _schema: ClassVar[str]
    _schema_version: ClassVar[int]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain Python values, ready for JSON."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Return what `to_dict` described, or raise `ReleaseError`."""
        raise NotImplementedError

    def table(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Return one record for each number."""
        raise NotImplementedError

    def _fields(self) -> dict[str, type]:
        """Return the names of what the records of `table` hold, and their types."""
        raise NotImplementedError

    @classmethod
    def _read(
        cls, fields: Any, needed: Mapping[str, Reader], optional: Mapping[str, Reader]
    ) -> dict[str, Any]:
        """Return the fields of a stored release of this kind and version, its budget, its unit."""
        if not isinstance(fields, Mapping) or fields.get("schema") != cls._schema:
            other = fields.get("schema") if isinstance(fields, Mapping) else None
            grouped = "; it is a release of groups, so read it with prolate.GroupedRelease"
            raise ReleaseError(
                f"This is not a stored Prolate {cls._what}: its schema is not {cls._schema!r}"
                f"{grouped if other == 'prolate.groups' != cls._schema else ''}."
            )
        version = fields.get("schema_version")
        if type(version) is not int or version != cls._schema_version:
            raise ReleaseError(
                f"This {cls._what} has schema version {version!r}; this Prolate reads version "
                f"{cls._schema_version}. Read it with the version of Prolate that wrote it "
                f"({fields.get('prolate_version', 'unknown')!s:.40})."
            )
        body = {k: v for k, v in fields.items() if k not in ("schema", "schema_version")}
        known = read_fields(body, cls._what, needed, optional)
        try:
            known["budget"] = Budget.from_dict(
                read_fields(known["budget"], "budget", BUDGET_FIELDS, OPTIONAL_BUDGET_FIELDS)
            )
        except BudgetError as error:
            raise ReleaseError(f"The budget of this release cannot be read. {error}") from error
        if "unit" in known:
            known["unit"] = Unit.from_dict(known["unit"])
        return known

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the result as JSON text, and write it to `path` if one is given.

        The file is written completely or not at all, and only its owner can read it.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write.

        Raises
        ------
        ReleaseError
            If the file cannot be written.
        """
        return json_text(self.to_dict(), path)

    @classmethod
    def from_json(cls, path_or_text: str | os.PathLike[str]) -> Self:
        """Return the result that is stored in a file or in a string of JSON.

        Parameters
        ----------
        path_or_text : str or path-like
            A string that starts with ``{`` is read as JSON, any other as a path.

        Raises
        ------
        ReleaseError
            If it cannot be read, is not complete JSON, or holds anything that this
            version does not know.

        Examples
        --------
        >>> from prolate import Budget, Release
        >>> r = Release(statistic="sum", estimate=[0.1], columns=("age",), noise_std=[0.5],
        ...     n=100, budget=Budget(mu=1), neighbors="replace", method="auto")
        >>> Release.from_json(r.to_json()) == r
        True
        """
        return cls.from_dict(read_json(path_or_text))

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return a pandas DataFrame with a row for each record of `table`, and NaN for None."""
        return views.frame(self, level)

    def to_polars(self, level: float = 0.95) -> pl.DataFrame:
        """Return a polars DataFrame with a row for each record of `table`, and null for None."""
        return views.polars_frame(self, level)

    def to_arrow(self, level: float = 0.95) -> pa.Table:
        """Return a pyarrow Table with a row for each record of `table`, and null for None."""
        return views.arrow_table(self, level)

    def to_csv(self, path: str | os.PathLike[str] | None = None, *, level: float = 0.95) -> str:
        """Return the records of `table` as CSV, and write them to `path` if one is given.

        The file is written completely or not at all, and only its owner can read it. A file
        that is there already is replaced only if it is such a table, never one of rows.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write.
        level : float
            The confidence level of the intervals, strictly between 0 and 1.

        Raises
        ------
        ReleaseError
            If the file cannot be written.

        Examples
        --------
        >>> from prolate import Budget, Release
        >>> r = Release(statistic="sum", estimate=[8.0], columns=("age",), noise_std=[0.5],
        ...     n=100, budget=Budget(mu=1), neighbors="replace", method="auto")
        >>> print(r.to_csv(level=0.9).replace('"', "")[:61])
        column,estimate,noise_std,sampling_std,lower,upper
        age,8,0.5,
        """
        text = views.csv_text(self, level)
        if path is not None:
            write_table(path, text)
        return text

    def to_html(self, path: str | os.PathLike[str] | None = None, *, level: float = 0.95) -> str:
        """Return a report in HTML, and write it to `path` if one is given.

        The report is one page that loads nothing and runs no script. The file is written
        completely or not at all, and only its owner can read it.

        Parameters
        ----------
        path : str or path-like, optional
            The file to write.
        level : float
            The confidence level of the intervals, strictly between 0 and 1.

        Raises
        ------
        ReleaseError
            If the file cannot be written.
        """
        from prolate import report

        text = report.page(cast("Any", self), level)
        if path is not None:
            write_whole(path, text)
        return text

    def _repr_html_(self) -> str:
        from prolate import report

        return report.notebook(cast("Any", self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, tuple[dict[str, Any]]]:
        # Not by attributes: unpickled arrays would be writable again.
        return type(self).from_dict, (self.to_dict(),)
