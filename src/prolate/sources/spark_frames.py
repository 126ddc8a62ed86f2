"""Spark data frames as sources of rows: their columns, and what can be told of these."""

from __future__ import annotations

from typing import Any

from prolate.errors import InputError
from prolate.sources.choosing import Schema, Wanted, choose, index_beside
from prolate.sources.label_types import LabelType
from prolate.sources.labels import Labels
from prolate.sources.spark import SparkSource
from prolate.sources.spark_tasks import RowReader

__all__ = ["frame_source"]


def frame_source(frame: Any, wanted: Wanted, block_bytes: int) -> SparkSource:
    """Open a Spark data frame.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Classic or through Spark Connect.
    wanted : Wanted
        Which columns.
    block_bytes : int
        Size of a block.

    Raises
    ------
    InputError
        If it is a stream, or a selected column is not numeric.
    """
    from pyspark.sql.types import (
        BinaryType,
        BooleanType,
        CharType,
        DatetimeType,
        DayTimeIntervalType,
        IntegralType,
        NullType,
        NumericType,
        StringType,
        VarcharType,
    )

    if frame.isStreaming:
        raise InputError(
            "A streaming data frame has no end; write its rows to a table and pass that."
        )
    fields = frame.schema.fields
    numbers = NumericType | BooleanType | NullType
    words = StringType | CharType | VarcharType | BinaryType | DatetimeType | DayTimeIntervalType
    names = [field.name for field in fields]
    unusable, nested = (
        {
            field.name: f"of type {field.dataType.simpleString()[:60]}"
            for field in fields
            if not isinstance(field.dataType, allowed)
        }
        for allowed in (numbers, numbers | words)
    )
    chosen, marks = choose(wanted, Schema(names, "the Spark DataFrame", unusable, nested))
    # Spark takes dots and the case of names for what it likes, so columns are numbered.
    numbered = frame.toDF(*(f"column{j}" for j in range(len(names))))
    where = [f"column{names.index(name)}" for name in (*chosen, *marks)]
    parts = [numbered[old].alias(f"c{j}") for j, old in enumerate(where)]
    width = max(1, len(chosen))
    reader = RowReader(width, max(1, block_bytes // (8 * width)))
    source = SparkSource(numbered.select(*parts), reader, (*chosen, *marks), block_bytes)
    source.left_out = index_beside(wanted.columns, names, source.columns)
    types = {field.name: _label_type(field.dataType) for field in fields}
    flags, whole = (
        {field.name for field in fields if isinstance(field.dataType, kinds)}
        for kinds in (BooleanType, BooleanType | IntegralType)
    )
    source.labels = tuple(Labels(kind=types[name]) for name in marks)
    source.flags = frozenset(flags.intersection(chosen))
    source.whole = frozenset(whole.intersection(chosen))
    return source


def _label_type(kind: Any) -> LabelType:
    """Return what values labels of a type of Spark's are."""
    from pyspark.sql.types import BooleanType, DoubleType, IntegralType

    if isinstance(kind, BooleanType):
        return "boolean"
    if isinstance(kind, IntegralType):
        return "integer"
    return "number" if isinstance(kind, DoubleType) else "text"
