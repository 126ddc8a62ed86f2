"""Rows of Arrow data: of anything that exports ``__arrow_c_stream__``.

Numeric in Arrow are integers, floats (half precision too), booleans, decimals, the
null type, and dictionaries or runs of these. Every block is float64 and column-major,
filled column by column; null becomes NaN. Integers and decimals beyond 2**53 are
rounded.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from prolate.arrays import Floats
from prolate.compiled import WORK
from prolate.errors import InputError
from prolate.sources.choosing import Schema, Wanted, choose, index_beside
from prolate.sources.filling import LEAST, Stretch, filled_blocks, numbers_of
from prolate.sources.label_types import LabelType
from prolate.sources.labels import Labels, is_label
from prolate.sources.periods import type_of_pandas
from prolate.sources.source import Block, Source
from prolate.sources.table import TableSource

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ArrowSource",
    "BatchSource",
    "dense_blocks",
    "flag_columns",
    "is_numeric",
    "nested_columns",
    "unusable_columns",
    "whole_columns",
]

_LONG = 1 << 11  # rows, whose columns are copied in about the time that one call takes for fewer


class BatchSource(Source):
    """A source whose rows come as Arrow record batches of any size."""

    decodes = True

    @abstractmethod
    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Yield batches that have, at least, the selected columns."""

    def blocks(self) -> Iterator[Block]:
        """Yield column-major blocks of float64."""
        return dense_blocks(self._batches(), self.columns, self.rows_per_block, self.labels)

    def pieces(self) -> Iterator[Any]:
        """Yield columns of batches where they lie, no more rows at a time than blocks have."""
        batches = self._batches()
        first = next(batches, None)
        if first is None:
            return
        every = chain([first], batches)
        copied = self.rows_per_block >= _LONG and not WORK.is_enough(0)  # by NumPy's loops, twice
        if copied or self.labels or first.num_rows * len(self.columns) < LEAST:
            yield from dense_blocks(every, self.columns, self.rows_per_block, self.labels)
            return
        for batch in every:
            stretch = stretch_of(batch, self.columns, 0)
            rows = stretch.in_place(stretch.precision)
            for start in range(0, stretch.count, self.rows_per_block):
                yield rows[start : start + self.rows_per_block]


class ArrowSource(TableSource):
    """Rows of a table that exports an Arrow stream, read from it once.

    The batches of a table in memory are kept as they are, without a copy. A stream that
    may be used only once, or that runs a query (DuckDB, Ibis), is read into memory as
    float64, the selected columns only: running the query again might give other rows.

    Parameters
    ----------
    data : object with ``__arrow_c_stream__``
        A pyarrow or polars table, a record batch reader, a DuckDB relation, ...
    wanted : Wanted
        Which columns.
    block_bytes : int
        Size of a block.

    Raises
    ------
    InputError
        If it is no table, or a selected column is not numeric.
    """

    def __init__(self, data: Any, wanted: Wanted, block_bytes: int) -> None:
        import pyarrow as pa

        kind = type(data).__name__
        try:
            reader = pa.RecordBatchReader.from_stream(_exportable(data, wanted.labels))
            schema = reader.schema
        except Exception:  # noqa: BLE001 - whatever another library raises may quote values
            raise InputError(
                f"This {kind} does not export a table with rows and columns; if it is one "
                "column, make it a table first, for example with series.to_frame()."
            ) from None
        objects = _objects(data)
        unusable, nested = unusable_columns(schema) | objects, nested_columns(schema) | objects
        values, marks = choose(wanted, Schema(schema.names, f"the {kind}", unusable, nested))
        chosen = (*values, *marks)
        super().__init__(chosen, None, block_bytes)
        flags = flag_columns(schema)
        types = label_types(schema)
        self.labels = tuple(Labels(kind=types[name]) for name in marks)
        self.flags, self.whole = (
            names.intersection(values) for names in (flags, whole_columns(schema))
        )
        self.left_out = index_beside(wanted.columns, schema.names, chosen)
        self._kept: list[pa.RecordBatch] = []
        self._dense: list[Block] = []
        try:
            if _in_memory(data):
                self._kept = list(reader)
            else:
                with np.errstate(all="ignore"):  # of a NaN that signals, in single precision
                    blocks = dense_blocks(reader, chosen, self.rows_per_block, self.labels)
                    self._dense = list(blocks)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - see above
            raise InputError(f"Reading rows from this {kind} failed.") from None
        self.n_rows = sum(part.num_rows for part in self._kept) + sum(map(len, self._dense))

    def blocks(self) -> Iterator[Block]:
        """Yield column-major blocks of float64."""
        return iter(self._dense) if self._dense and self._places is None else super().blocks()

    def _stretches(self) -> list[Stretch]:
        if self._dense:
            return [Stretch(len(block), list(block.T)) for block in self._dense]
        return [stretch_of(batch, self.columns, len(self.labels)) for batch in self._kept]


def _exportable(data: Any, labels: Sequence[str | int]) -> Any:
    """Return a frame of polars without what Arrow has not: integers of 128 bits, and objects.

    The integers become text where they are labels, and else floats, as all numbers do. Objects
    are of no use here, and empty text takes their place; older polars would end the process.
    """
    if type(data).__module__.partition(".")[0] != "polars" or not hasattr(data, "schema"):
        return data
    wide = [name for name, kind in data.schema.items() if str(kind) in ("Int128", "UInt128")]
    objects = _objects(data)
    if not wide and not objects:
        return data
    import polars as pl

    data = data.with_columns(pl.lit("").alias(name) for name in objects)
    return data.cast({name: pl.String if name in labels else pl.Float64 for name in wide})


def _in_memory(data: object) -> bool:
    kind = type(data)
    room = kind.__module__.split(".")[0]
    return room in ("pyarrow", "polars") and kind.__name__ in ("DataFrame", "RecordBatch", "Table")


def _objects(data: Any) -> dict[str, str]:
    """Return the columns of Python objects of polars, which tells Arrow where they are in memory.

    As labels, equal objects would be several.
    """
    if not type(data).__module__.startswith("polars."):
        return {}
    return {name: "of type object" for name, kind in data.schema.items() if str(kind) == "Object"}


def is_numeric(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is one of numbers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> is_numeric(pa.dictionary(pa.int8(), pa.float32())), is_numeric(pa.date32())
    (True, False)
    """
    from pyarrow import types

    kind = _type_of_values(kind)
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
        or types.is_null(kind)
    )


def unusable_columns(schema: pa.Schema) -> dict[str, str]:
    """Return the columns of a schema that are not numeric, each with its type."""
    return {
        field.name: f"of type {type_of_pandas(field) or _name_of(field.type)}"
        for field in schema
        if type_of_pandas(field) or not is_numeric(field.type)
    }


def _name_of(kind: pa.DataType) -> str:
    """Return what an Arrow type is called; text is text however it is stored."""
    name = str(kind)[:60]
    return "string" if name in ("large_string", "string_view") else name


def flag_columns(schema: pa.Schema) -> frozenset[str]:
    """Return the columns of a schema that are booleans."""
    return frozenset(name for name, kind in label_types(schema).items() if kind == "boolean")


def whole_columns(schema: pa.Schema) -> frozenset[str]:
    """Return the columns of a schema that are of whole numbers, as booleans are."""
    from pyarrow import types

    kinds = {field.name: _type_of_values(field.type) for field in schema}
    return frozenset(
        name for name, kind in kinds.items() if types.is_integer(kind) or types.is_boolean(kind)
    )


def label_types(schema: pa.Schema) -> dict[str, LabelType]:
    """Return what values labels of each column of a schema are."""
    return {field.name: label_type(field.type) for field in schema}


def label_type(kind: pa.DataType) -> LabelType:
    """Return what values labels of an Arrow type are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> label_type(pa.run_end_encoded(pa.int32(), pa.bool_())), label_type(pa.date32())
    ('boolean', 'text')
    """
    from pyarrow import types

    kind = _type_of_values(kind)
    if types.is_boolean(kind):
        return "boolean"
    if types.is_integer(kind):
        return "integer"
    return "number" if types.is_float64(kind) else "text"  # 0.1 in others is another number


def _type_of_values(kind: pa.DataType) -> pa.DataType:
    """Return the type of what dictionaries and runs hold."""
    from pyarrow import types

    while types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        kind = kind.value_type
    return kind


def nested_columns(schema: pa.Schema) -> dict[str, str]:
    """Return the columns of a schema that cannot be labels, each with its type."""
    found = {}
    for field in schema:
        if kind := type_of_pandas(field):
            found[field.name] = f"of type {kind} (convert it with pandas: column.astype(str))"
        elif not is_label(field.type):
            found[field.name] = f"of type {str(field.type)[:60]}"
    return found


def dense_blocks(
    batches: Iterable[pa.RecordBatch],
    columns: tuple[str, ...],
    rows_per_block: int,
    labels: Sequence[Labels] = (),
) -> Iterator[Floats]:
    """Cut and join batches into blocks of exactly `rows_per_block` rows, save the last.

    The last columns are read by `labels`, if there are any.
    """
    stretches = (stretch_of(batch, columns, len(labels)) for batch in batches)
    return filled_blocks(stretches, rows_per_block, labels)


def stretch_of(batch: pa.RecordBatch, columns: tuple[str, ...], marks: int) -> Stretch:
    """Return the columns of a batch, of which the last are labels.

    Where it has two columns of a name, the first one holds numbers, and the other one labels.
    """
    places = list(map(batch.schema.get_all_field_indices, columns))
    values = len(columns) - marks
    numbers = [numbers_of(batch.column(min(at))) for at in places[:values]]
    return Stretch(batch.num_rows, numbers, [batch.column(max(at)) for at in places[values:]])
