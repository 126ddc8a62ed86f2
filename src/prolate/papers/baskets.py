"""Baskets from a file: one row per basket, one column per item, 1 where it is in.

Two forms are read. FIMI: text, one basket per line, items as whole numbers separated by
blanks or commas. Parquet: the columns row_id and col_id, one line per 1. The list of items
is that of the file: these are public data, read to compare methods, not to protect anyone.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from prolate.errors import InputError

__all__ = ["read_baskets", "some_items"]

_FORM = "one basket per line, items as whole numbers separated by blanks or commas"


@lru_cache(maxsize=1)
def read_baskets(path: str) -> Any:
    """Return a scipy CSR matrix of ones, one column per item that occurs.

    Raises
    ------
    InputError
        If the file is missing, empty or of another form.
    """
    from scipy import sparse

    file = Path(path)
    if not file.is_file():
        raise InputError(f"There is no file {path!r}; give the path of a file of baskets.")
    rows, items = _parquet(file) if file.suffix == ".parquet" else _fimi(file)
    if rows.size == 0:
        raise InputError(f"{path!r} holds no baskets; it should have {_FORM}.")
    columns = np.unique(items, return_inverse=True)[1]
    shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    matrix = sparse.csr_matrix((np.ones(rows.size), (rows, columns)), shape=shape)
    matrix.data[:] = 1.0  # an item that is named twice is still in once
    return matrix


def some_items(matrix: Any, count: int) -> Any:
    """Return about `count` of the columns: popular and rare ones, in equal steps of rank."""
    popularity = np.asarray(matrix.sum(axis=0)).ravel()
    order = np.argsort(-popularity, kind="stable")
    step = max(1, order.size // count)
    return matrix[:, np.sort(order[::step][:count])]


def _parquet(file: Path) -> tuple[Any, Any]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(file, columns=["row_id", "col_id"])
        rows, items = (table[name].to_numpy() for name in ("row_id", "col_id"))
    except (pa.ArrowException, KeyError, ValueError) as error:
        raise InputError(
            f"{str(file)!r} is no Parquet file with the columns row_id and col_id."
        ) from error
    if not all(np.issubdtype(ids.dtype, np.integer) for ids in (rows, items)) or (
        rows.size and min(rows.min(), items.min()) < 0
    ):
        raise InputError(f"row_id and col_id of {str(file)!r} must be whole numbers from 0 on.")
    return rows, items


def _fimi(file: Path) -> tuple[Any, Any]:
    rows: list[int] = []
    items: list[int] = []
    try:
        with file.open(encoding="ascii") as lines:
            for number, line in enumerate(lines):
                basket = [int(item) for item in line.replace(",", " ").split()]
                items += basket
                rows += [number] * len(basket)
    except ValueError as error:  # UnicodeDecodeError is one
        raise InputError(f"{str(file)!r} is no file of baskets; it should have {_FORM}.") from error
    return np.array(rows, dtype=np.int64), np.array(items, dtype=np.int64)
