"""Arguments that nobody should pass, of all functions, and how two tables of one schema compare."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from fuzz.harness import outcome
from fuzz.tables import (
    CONTAINERS,
    DTYPES,
    LAYOUTS,
    OF_NUMBERS,
    SPICES,
    Array,
    contained,
    laid_out,
    names,
    typed,
    values,
)
from hypothesis import strategies as st

budgets = st.sampled_from([
    {"mu": 1.0}, {"mu": 1e4}, {"mu": 1e9}, {"mu": 5e-324}, {"mu": 1e308},
    {"mu": 1e-6}, {"mu": 1e-9}, {"rho": 1e-12},
    {"rho": 1e12}, {"epsilon": 1, "delta": 1e-6}, {"epsilon": 1e-6, "delta": 1e-300},
    {"epsilon": 300, "delta": 0.999}, {"epsilon": 1e-300, "delta": 1e-6}, {"mu": 0.0},
    {"mu": -1.0}, {"mu": math.nan}, {"epsilon": 1.0}, {}, {"rho": "1"}, {"mu": True},
    {"mu": 1, "rho": 1}, {"epsilon": 1, "delta": 0}, {"epsilon": 0, "delta": 1e-6},
    {"mu": np.float32(1)}, {"mu": 10**400}, {"mu": None}, {"mu": [1]}, {"mu": 1 + 0j},
])  # fmt: skip
bounds = st.sampled_from([
    None, None, None, (0, 1), (-10.0, 10.0), (-1e300, 1e300), (5, 5), (0, 0), (1, 0), (math.nan, 1),
    (0, math.inf), (-1e-320, 1e-320), (-1e-300, 1e300), ([0], [1]), (np.zeros(2), np.ones(2)), "ab",
    (0, 1, 2), 7, {}, {"zz": (0, 1)}, {"a": (0, 1)}, {"x0": (0, 1)}, {0: (0, 1)}, {"x0": 3},
    {"x0": (None, 1)}, ("0", "1"), (True, False), (1e301, 1e302), (None, None), (10**400, 1),
    (-1, 1j), [[0, 1], [2, 3]], {"x0": ([0, 1], 2)}, {"x0": ("a", "b")}, {None: (0, 1)},
    [], ((), ()), {"x0": (0, 1), "x1": (-5, 5)}, object(), {1.5, 2.5}, iter([0, 1]), b"01",
])  # fmt: skip
columns = st.sampled_from([
    None, None, None, None, None, 0, -1, [0], [1, 0], [], (), ["x0"], "x0", "a", ["a", ""], ["zz"],
    [0, 0], True, b"a", {"a": 1}, {"a"}, [None], 1.5, np.int64(0), np.array([0]), [10**30],
    -(10**9),
    [["a"]], iter(["x0"]), "", [True], np.array(["x0"]),
])  # fmt: skip
ARGUMENTS: dict[str, Any] = {
    "neighbors": ["replace", "add-remove", "both", None, 1, ["replace"]],
    "seed": [1, 0, 2**63, 2**400, -1, True, 1.5, "1", np.int64(3), [1]],
    "ledger": [None, "", ".", "\0", 7, "no/such.ledger", b"x", "postgresql://:x@/",
    "x" * 1000],
    "progress": [False, True, None],
    "engine": [None, "dask", 3, ""],
    "unit": [None, 0, "x0", "zz", "", 1.5, [0], True, -1, ("a", "b"), {}],
    "contribution": ["mean", "rows", "all", None, 3],
    "max_rows": [None, 1, 0, -1, 2.5, 10**30, True, "3"],
    "by": [None, 0, "x0", "zz", "", 1.5, [0], True, -1, {}],
    "keys": [None, [], [1, 2], ["1", 1], "ab", [None], [math.nan], [[1]], 5, [""], ["\n"], {1: 2},
             [b"a"], [10**40], [object()], ["\ud800"], np.array([1, 2])],
}  # fmt: skip
SHAPES: dict[str, Any] = {
    "error_norm": [2, 1, 1.5, 50, "relative", 1e6, 1e308, math.inf, math.nan, "2", 0.5, None,
                   [2], 10**400, 2j],
    "method": ["auto", "plan", "plan-noscale", "plan-exponential", "gaussian", "gaussian-ellipse",
               "iome", "coinpress", "", None, 3, ["auto"]],
    "clip": ["auto", "optimal", 0.1, 0.0, 1.0, 1e-300, math.nan, "x", None, True, [0.1]],
    "center": [None, 0, [0, 0], {"x0": 1}, {"zz": 1}, math.nan, "a", [[1]], 1e300, 1e301, {}, [],
               {"x0": "a"}, {"x0": [1, 2]}, 1j, 10**400],
    "scale": [None, 1, [1, 1], {"x0": 1}, 0, -1, 1e-200, 1e150, math.inf, "a", {"x0": None}],
}  # fmt: skip


def arguments(known: dict[str, Any]) -> Any:
    """Return up to two arguments with odd values."""
    one = st.sampled_from([(name, value) for name, all_ in known.items() for value in all_])
    return st.lists(one, max_size=2).map(dict)


tables = st.tuples(
    st.sampled_from([0, 1, 2, 3, 8, 40, 200]),
    names,
    st.sampled_from(DTYPES),
    st.sampled_from(LAYOUTS),
    st.sampled_from(CONTAINERS),
    st.sampled_from(SPICES),
    st.sampled_from(SPICES),
    st.integers(0, 10**6),
)


def made(table: tuple[Any, ...], which: int) -> Any:
    """Return the first or second table of a case, which differ in values alone."""
    n, labels, dtype, layout, container, *spices, seed = table
    x = typed(values(seed + which, n, len(labels), spices[which]), dtype)
    return contained(laid_out(x, layout), container, labels)


def both(make: Callable[[Any], Any], table: tuple[Any, ...]) -> None:
    """Run a case on two tables of one schema, and compare how it ends."""
    ends = [outcome(lambda which=which: make(made(table, which))) for which in (0, 1)]
    one, other = (end if isinstance(end, str) else type(end) for end in ends)
    assert one == other


def fresh(options: dict[str, Any]) -> dict[str, Any]:
    """Return the same options; an iterator among them comes only once, so it is copied."""
    return {k: copy.copy(v) if hasattr(v, "__next__") else v for k, v in options.items()}


def numbers_of(x: Array) -> Array:
    """Return what the numbers of a table are: float64, NaN where they are missing."""
    if isinstance(x, np.ma.MaskedArray):
        return np.ma.filled(x.astype(np.float64), np.nan)
    with np.errstate(all="ignore"):
        return np.asarray(x, dtype=np.float64)


good = st.tuples(
    st.sampled_from([200, 333]),
    st.lists(st.sampled_from(["a", "b c", "é",
             'quo"te', "x0", "new\nline", "\u202eright", "nan"]), min_size=1, max_size=4,
             unique=True),
    st.sampled_from([t for t in DTYPES if np.dtype(t).kind in "fiub"]),
    st.sampled_from([way for way in LAYOUTS if way != "all masked"]),
    st.sampled_from(OF_NUMBERS),
    st.sampled_from(SPICES),
    st.sampled_from(SPICES),
    st.integers(0, 10**6),
)  # fmt: skip


def numbers_and_table(table: tuple[Any, ...]) -> tuple[Array, Any]:
    n, labels, dtype, layout, container, spice, _, seed = table
    if container == "list":
        layout = "c"  # a masked cell would be None
    if spice == "nan" and layout == "zero stride":
        spice = "plain"  # all rows are the first one, which may have no number
    x = laid_out(typed(values(seed, n, len(labels), spice), dtype), layout)
    return numbers_of(x), contained(x, container, labels)
