"""Sensitivity by brute force, merging, and compiled kernels against their twins.

`check_neighbors` is the one check of sensitivity. It runs over rows that hypothesis makes
and over adversarial ones; for each query there is an example that attains the bound, and
on it the same function refuses a query that claims half of its sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from prolate.compiled import WORK
from prolate.noise import FAN, LEVELS
from prolate.queries import (
    RADIUS,
    Along,
    BeyondCut,
    ClippedSum,
    Count,
    CountBelow,
    Cross,
    Cut,
    EdgesGrid,
    FarthestHistogram,
    Gram,
    Histogram,
    Layer,
    LinearGrid,
    MagnitudeGrid,
    Magnitudes,
    NormHistogram,
    Norms,
    OneSidedSum,
    Pairs,
    PooledHistogram,
    Products,
    Query,
    ResidualGram,
    Rotated,
    Selected,
    Together,
    Turned,
    WholeRows,
    kernels,
    twins,
)
from prolate.queries.clipped_sum import CAP
from prolate.queries.ranks import NodeHistogram, Ranks

BIG, TINY = 1.7976931348623157e308, 5e-324
SPECIAL = [
    *(0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1.5, 3.0, -3.0, 1e308, -1e308, BIG, -BIG, 1e-308, -1e-308),
    *(TINY, -TINY, 2.2250738585072014e-308, math.inf, -math.inf, math.nan, 1e154, -1e154, 1e-160),
    *(np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0), 2.0**53, -(2.0**63), 2.0**1000, 1e9, -1e9),
]
VALUES = st.one_of(
    st.sampled_from(SPECIAL),
    st.floats(allow_nan=True, allow_infinity=True, width=64),
    st.floats(-4.0, 4.0),
)
RELATIONS = ("replace", "add-remove")


def difference(a: np.ndarray, b: np.ndarray) -> int:
    """Return |a - b|**2, exactly."""
    return sum((int(x) - int(y)) ** 2 for x, y in zip(a.tolist(), b.tolist(), strict=True))


def check_neighbors(query: Query, rows: np.ndarray, place: int, other: np.ndarray) -> list[int]:
    """Hold the query's sensitivity against two pairs of neighbors; return their distances.

    Replace: the row at `place` becomes `other`. Add-remove: it goes.
    """
    changed = rows.copy()
    changed[place] = other
    distances = [difference(query(rows), query(changed))]
    assert distances[0] <= query.sensitivity_squared("replace")
    if not isinstance(query, Pairs):
        distances.append(difference(query(rows), query(np.delete(rows, place, axis=0))))
        assert distances[1] <= query.sensitivity_squared("add-remove")
    return distances


@dataclass(frozen=True, eq=False)
class Halved(Query):
    """The planted fault: a query that claims half of its l2 sensitivity."""

    query: Query

    @property
    def columns(self) -> int:
        return self.query.columns

    @property
    def size(self) -> int:
        return self.query.size

    def sensitivity_squared(self, neighbors: str) -> int:
        return self.query.sensitivity_squared(neighbors) // 4

    def add(self, rows: np.ndarray, total: np.ndarray) -> None:
        self.query.add(rows, total)

    def describe(self) -> str:
        return self.query.describe()


def clipped(d: int, **changes: object) -> ClippedSum:
    arguments = {"center": np.zeros(d), "scale": np.ones(d), "radius": 1.0, **changes}
    return ClippedSum(**arguments)


# Every kind of query, by the number of columns.
MAKERS: dict[str, Callable[[int], Query]] = {
    "count": Count,
    "count below": lambda d: CountBelow(np.linspace(-1.0, 1.0, d)),
    "linear histogram": lambda d: Histogram(LinearGrid(np.full(d, -2.0), np.full(d, 0.5), 8)),
    "linear histogram of tiny cells": lambda d: Histogram(
        LinearGrid(np.full(d, -BIG), np.full(d, TINY), 5)
    ),
    "magnitude histogram": lambda d: Histogram(
        MagnitudeGrid(np.linspace(0.0, 1.0, d), np.full(d, 2 * 1020), 9, 51)
    ),
    "magnitude histogram around the largest number": lambda d: Histogram(
        MagnitudeGrid(np.full(d, -BIG), np.full(d, -(2**63)), 3, 0)
    ),
    "pooled histogram": lambda d: PooledHistogram(
        MagnitudeGrid(np.full(d, 0.5), np.full(d, 1020), 8, 52)
    ),
    "linear histogram and missing": lambda d: Histogram(
        LinearGrid(np.full(d, -2.0), np.full(d, 0.5), 8), missing=True
    ),
    "sum of whole rows": lambda d: WholeRows(ClippedSum(np.zeros(d), np.ones(d), 2.0)),
    "histogram between edges": lambda d: Histogram(
        EdgesGrid(np.tile([-np.inf, -1.0, 0.0, 0.5, BIG], (d, 1)))
    ),
    "histograms between edges, columns twice": lambda d: Selected(
        Histogram(EdgesGrid(np.tile([[-1.0, 1.0], [0.5, np.inf]], (d, 1)))),
        np.repeat(np.arange(d), 2),
        d,
    ),
    "norm histogram": lambda d: NormHistogram(
        np.zeros(d), np.ones(d), np.array([0.5, 1.0, 2.0, 1e300])
    ),
    "norm histogram of squares": lambda d: NormHistogram(
        np.ones(d), np.full(d, 0.1), np.array([0.1, 0.5]), np.linspace(-1, 1, d)
    ),
    "pairs": lambda d: Pairs(Histogram(LinearGrid(np.full(d, -2.0), np.full(d, 0.5), 8))),
    "pairs of clipped sums": lambda d: Pairs(clipped(d)),
    "cut": lambda d: Cut(
        Histogram(LinearGrid(np.full(d, -2.0), np.full(d, 0.5), 8)),
        np.full(d, -1.0),
        np.full(d, 1.0),
    ),
    "magnitudes": lambda d: Magnitudes(CountBelow(np.ones(d))),
    "norms": lambda d: Norms(
        Histogram(LinearGrid(np.zeros(1), np.ones(1), 3)), np.zeros(d), np.ones(d)
    ),
    "rotated": lambda d: Rotated(
        clipped(1 << (d - 1).bit_length()), np.ones(1 << (d - 1).bit_length()), np.zeros(d)
    ),
    "layer": lambda d: Layer(Gram(np.zeros(d), np.ones(d), 2.0), 1.0, math.sqrt(5.0)),
    "turned": lambda d: Turned(clipped(d), np.zeros(d), np.eye(d)[::-1].copy()),
    "products": lambda d: Products(clipped(d * (d + 1) // 2), np.zeros(d), np.ones(d)),
    "gram": lambda d: Gram(np.zeros(d), np.logspace(-2, 2, d), 1.0),
    "gram with a constant": lambda d: Gram(np.zeros(d), np.ones(d), 3.0, constant=1.0),
    "gram with a target": lambda d: Gram(np.zeros(d), np.ones(d), 3.0, constant=1.0, target=2.0),
    "gram of residuals": lambda d: (
        ResidualGram(
            np.zeros(d),
            np.ones(d),
            3.0,
            target=2.0,
            slopes=np.linspace(-2.0, 2.0, d - 1),
            value=-0.5,
        )
        if d > 1
        else Gram(np.zeros(1), np.ones(1), 3.0)
    ),
    "beyond the cut": lambda d: (
        BeyondCut(
            ResidualGram(
                np.zeros(d),
                np.ones(d),
                3.0,
                constant=1.0,
                target=0.5,
                slopes=np.linspace(-2.0, 2.0, d - 1),
                value=-0.5,
                weighted=True,
            ),
            0.7,
        )
        if d > 1
        else Gram(np.zeros(1), np.ones(1), 3.0)
    ),
    "gram of shortened rows": lambda d: (
        ResidualGram(
            np.zeros(d),
            np.ones(d),
            3.0,
            constant=1.0,
            target=2.0,
            slopes=np.linspace(-2.0, 2.0, d - 1),
            value=-0.5,
            weighted=True,
        )
        if d > 1
        else Gram(np.zeros(1), np.ones(1), 3.0)
    ),
    "gram of a column, cut": lambda d: Gram(
        np.ones(1),
        np.ones(1),
        3.0,
        index=np.array([d - 1]),
        width=d,
        lower=np.full(1, -2.0),
        upper=np.full(1, 1e308),
    ),
    "cross": lambda d: Cross(MAKERS["gram"](d), d - 1, 0.5, 2.0),
    "cross with its gram": lambda d: Cross(
        MAKERS["gram with a constant"](d), 0, gram=True, coef=np.linspace(-3.0, 3.0, d + 1)
    ),
    "along": lambda d: Along(
        MAKERS["gram with a constant"](d), np.full(d + 1, 1.0 / math.sqrt(d + 1.0))
    ),
    "selected": lambda d: Selected(clipped(1), np.array([d - 1]), d),
    "together": lambda d: Together((Count(d), clipped(d))),
    "nodes": lambda d: NodeHistogram(
        np.full(d, -1e9), np.full(d, 2.0), np.arange(d), [(k % LEVELS, 0) for k in range(d)]
    ),
    "clipped sum": clipped,
    "clipped sum, huge gains": lambda d: clipped(d, scale=np.full(d, 1e-300)),
    "clipped sum, tiny gains": lambda d: clipped(d, scale=np.full(d, 1e300), radius=1e5),
    "clipped sum, all sorts of gains": lambda d: clipped(d, scale=np.logspace(-250, 250, d)),
    "clipped sum of cut values": lambda d: clipped(
        d, lower=np.linspace(-5.0, 0.0, d), upper=np.linspace(0.0, 1e308, d), center=np.ones(d)
    ),
    "clipped sum beyond some ends": lambda d: clipped(
        d, lower=np.linspace(-5.0, 0.0, d), upper=np.linspace(0.0, 1e308, d), beyond=True
    ),
    "clipped sum of squares": lambda d: clipped(d, about=np.linspace(-8e307, 8e307, d), radius=3.0),
    "clipped sum with a stand-in": lambda d: clipped(d, missing=np.linspace(-1e300, 0.3, d)),
    "clipped sum, tilted": lambda d: clipped(d, tilt=(0.8, 1.2)),
    "clipped sum, tilted far": lambda d: clipped(d, tilt=(0.0, 9e5)),
    "clipped sum, tilted near": lambda d: clipped(d, tilt=(0.0, 2e-6)),
    "norm histogram of the farthest": lambda d: NormHistogram(
        np.zeros(d), np.ones(d), np.array([0.5, 1.0, 2.0, 1e300]), farthest=True
    ),
    "farthest columns": lambda d: FarthestHistogram(np.zeros(d), np.linspace(0.5, 2.0, d), 5),
    "farthest columns, huge gains": lambda d: FarthestHistogram(np.ones(d), np.full(d, 1e300), 40),
    "one-sided sum": lambda d: OneSidedSum(
        np.linspace(-1.0, 1.0, d), np.ones(d), 1.0, np.where(np.arange(d) % 3, 1.0, -1.0)
    ),
    "clipped sum of everything": lambda d: clipped(
        d,
        lower=np.full(d, -2.0),
        upper=np.full(d, 2.0),
        about=np.full(d, 0.25),
        center=np.full(d, 0.5),
        scale=np.linspace(0.1, 3.0, d),
        missing=np.full(d, 7.0),
    ),
}
WIDTHS = [1, 2, 31, 32, 33, 65, 200]


@st.composite
def neighbors_of(draw: st.DrawFn) -> tuple[np.ndarray, int, np.ndarray]:
    d = draw(st.integers(1, 5))
    rows = draw(hnp.arrays(np.float64, (draw(st.integers(1, 5)), d), elements=VALUES))
    other = draw(hnp.arrays(np.float64, d, elements=VALUES))
    return rows, draw(st.integers(0, len(rows) - 1)), other


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=60)
@given(case=neighbors_of())
@example(case=(np.array([[BIG, -BIG]]), 0, np.array([-BIG, BIG])))
@example(case=(np.array([[math.nan], [1.0]]), 0, np.array([TINY])))
@example(case=(np.array([[1.0], [1.0], [1.0]]), 1, np.array([1.0])))
def test_no_neighbor_is_further_than_the_sensitivity(name, case) -> None:
    rows, place, other = case
    check_neighbors(MAKERS[name](rows.shape[1]), rows, place, other)


def adversarial_rows(d: int) -> np.ndarray:
    """Rows of d columns: extremes, all alike, exactly on the radius, and a hair beyond."""
    rng = np.random.default_rng(d)
    unit = rng.normal(size=(40, d))
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    longer = unit * np.exp(rng.uniform(-1e-6, 1e-6, (40, 1)))
    axes = np.zeros((4, d))
    axes[0, 0], axes[1, -1], axes[2, 0], axes[3, -1] = 1.0, -1.0, np.nextafter(1.0, 2.0), 2.0
    even = np.full((1, d), 1.0 / math.sqrt(d))
    halves = np.full((2, d), 0.5 / RADIUS)
    halves[1] = np.arange(d) % 2 - 0.5
    # In saturation: sums of squares on both sides of 2**53, which is 32 squares of CAP.
    full = np.array([np.where(np.arange(d) < k, 2.0, 0.0) for k in (1, 31, 32, 33, d)])
    almost = full * (1.0 - 2.0**-24)
    mixed = rng.choice(SPECIAL, size=(60, d))
    scales = unit * 10.0 ** rng.uniform(-3, 300, (40, 1))
    return np.concatenate(
        [unit, longer, axes, even, -even, even * 1.0000001, halves, full, almost, mixed, scales]
        + [np.full((1, d), value) for value in SPECIAL]
    )


@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("name", MAKERS)
def test_adversarial_rows(name, d) -> None:
    """Every row by itself has a vector of at most the add-remove sensitivity."""
    d = min(
        d,
        {
            "products": 20,
            "nodes": 33,
            "gram": 65,
            "layer": 65,
            "gram with a target": 65,
            "cross with its gram": 65,
        }.get(name, d),
    )
    query, rows = MAKERS[name](d), adversarial_rows(d)
    if isinstance(
        query, Pairs | Gram | Cross | Along | BeyondCut | Layer
    ):  # a Gram matrix is too large for the shortcut below
        for place in range(0, len(rows) - 1, 7):
            check_neighbors(query, rows, place, rows[-1 - place])
        return
    vectors = np.array([query(rows[k : k + 1]) for k in range(len(rows))])
    # So that all sums of products below are exact in doubles.
    assert np.abs(vectors).max() <= RADIUS
    squares = np.sum(vectors**2, axis=1)
    vectors = vectors.astype(np.float64)
    assert squares.max() <= query.sensitivity_squared("add-remove")
    # |q - q'|**2 of all pairs.
    furthest = (squares[:, np.newaxis] + squares - 2 * (vectors @ vectors.T)).max()
    assert furthest <= query.sensitivity_squared("replace")


@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("spread", [1e-7, 1e-4, 0.3, 3.0, 30.0])
def test_norms_of_clipped_rows(d, spread) -> None:
    """Thousands of rows near the radius and far beyond; none is longer than RADIUS."""
    rng = np.random.default_rng(7)
    count = 4000 if d < 40 else 600
    rows = rng.normal(size=(count, d))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows *= np.exp(spread * rng.normal(size=(count, 1)))
    query = clipped(d)
    vectors = np.array([query(row[np.newaxis]) for row in rows])
    squares = np.sum(vectors**2, axis=1)  # at most d * 2**46 before clipping: no overflow
    assert squares.max() <= RADIUS**2
    # Clipping does not shorten more than it must, away from saturation.
    lengths = np.linalg.norm(rows, axis=1)
    near = (lengths > 1.001) & (np.abs(rows).max(axis=1) < 2.0) & (lengths < 11.0)
    if near.any():
        assert squares[near].min() >= (RADIUS - 1.1 * math.sqrt(d) - 1) ** 2


def row(*values: float) -> np.ndarray:
    return np.array([values], dtype=np.float64)


# A row, and another, that attain both sensitivities (clipped sums: to within a millionth).
ATTAINED: dict[str, tuple[Query, np.ndarray, np.ndarray]] = {
    "count below": (CountBelow(np.zeros(3)), row(-1, -1, -1), row(1, 1, 1)),
    "linear histogram": (MAKERS["linear histogram"](3), row(-1, 0, 9), row(1, 1, -9)),
    "magnitude histogram": (MAKERS["magnitude histogram"](2), row(5, 9), row(0, 1)),
    "histogram between edges": (MAKERS["histogram between edges"](2), row(1, -1), row(0, 2)),
    "norm histogram": (MAKERS["norm histogram"](2), row(3, 4), row(0, math.nan)),
    "pairs": (MAKERS["pairs"](2), row(1, 2), row(-1, -2)),
    "cut": (MAKERS["cut"](2), row(9, 9), row(-9, -9)),
    "magnitudes": (MAKERS["magnitudes"](2), row(0, 0), row(-2, 2)),
    "norms": (MAKERS["norms"](2), row(1, 1), row(2, 2)),
    "nodes": (NodeHistogram(np.zeros(2), np.ones(2), np.arange(2), [(0, 0), (0, 0)]),
              row(0, 0), row(FAN**3, FAN**3)),
    "clipped sum": (clipped(3), row(0, 1, 0), row(0, -1, 0)),
    "clipped sum beyond the radius": (clipped(2), row(1.2, 1.6), row(-1.2, -1.6)),
    "clipped sum, huge gains": (MAKERS["clipped sum, huge gains"](1), row(1), row(-1)),
    "clipped sum, tiny gains": (MAKERS["clipped sum, tiny gains"](1), row(1e305), row(-1e305)),
    "clipped sum of cut values": (
        clipped(1, lower=np.array([-1.0]), upper=np.array([1.0])), row(5), row(-5)),
    "clipped sum of squares": (
        clipped(1, about=np.array([0.0]), center=np.array([1.0])), row(0), row(2)),
    "clipped sum with a stand-in": (
        clipped(1, missing=np.array([-1.0])), row(1), row(math.nan)),
    "clipped sum, tilted": (clipped(2, tilt=(0.2, 0.5)), row(1.2, 1.6), row(-1.2, -1.6)),
    "wide clipped sum": (clipped(200), np.full((1, 200), 9.0), np.full((1, 200), -9.0)),
    "rotated": (MAKERS["rotated"](2), row(1, 1), row(-1, -1)),
    "turned": (MAKERS["turned"](2), row(0.6, 0.8), row(-0.6, -0.8)),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTAINED)
def test_the_sensitivity_is_attained_and_half_of_it_is_refused(name) -> None:
    query, one, other = ATTAINED[name]
    rows = np.concatenate([one, np.zeros_like(one)])
    distances = check_neighbors(query, rows, 0, other[0])
    for neighbors, distance in zip(RELATIONS, distances, strict=False):
        bound = query.sensitivity_squared(neighbors)
        slack = 2e-6 if bound > 1e6 else 0.0
        assert bound * (1.0 - slack) <= distance <= bound
    with pytest.raises(AssertionError):
        check_neighbors(Halved(query), rows, 0, other[0])


def test_the_sensitivity_of_a_count() -> None:
    rows = np.zeros((3, 2))
    assert check_neighbors(Count(2), rows, 1, np.ones(2)) == [0, 1]
    assert Count(2).sensitivity_squared("replace") == 0
    assert Count(2).sensitivity_squared("add-remove") == 1
    with pytest.raises(AssertionError):
        check_neighbors(Halved(Count(2)), rows, 1, np.ones(2))


@settings(max_examples=200)
@given(
    values=st.lists(st.one_of(st.integers(0, 40), st.just(math.nan)), min_size=1, max_size=8),
    place=st.integers(0, 7),
    other=st.one_of(st.integers(0, 40), st.just(math.nan)),
    quantile=st.floats(0.0, 1.0),
)
def test_distances_of_ranks_change_by_at_most_one(values, place, other, quantile) -> None:
    """The proof of `Ranks`: all cells' distances, neighbors of both kinds."""
    place %= len(values)
    ranks = Ranks(np.zeros(1), np.full(1, float(FAN**LEVELS)), quantile)
    leaves = NodeHistogram(np.zeros(1), np.ones(1), np.array([0]), [(LEVELS - 1, 0)])

    def distances(numbers: list[float], neighbors: str) -> np.ndarray:
        counts = leaves(np.array(numbers, dtype=float).reshape(-1, 1))
        upto = np.cumsum(counts)
        return ranks.distance(upto - counts, upto, int(counts.sum()), neighbors)

    without = values[:place] + values[place + 1 :]
    changed = [*values[:place], other, *values[place + 1 :]]
    for neighbor, neighbors in [(changed, "replace"), (without, "add-remove")]:
        moved = distances(values, neighbors) - distances(neighbor, neighbors)
        assert np.abs(moved).max() <= 1


def test_half_a_utilitys_sensitivity_is_too_little_for_replace() -> None:
    """max(q, 1 - q) would be 1/2 for a median; replacing a row moves its utility by 1."""
    ranks = Ranks(np.zeros(1), np.ones(1), 0.5)
    one = ranks.distance(np.array([3]), np.array([3]), 4, "add-remove")
    two = ranks.distance(np.array([4]), np.array([4]), 4, "add-remove")
    assert abs(int(one[0]) - int(two[0])) == 2


# Merging.


@settings(max_examples=100)
@given(data=st.data(), name=st.sampled_from([name for name in MAKERS if "pairs" not in name]))
def test_two_blocks_add_up(data, name) -> None:
    d = data.draw(st.integers(1, 4))
    rows = data.draw(hnp.arrays(np.float64, (data.draw(st.integers(0, 8)), d), elements=VALUES))
    cut = data.draw(st.integers(0, len(rows)))
    query = MAKERS[name](d)
    assert np.array_equal(query(rows[:cut]) + query(rows[cut:]), query(rows))


@pytest.mark.parametrize("d", [3, 65, 200])
@pytest.mark.parametrize("name", MAKERS)
def test_blocks_of_any_size(name, d) -> None:
    """More rows than a tile holds, cut in several ways; pairs need an even cut."""
    if name == "products":
        d = min(d, 20)
    query, rows = MAKERS[name](d), np.tile(adversarial_rows(d), (5, 1))
    rows = rows[: len(rows) // 2 * 2]
    expected = query(rows)
    for size in (2, 98, 700):
        parts = sum(query(rows[k : k + size]) for k in range(0, len(rows), size))
        assert np.array_equal(parts, expected)
    assert np.array_equal(query(np.asfortranarray(rows)), expected)
    if not isinstance(query, Pairs):
        order = np.random.default_rng(1).permutation(len(rows))
        assert np.array_equal(query(rows[order]), expected)


# Kernels and their twins.


def both(name: str, rows: np.ndarray, *arguments: object, shape: tuple[int, ...] | None) -> None:
    """Call a kernel, in all layouts that it takes, and its twin; they must agree bit by bit."""
    assert kernels._loaded("turn") is not None, "these tests are about the compiled kernels"
    assert WORK.by_numpy > WORK.plenty, "which are not left out while they are not stored"
    layouts = [rows]
    if name in ANY_LAYOUT:
        wide = np.full((2 * rows.shape[0], rows.shape[1] + 3), np.nan)
        wide[::2, 1:-2] = rows
        layouts += [np.asfortranarray(rows), wide[::2, 1:-2]]
        layouts.append(np.asfortranarray(np.vstack([rows, rows]))[: len(rows)])
    expected = np.zeros(shape or (), dtype=np.int64)
    if shape is None:
        expected = getattr(twins, name)(rows, *arguments)
    else:
        getattr(twins, name)(rows, *arguments, expected)
    for layout in layouts:
        answer = np.zeros(shape or (), dtype=np.int64)
        if shape is None:
            answer = getattr(kernels, name)(layout, *arguments)
        else:
            getattr(kernels, name)(layout, *arguments, answer)
        assert np.array_equal(answer, expected, equal_nan=shape is None)


ANY_LAYOUT = [
    "clipped_sum",
    "edge_histogram",
    "farthest",
    "linear_histogram",
    "magnitude_histogram",
    "norm_cells",
    "norms",
    "pooled_histogram",
]


def twin_rows(d: int) -> np.ndarray:
    rng = np.random.default_rng(100 + d)
    return np.concatenate(
        [adversarial_rows(d), rng.normal(size=(300, d)), rng.choice(SPECIAL, (300, d))]
    )


def public(rng: np.random.Generator, d: int) -> np.ndarray:
    """Public numbers: harmless ones, or any finite ones."""
    if rng.random() < 0.5:
        return rng.normal(size=d)
    finite = [value for value in SPECIAL if math.isfinite(value)]
    return rng.choice(finite, d)


def some_edges(norms: np.ndarray) -> list[np.ndarray]:
    """Norms themselves, and their neighbors, where no rounding may be lost; and edges between."""
    some = norms[np.isfinite(norms)][:60]
    with np.errstate(over="ignore"):
        near = [some, np.nextafter(some, np.inf), np.nextafter(some, -np.inf), 0.7 * some]
    return [np.unique(edges) for edges in (*near, np.concatenate(near))]


# Of 24 columns at most, as many rows as make up a line are added at a time; of 640, four.
@pytest.mark.parametrize("d", [1, 3, 20, 33, 200, 640])
@pytest.mark.parametrize("seed", range(6))
def test_twins(d, seed) -> None:
    rng, rows = np.random.default_rng(seed), twin_rows(d)
    center = public(rng, d)
    with np.errstate(all="ignore"):
        missing = np.clip(np.rint(public(rng, d) * 1e6), -CAP, CAP)
        gain = np.clip(np.abs(public(rng, d)), 1e-300, 1e300) * 10.0 ** rng.integers(-5, 6)
    about = public(rng, d) if seed % 2 else None
    lower, upper = np.sort([public(rng, d), public(rng, d)], axis=0)
    radius = float(RADIUS)
    for ends in [(None, None), (lower, upper)]:
        vectors = (rows, center, gain, *ends, about, missing)
        for tilt in ((0.0, 0.0), (2.0**45, 2.0**44), (2.0**80, 2.0**80)):
            both("clipped_sum", *vectors, radius, *tilt, shape=(d,))
        both("clipped_sum", *vectors, radius // 3, 0.0, 0.0, shape=(d,))
        both("norms", rows, center, gain, *ends, about, shape=None)
        for edges in some_edges(twins.norms(rows, center, gain, *ends, about)):
            both("norm_cells", rows, center, gain, edges, *ends, about, shape=None)
        both("farthest", rows, center, gain, *ends, shape=None)
    width = np.abs(public(rng, d)) + TINY
    with np.errstate(over="ignore"):
        both("linear_histogram", rows, center, 1.0 / width, shape=(d, 9))
    shift = int(rng.choice([0, 1, 50, 52, 62, 63]))
    first = rng.integers(-(2**63), 2**63 - 1, d) >> rng.integers(0, 64, d)
    both("magnitude_histogram", rows, center, first, shift, shape=(d, 5))
    edges = np.sort([public(rng, d) for _ in range(6)], axis=0).T
    edges[rng.random(d) < 0.2, -1], edges[rng.random(d) < 0.2, 0] = np.inf, -np.inf
    both("edge_histogram", rows, edges, np.arange(d), shape=(d, 7))


CUTTING = {
    "clipped sum": lambda c, g: ClippedSum(c, 1.0 / g, 1.5),
    "squares": lambda c, g: ClippedSum(g, g, 1.5, about=c),
    "clipped sum inside": lambda c, g: ClippedSum(c, 1.0 / g, 1.5, lower=c - 0.5, upper=c + 0.1),
    "one-sided": lambda c, g: OneSidedSum(c, 1.0 / g, 1.5, np.where(c > 0.0, 1.0, -1.0)),
    "some columns": lambda c, g: Selected(
        ClippedSum(c[:2], 1.0 / g[:2], 1.5), np.array([1, 0]), c.size
    ),
    "norms": lambda c, g: NormHistogram(c, g, np.array([0.5, 1.0, 1.5, 2.0, 4.0])),
    "squares' norms": lambda c, g: NormHistogram(g, g, np.linspace(0.2, 8.0, 40), about=c),
    "farthest": lambda c, g: NormHistogram(c, g, np.array([0.3, 0.6, 0.9]), farthest=True),
    "farthest columns": lambda c, g: FarthestHistogram(c, 4.0 * g, 5),
}


@pytest.mark.parametrize("name", CUTTING)
@pytest.mark.parametrize("d", [2, 33])
def test_queries_that_cut_by_themselves(name, d) -> None:
    """As of rows that are cut before, and not as of rows that are not cut."""
    rng, rows = np.random.default_rng(d), twin_rows(d)
    center, gain = rng.normal(size=d), np.exp(0.3 * rng.normal(size=d))
    query = CUTTING[name](center, gain)
    lower, upper = center - rng.uniform(0.0, 0.4, d), center + rng.uniform(0.0, 0.6, d)
    bounded = Cut(query, lower, upper)
    assert bounded.any_layout
    with np.errstate(over="ignore"):
        singles = rows.astype(np.float32)
    for layout in (rows, np.asfortranarray(rows), singles):
        known = query(twins.cut(layout.astype(np.float64), lower, upper))
        assert np.array_equal(bounded(layout), known)
        assert not np.array_equal(query(layout), known)


@pytest.mark.parametrize("d", [2, 5, 24])
def test_twins_of_narrow_rows_few_of_which_are_long(d) -> None:
    rng = np.random.default_rng(d)
    rows = rng.normal(size=(2000, d))
    for value, part in ((np.nan, 0.002), (np.inf, 0.001), (30.0, 0.003), (1e300, 0.001)):
        rows[rng.random(rows.shape) < part] = value
    gain = np.full(d, RADIUS / (8.0 * np.sqrt(d)))
    vectors = (rows, rng.normal(size=d), gain, None, None, None, np.full(d, 3.0))
    for tilt in ((0.0, 0.0), (RADIUS**2 / 8.0, RADIUS**2 / 16.0)):
        both("clipped_sum", *vectors, float(RADIUS), *tilt, shape=(d,))


@pytest.mark.parametrize("m", [0, 1, 2, 7])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (7, 8), (8, 7), (53, 1), (30, 70), (101, 2)])
def test_twins_of_turned_rows(m, shape) -> None:
    """Small ones one by one, and others in pairs, four columns at a time: the same bits."""
    rng = np.random.default_rng(m)
    rows = np.concatenate([rng.normal(size=(m, shape[0])), rng.choice(SPECIAL, (m, shape[0]))])
    matrix = rng.normal(size=shape) * 10.0 ** rng.integers(-9, 9, shape)
    for some in (rows, rows[1:]):
        both("turn", some, rng.normal(size=shape[0]), matrix, shape=None)
        both("turn", some, public(rng, shape[0]), matrix, shape=None)


@pytest.mark.parametrize("edges", [0, 1, 2, 59])
def test_twins_of_counts_between_edges(edges) -> None:
    """Edges are counted from the middle on: wherever the values are, and where edges are equal."""
    rng = np.random.default_rng(edges)
    rows = np.concatenate([rng.normal(size=(3000, 6)), rng.choice(SPECIAL, (500, 6))])
    rows[:, 1] += 1e6
    rows[:, 2] -= 1e6
    between = np.sort(2.0 * rng.normal(size=(6, edges)), axis=1)
    between[3:, edges // 3 : edges // 2] = 0.0
    between.sort(axis=1)
    both("edge_histogram", rows, between, np.arange(6), shape=(6, edges + 1))
    both("edge_histogram", rows, between, np.array([0, 0, 2, 5, 5, 5]), shape=(6, edges + 1))
    for low in (-0.01, 0.3):  # between which there are few
        between = np.sort(rng.uniform(low, 0.31, (6, edges)), axis=1)
        both("edge_histogram", rows, between, np.array([1, 0, 0, 2, 5, 3]), shape=(6, edges + 1))


def test_twins_of_wide_rows_with_gaps() -> None:
    """Steps of wide rows wait in single precision, in which their squares would be rounded."""
    rng, d = np.random.default_rng(0), 640
    rows = 1e-3 * rng.normal(size=(64, d))
    rows[:, :6] = rng.uniform(1.0, 1.9, size=(64, 6))
    rows[:, 9] = np.nan
    gain, missing = np.full(d, float(RADIUS)), np.zeros(d)
    for four in np.split(rows, 16):
        vectors = (four, np.zeros(d), gain, None, None, None, missing)
        both("clipped_sum", *vectors, float(RADIUS), 0.0, 0.0, shape=(d,))


@pytest.mark.parametrize("cells", [1, 3, 30, 94, 300])
@pytest.mark.parametrize(
    "shape", [(5000, 1), (1300, 5), (700, 63), (700, 64), (300, 130), (300, 2100)]
)
def test_twins_of_histograms_of_few_cells_and_many(shape, cells) -> None:
    rng, d = np.random.default_rng(cells), shape[1]
    rows = rng.normal(size=shape)
    rows[rng.random(shape) < 0.1] = np.nan
    rows[-1, -1], rows[0, 0] = np.inf, -np.inf
    low, width = rng.normal(size=d) - 2.0, np.abs(rng.normal(size=d)) * 6.0 / cells + TINY
    both("linear_histogram", rows, low, 1.0 / width, shape=(d, cells + 2))
    first = rng.integers(2000, 2046, d)
    both("magnitude_histogram", rows, low, first, 51, shape=(d, cells))
    both("pooled_histogram", rows, low, first, 51, shape=(cells,))
    rows[:, 0] *= 10.0 ** rng.uniform(-300.0, 300.0, len(rows))
    both("pooled_histogram", rows, low, np.zeros(d, dtype=np.int64), 52, shape=(2048,))


@settings(max_examples=150)
@given(data=st.data())
def test_twins_of_clipped_sums_and_norms(data) -> None:
    d = data.draw(st.integers(1, 4))
    rows = data.draw(hnp.arrays(np.float64, (data.draw(st.integers(1, 6)), d), elements=VALUES))
    finite = st.one_of(
        st.sampled_from([value for value in SPECIAL if math.isfinite(value)]), st.floats(-9.0, 9.0)
    )
    center = data.draw(hnp.arrays(np.float64, d, elements=finite))
    about = data.draw(st.one_of(st.none(), hnp.arrays(np.float64, d, elements=finite)))
    gain = data.draw(hnp.arrays(np.float64, d, elements=st.floats(1e-300, 1e300)))
    ends = np.sort(data.draw(hnp.arrays(np.float64, (2, d), elements=finite)), axis=0)
    vectors = rows, center, gain, ends[0], ends[1], about, np.zeros(d)
    tilt = data.draw(st.sampled_from([(0.0, 0.0), (2.0**46, 2.0**45), (2.0**46, 2.0**46)]))
    both("clipped_sum", *vectors, float(RADIUS), *tilt, shape=(d,))
    for pair in ((None, None), tuple(ends)):
        both("norms", rows, center, gain, *pair, about, shape=None)
        for edges in some_edges(twins.norms(rows, center, gain, *pair, about)):
            both("norm_cells", rows, center, gain, edges, *pair, about, shape=None)
        both("farthest", rows, center, gain, *pair, shape=None)


@pytest.mark.parametrize("size", [1.0, 1e-160, 1e-170, 1e160])
def test_cells_of_norms(size) -> None:
    """Sums in any order tell the cell, but for rows whose norm is an edge, or rounded to it."""
    rng = np.random.default_rng(1)
    for d in (2, 100, 640):
        rows = size * rng.normal(size=(400, d))
        center, gain = np.zeros(d), np.exp(rng.normal(size=d))
        with np.errstate(over="ignore", under="ignore"):
            norms = kernels.norms(rows, center, gain)
        for edges in (*some_edges(norms), np.array([-np.inf, -size, -0.0, size, 1e300, np.inf])):
            both("norm_cells", rows, center, gain, edges, None, None, None, shape=None)


def test_the_first_of_columns_equally_far() -> None:
    """Wide rows are compared in stretches of columns: none comes before another."""
    rng = np.random.default_rng(2)
    for d in (31, 32, 33, 64, 65, 200, 640):
        rows = rng.integers(-3, 4, size=(300, d)).astype(np.float64)
        both("farthest", rows, np.zeros(d), np.ones(d), None, None, shape=None)
        rows = np.where(rng.random((300, d)) < 2.0 / d, np.inf, 0.0)
        both("farthest", rows, np.zeros(d), np.ones(d), None, None, shape=None)


@pytest.mark.parametrize("d", [1, 4, 17])
def test_twins_of_turned_rows_and_products(d) -> None:
    rng = np.random.default_rng(d)
    for ends in ([-1.0, 2.0], [0.0, 0.0], [-BIG, -0.0]):
        both("cut", twin_rows(d), *np.repeat(ends, d).reshape(2, d), shape=None)
    matrix = np.linalg.qr(rng.normal(size=(d, d)))[0]
    for center in (np.zeros(d), rng.normal(size=d), np.full(d, -BIG)):
        both("turn", twin_rows(d), center, matrix, shape=None)
        both("products", twin_rows(d), center, np.exp(rng.normal(size=d)), shape=None)
