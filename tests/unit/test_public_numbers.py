"""Bounds, centers and scales as people give them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import prolate
from prolate import Budget
from prolate.errors import InputError
from prolate.public_numbers import read_bounds, read_vector

NAMES = ("h", "w")


def series(**values: float) -> pd.Series:
    return pd.Series(values)


@pytest.mark.parametrize(
    "bounds",
    [
        {"w": (0, 140), "h": (0, 240)},
        {" w": (0, 140), "h ": (0, 240)},
        (0, [240, 140]),
        ([0, 0], np.array([240, 140], dtype=np.float32)),
        (series(w=0, h=0), series(w=140, h=240)),
        (0, series(w=140, h=240)),
        (0, pd.Series([240, 140])),  # without names, in order
        ({"w": 0, "h": 0}, {"w": 140, "h": 240}),
        ((Decimal(0), 0), (Decimal(240), 140)),
    ],
)
def test_bounds_are_those_of_the_columns_that_they_name(bounds: Any) -> None:
    """Labels of a series were ignored, so that columns had each other's bounds."""
    found = read_bounds(bounds, NAMES)
    assert found is not None
    assert [ends.tolist() for ends in found] == [[0, 0], [240, 140]]


@pytest.mark.parametrize("values", [{"w": 70, "h": 170}, series(w=70, h=170), [170, 70]])
def test_centers_are_those_of_the_columns_that_they_name(values: Any) -> None:
    found = read_vector("center", values, NAMES)
    assert found is not None
    assert found.tolist() == [170, 70]


def test_columns_of_an_array_may_be_called_by_their_position() -> None:
    found = read_bounds({0: (0, 5), np.int64(2): (1, 3)}, ("x0", "x1", "x2"))
    assert found is not None
    assert [ends.tolist() for ends in found] == [[0, -np.inf, 1], [5, np.inf, 3]]
    frame = read_bounds({2024: (0, 5)}, ("2023", "2024"))  # a name that pandas has as a number
    assert frame is not None
    assert frame[1].tolist() == [np.inf, 5]
    rows = np.random.default_rng(0).normal(size=(3000, 2)) @ [[1.0, 2.0], [0.0, 0.1]]
    by_place = prolate.regress(rows, 1, budget=Budget(mu=1), seed=1)
    assert by_place.estimate.tolist() == (
        prolate.regress(rows, "x1", budget=Budget(mu=1), seed=1).estimate.tolist()
    )


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ("09", "pair"),
        (b"ab", "pair"),
        ({0, 200}, "pair"),
        ({"h": "09"}, "pair"),
        (("0", "9"), "numbers"),
        ((False, True), "numbers"),
        ((0, [True, 1]), "numbers"),
        ((0, [2, True, None]), "numbers"),
        (np.array([0j, 200 + 1j]), "numbers"),
        ((np.datetime64("2020"), np.datetime64("2021")), "numbers"),
        ((0, {1, 2}), "numbers"),
        ((0, np.ma.masked), "numbers"),
        ((0, series(h=1, x=2)), "names a column that is not used: 'x'|name a column"),
        ((0, series(h=1)), "no number for column 'w'"),
        ({"h": (0, 1), " h": (0, 2)}, "name column 'h' twice"),
        ({5: (0, 1)}, "not used: '5'"),
        ({True: (0, 1)}, "not used: 'True'"),
    ],
)
def test_what_is_no_number_of_a_column_is_refused(bounds: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_bounds(bounds, NAMES)


@pytest.mark.parametrize("center", ["170", True, [1 + 1j, 2], [None, 1], {1, 2}, np.ma.masked])
def test_what_is_no_center_is_refused(center: Any) -> None:
    with pytest.raises(InputError, match="center must be numbers"):
        read_vector("center", center, NAMES)
