"""Which of rising edges a number reaches, by its leading bits: as by searching them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolate.queries._compiled_edges import look_up, reached

LARGEST = float(np.finfo(np.float64).max)
EDGES = {
    "none": np.array([]),
    "one": np.array([3.0]),
    "half octaves": 2.0 ** np.arange(-14.0, 14.0, 0.5),
    "many in an eighth of an octave": np.linspace(1.0, 1.2, 300),
    "near each other and far": np.concatenate([np.linspace(1.0, 1.01, 50), [1e200]]),
    "neighbors": 1.0 + np.arange(40) * 2.0**-52,
    "tiny": np.array([0.0, 5e-324, 1e-310, 2.3e-308, 1.0]),
    "minus zero": np.array([-0.0, 1.0]),
    "below zero": np.array([-np.inf, -2.0, -1e-300, 1e-300]),
    "up to infinity": np.array([1.0, 1e308, LARGEST, np.inf]),
}


def check(edges: np.ndarray, values: np.ndarray) -> None:
    tables = look_up(edges)
    found = [reached(tables, value) for value in values]
    assert found == np.searchsorted(edges, np.minimum(values, LARGEST), "right").tolist()


@pytest.mark.parametrize("name", EDGES)
def test_edges_that_are_reached(name) -> None:
    edges = EDGES[name]
    near = edges[np.isfinite(edges)]
    with np.errstate(over="ignore"):
        beside = np.nextafter(near, np.inf), np.nextafter(near, -np.inf)
    near = np.abs(np.concatenate([near, *beside]))
    between = np.random.default_rng(0).uniform(0.9, 1.3, 200)
    ends = [0.0, 5e-324, 1e-308, 1.0, 3.0, 1e300, LARGEST, np.inf]
    check(edges, np.concatenate([near, between, ends]))


@given(
    edges=st.lists(st.floats(allow_nan=False), max_size=30).map(np.unique),
    values=st.lists(st.floats(min_value=0.0, allow_nan=False), min_size=1, max_size=9),
)
def test_any_edges(edges, values) -> None:
    check(edges.astype(np.float64), np.array(values))


def test_what_is_no_number_reaches_some() -> None:
    """Nothing is read beyond the edges."""
    for edges in EDGES.values():
        assert 0 <= reached(look_up(edges), np.nan) <= edges.size
