"""Tables as nobody should make them, and what is in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]

NAMES = (
    "a", "", " ", "b c", 'quo"te', "it's", "new\nline", "tab\t", "\u202eright", "é", "e\u0301",
    "名", "a=1", "a:b", "a,b", "x0", "x1", "[red]", "{}", "%s", "\x1b[31m", "\x7f", "--mu", "-",
    "0", "nan", "__class__", "<b>", "\ufeffbom", "\U0001f600", "a" * 300, "None", "$(id)", "\\",
    "y", "rows",
)  # fmt: skip
DTYPES = (
    "f8", "f8", "f4", "f2", "g", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", ">f8", ">f4",
    ">i4", ">u2", "O", "c16", "U5", "S3", "M8[s]", "m8[D]",
)  # fmt: skip
SPICES = (
    "plain", "plain", "nan", "inf", "huge", "tiny", "constant", "zero", "far", "few", "mixed",
    "dust",
)  # fmt: skip
LAYOUTS = (
    "c", "f", "reversed", "stepped", "zero stride", "unaligned", "read-only", "masked", "matrix",
    "transposed", "all masked",
)  # fmt: skip
CONTAINERS = (
    "array", "array", "array", "list", "pandas", "nullable", "categories", "arrow", "chunks",
    "stream", "polars", "csr", "csc", "coo", "lil", "matrix of scipy", "runs", "decimals",
    "dictionaries",
)  # fmt: skip
OF_NUMBERS = tuple(name for name in CONTAINERS if name != "categories")

ODD: list[Any] = [
    None, True, False, 0, 1, -1, 1.5, 1e308, -1e308, 10**400, "", "x", "inf", "replace", [], [1],
    {},
    {"x": 1}, [[1, 2], [3]], ["a", "b"], "\u202e", "<script>alert(1)</script>", [[]], [None],
    2**53 + 1,
    "\ud800", "a" * 2000, [[[1]]], "nan", -0.0, 5e-324, {"": []}, "{{ 7 * 7 }}", "</script>\x00",
]  # fmt: skip
"""What may stand in JSON, and hardly ever should."""


def values(seed: int, n: int, d: int, spice: str) -> NDArray[np.float64]:
    """Return numbers with a spice that is hard to digest."""
    rng = np.random.default_rng(seed)
    x = rng.normal(rng.uniform(-20, 20, d), rng.uniform(0.5, 5, d), size=(n, d))
    some = rng.random((n, d)) < 0.2
    bad = {
        "nan": [np.nan],
        "inf": [np.inf, -np.inf],
        "huge": [1e308, -1e308, 1e200],
        "tiny": [5e-324, -1e-310, 0.0, -0.0],
        "far": [1e16, -1e16, 2.0**53 + 1],
        "mixed": [np.nan, np.inf, -np.inf, 1.7e308, 5e-324, 0.0, 1e16, -1e100],
    }
    if spice in bad:
        x[some] = rng.choice(bad[spice], size=int(some.sum()))
    elif spice == "constant":
        x[:] = rng.choice([0.0, 3.0, 1e4, -1e-9])
    elif spice == "zero":
        x *= some
    elif spice == "few":
        x = np.round(x / 10)
    elif spice == "dust":
        x[~some] *= 1e-12
    return x


def typed(x: NDArray[np.float64], dtype: str) -> Array:
    """Return numbers in a dtype, whatever that does to them."""
    kind = np.dtype(dtype).kind
    with np.errstate(all="ignore"):
        if kind in "iuMmUS":
            x = np.nan_to_num(x, nan=0.0, posinf=100.0, neginf=0.0)
            x = np.clip(x, 0 if kind == "u" else -100, 100).astype("i8")
        if kind == "?":
            return np.asarray(x > 0)
        return x.astype(dtype)


def laid_out(x: Array, layout: str) -> Array:
    """Return the same numbers, elsewhere in memory (but for a zero stride: all as the first)."""
    n, d = x.shape
    if layout == "f":
        return np.asfortranarray(x)
    if layout == "reversed":
        return np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1]
    if layout == "stepped":
        wide = np.zeros((2 * n, 3 * d), x.dtype)
        wide[::2, ::3] = x
        return wide[::2, ::3]
    if layout == "zero stride":
        return np.broadcast_to(x[:1], (n, d)) if n else x
    if layout == "unaligned":
        room = np.zeros(x.nbytes + 1, np.uint8)
        odd = np.ndarray(x.shape, x.dtype, room.data, 1) if x.dtype != object else x.copy()
        odd[...] = x
        return odd
    if layout == "read-only":
        x = x.copy()
        x.flags.writeable = False
    if layout in ("masked", "all masked"):
        some = np.arange(n * d).reshape(n, d) % 7 == 0
        return np.ma.array(x, mask=some if layout == "masked" else True)
    if layout == "matrix" and x.dtype.kind != "O":
        return x.view(np.matrix)
    if layout == "transposed":
        return np.ascontiguousarray(x.T).T
    return x


def encoded(array: pa.Array, container: str) -> pa.Array:
    """Return the same numbers of another type of Arrow's, where there is one for them."""
    kind = array.type
    if container == "decimals" and pa.types.is_signed_integer(kind) and kind != pa.int64():
        return array.cast(pa.decimal128(12, 0))
    if container in ("runs", "dictionaries") and kind != pa.float16():
        return pc.run_end_encode(array) if container == "runs" else array.dictionary_encode()
    return array


def contained(x: Array, container: str, names: list[str]) -> Any:
    """Return a table of a kind that holds such numbers, or else the array."""
    plain = x.dtype.kind in "fiub" and not isinstance(x, np.ma.MaskedArray | np.matrix)
    if container in ("array", "list") or not plain or x.dtype == np.longdouble:
        return x.tolist() if container == "list" else x
    x = x.astype(x.dtype.newbyteorder("="))
    if container in ("csr", "csc", "coo", "lil", "matrix of scipy"):
        x = x.astype("f4") if x.dtype == np.float16 else x
        if container == "matrix of scipy":
            return sparse.csr_matrix(x)
        return getattr(sparse, f"{container}_array")(x)
    columns = [x[:, j].copy() for j in range(x.shape[1])]
    if container in ("pandas", "nullable", "categories"):
        frame = pd.DataFrame(x.astype("f4") if x.dtype == np.float16 else x)
        frame.columns = pd.Index(names, dtype=object)
        if container == "nullable":
            return frame.astype("float32").astype("Float32") if x.dtype == "f4" else frame
        return frame.astype("category") if container == "categories" else frame
    if container == "polars" and len(set(names)) == len(names) and x.dtype != np.float16:
        return pl.DataFrame(dict(zip(names, columns, strict=True)))
    arrays = [pa.array(column, from_pandas=True) for column in columns]
    arrays = [encoded(array, container) for array in arrays]
    table = pa.Table.from_arrays(arrays, names=names)
    if container == "chunks":
        table = pa.concat_tables([table.slice(0, 3), table.slice(3)])
    return table.to_reader() if container == "stream" else table


names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4)
"""Of columns, some of them twice."""
