"""Queries: values worked out by hand, memory layouts, and what is refused."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from prolate.errors import InputError
from prolate.noise import FAN, LEVELS
from prolate.queries import (
    GRAM_RADIUS,
    RADIUS,
    BeyondCut,
    ClippedSum,
    Count,
    CountBelow,
    Cut,
    EdgesGrid,
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
    Products,
    ResidualGram,
    Rotated,
    Selected,
    Turned,
    kernels,
    rotate_back,
)
from prolate.queries.clipped_sum import CAP
from prolate.queries.ranks import NodeHistogram, Ranks
from prolate.queries.room import room

NAN, INF = math.nan, math.inf
BIG, TINY = 1.7976931348623157e308, 5e-324


def column(*values: float) -> np.ndarray:
    return np.array(values).reshape(-1, 1)


def test_count() -> None:
    assert Count(2)(np.zeros((5, 2))).tolist() == [5]
    assert Count(2)(np.full((3, 2), NAN)).tolist() == [3]
    assert Count(2)(np.zeros((0, 2))).tolist() == [0]


def test_count_below() -> None:
    rows = np.array([[1.0, -3.0], [2.0, NAN], [NAN, 3.0], [-INF, INF], [-9.0, 2.5]])
    assert CountBelow(np.array([1.0, 2.5]))(rows).tolist() == [2, 2]
    assert CountBelow(np.array([INF, -INF]))(rows).tolist() == [3, 0]
    assert CountBelow(np.array([INF, INF]))(rows).tolist() == [3, 3]


@pytest.mark.parametrize("missing", [NAN, INF, -INF])
def test_values_that_are_there_are_counted_where_their_sum_is_no_number(missing: float) -> None:
    present = CountBelow(np.array([INF, INF]))
    assert present(np.array([[BIG, 1.0], [BIG, -BIG], [BIG, 0.0]])).tolist() == [3, 3]
    rows = np.array([[BIG, 1.0], [missing, -missing], [-BIG, missing], [2.0, BIG]])
    assert present(rows).tolist() == [3, 2]


def test_linear_histogram() -> None:
    grid = LinearGrid(np.array([10.0]), np.array([0.5]), 4)
    rows = column(9.99, 10.0, 10.49, 10.5, 11.99, 12.0, 50.0, -BIG, BIG, NAN, INF, -INF, -TINY)
    assert Histogram(grid)(rows).tolist() == [3, 2, 1, 0, 1, 3]
    assert Histogram(grid).shape == (1, 6)


def test_histogram_between_any_edges() -> None:
    grid = EdgesGrid(np.array([[-1.0, 0.0, 0.0, 7.5], [-INF, 2.0, BIG, INF]]))
    first = [-BIG, -1.0, -TINY, -0.0, 0.0, 7.4, 7.5, BIG, NAN, INF, -INF]
    second = [-BIG, -1.0, 1.9, 2.0, 2.0, 2.1, 1e300, BIG, INF, NAN, -INF]
    found = Histogram(grid)(np.column_stack([first, second])).reshape(2, 5)
    assert found.tolist() == [[1, 2, 0, 3, 2], [0, 3, 4, 1, 0]]


def test_magnitude_histogram() -> None:
    # Octaves from 2**-1 on: the bit pattern of 0.5 is 1022 << 52.
    octaves = MagnitudeGrid(np.array([1.0]), np.array([1022]), 4, 52)
    assert octaves.edges(0).tolist() == [0.0, 1.0, 2.0, 4.0, 8.0]
    rows = column(1.0, 1.9, 0.1, 2.0, -0.5, 3.0, 4.9, 5.0, BIG, -BIG, NAN, INF)
    assert Histogram(octaves)(rows).tolist() == [3, 2, 2, 3]
    # Half octaves are cut at 1.5 * 2**e.
    halves = MagnitudeGrid(np.array([0.0]), np.array([2 * 1023]), 4, 51)
    assert halves.edges(0).tolist() == [0.0, 1.5, 2.0, 3.0, 4.0]
    assert Histogram(halves)(column(1.0, 1.5, -1.99, 2.0, 2.9, 3.0, 0.0, -0.0)).tolist() == [
        3,
        2,
        2,
        1,
    ]


def test_edges_of_the_whole_float_format() -> None:
    """The pattern past the last of all cells is 2**63, which no int64 holds."""
    grid = MagnitudeGrid(np.zeros(1), np.zeros(1, dtype=np.int64), 512, 54)
    edges = grid.edges(0)
    assert edges[0] == 0.0
    assert edges[-1] == INF
    assert np.all(np.diff(edges[np.isfinite(edges)]) > 0)
    assert edges[256] == 2.0
    assert Histogram(grid)(column(BIG, TINY, 0.0, 2.0)).nonzero()[0].tolist() == [0, 256, 511]


def test_histograms_of_columns_that_come_several_times() -> None:
    edges = np.array([[1.0, 2.0], [-INF, 0.0], [1.0, INF], [0.5, 0.5]])
    query = Selected(Histogram(EdgesGrid(edges)), np.array([1, 0, 1, 1]), 2)
    rows = np.array([[0.0, 1.0], [-0.0, 1.3], [TINY, 1.9], [-TINY, 2.0], [NAN, INF], [1.0, 0.5]])
    assert query(rows).reshape(4, 3).tolist() == [[1, 3, 1], [0, 1, 4], [1, 4, 0], [0, 0, 5]]
    assert "4 times, of 2 columns" in query.describe()


def test_norm_histogram() -> None:
    center, gain = np.array([1.0, 0.0]), np.array([1.0, 2.0])
    query = NormHistogram(center, gain, np.array([1.0, 5.0]))
    # norms: 0, 1, 5, 3, the second coordinate alone, no coordinate
    rows = np.array([[1.0, 0.0], [2.0, 0.0], [4.0, 2.0], [-2.0, 0.0], [NAN, 0.25], [INF, -INF]])
    assert query(rows).tolist() == [3, 2, 1]
    squares = NormHistogram(np.array([4.0]), np.array([1.0]), np.array([1.0]), np.array([10.0]))
    assert squares(column(12.0, 8.0, 10.0, 12.2)).tolist() == [3, 1]
    assert query(np.array([[BIG, -BIG]])).tolist() == [0, 0, 1]


def test_norms() -> None:
    query = Norms(CountBelow(np.array([5.0])), np.zeros(2), np.array([1.0, 2.0]))
    assert query(np.array([[3.0, 2.0], [3.1, 2.0], [NAN, 2.5], [BIG, 0.0]])).tolist() == [2]


def test_pairs() -> None:
    root = math.sqrt(0.5)
    query = Pairs(Magnitudes(CountBelow(np.array([2.0 * root]))))
    # Differences 2, -3, NaN; the last row has no partner.
    rows = column(3.0, 1.0, 1.0, 4.0, 5.0, NAN, 7.0)
    assert query(rows).tolist() == [1]
    assert query(column(1.0)).tolist() == [0]
    with pytest.raises(InputError, match="no bounded sensitivity under neighbors='add-remove'"):
        query.sensitivity_squared("add-remove")


def test_cut() -> None:
    query = Cut(CountBelow(np.array([0.0])), np.array([0.0]), np.array([1.0]))
    assert query(column(-5.0, 0.5, 2.0, NAN, INF, -INF)).tolist() == [1]


def test_clipped_sum_within_the_radius() -> None:
    query = ClippedSum(np.array([10.0, 0.0]), np.array([2.0, 1.0]), 4.0)
    step = RADIUS / 4.0
    assert np.allclose(query.unit, [2.0 / step, 1.0 / step], rtol=1e-15)
    rows = np.array([[12.0, -1.0], [10.0, 0.5], [NAN, 1.0], [10.0, -INF]])
    assert query(rows).tolist() == [round(step), round(0.5 * step)]
    # A row at the radius is not touched.
    assert query(np.array([[18.0, 0.0]])).tolist() == [RADIUS, 0]
    assert query(np.array([[10.0, -4.0]])).tolist() == [0, -RADIUS]


def test_clipped_sum_beyond_the_radius() -> None:
    query = ClippedSum(np.zeros(2), np.ones(2), 1.0)
    x, y = query(np.array([[1.2, -1.6]])).tolist()
    assert abs(x - 0.6 * RADIUS) < 2
    assert abs(y + 0.8 * RADIUS) < 2
    # Coordinates are cut to CAP first: what is far longer keeps its signs.
    x, y = query(np.array([[BIG, -BIG]])).tolist()
    assert x == -y
    assert 0.7 * RADIUS < x <= RADIUS * math.sqrt(0.5)
    assert CAP == 2 * RADIUS


def test_clipped_sum_of_bounded_and_of_squared_values() -> None:
    step = RADIUS / 8.0
    cut = ClippedSum(np.zeros(1), np.ones(1), 8.0, lower=np.array([-1.0]), upper=np.array([2.0]))
    assert cut(column(-5.0, 0.5, 7.0, NAN, -INF)).tolist() == [round(1.5 * step)]
    squared = ClippedSum(np.array([1.0]), np.ones(1), 8.0, about=np.array([3.0]))
    # (5 - 3)**2 - 1 = 3; (3 - 3)**2 - 1 = -1; missing: 0
    assert squared(column(5.0)).tolist() == [round(3 * step)]
    assert squared(column(3.0)).tolist() == [round(-step)]
    assert squared(column(NAN)).tolist() == [0]
    assert squared(column(BIG)).tolist() == [RADIUS - 1]
    stands_in = ClippedSum(np.zeros(2), np.ones(2), 8.0, missing=np.array([2.0, 1e300]))
    x, y = stands_in(np.array([[NAN, 1.0]])).tolist()
    assert (x, y) == (round(2 * step), round(step))
    x, y = stands_in(np.array([[NAN, INF]])).tolist()
    assert 0 < x < 0.2 * RADIUS
    assert 0.9 * RADIUS < y < RADIUS


def test_sum_of_what_is_beyond_some_ends() -> None:
    """Values between the ends, and missing ones, add nothing; the rest is a clipped sum."""
    rows = np.array([[0.5, -0.5], [3.0, 2.0], [-7.0, -4.0], [np.nan, np.inf]])
    lower, upper, scale = np.array([-1.0, -2.0]), np.array([1.0, 0.0]), np.array([1.0, 2.0])
    query = ClippedSum(np.zeros(2), scale, 2.0, lower=lower, upper=upper, beyond=True)
    beyond = np.array([[0.0, 0.0], [2.0, 2.0], [-6.0, -2.0], [np.nan, np.nan]])
    assert np.array_equal(query(rows), ClippedSum(np.zeros(2), scale, 2.0)(beyond))
    assert query(rows[:1]).tolist() == [0, 0]
    bounded = Cut(query, np.array([-9.0, -3.0]), np.array([2.0, 9.0]))
    cut = np.array([[0.0, 0.0], [1.0, 2.0], [-6.0, -1.0], [np.nan, np.nan]])
    assert np.array_equal(bounded(rows), ClippedSum(np.zeros(2), scale, 2.0)(cut))
    assert "beyond some ends" in query.describe()


def test_one_sided_sum() -> None:
    """Values on the other side count as the center; the rest is a clipped sum."""
    rows = np.array([[0.5, -0.5], [3.0, 2.0], [-7.0, -4.0], [np.nan, np.inf]])
    center, scale, side = np.array([0.0, 1.0]), np.array([1.0, 2.0]), np.array([1.0, -1.0])
    query = OneSidedSum(center, scale, 1.0, side)
    cut = np.array([[0.5, -0.5], [3.0, 1.0], [0.0, -4.0], [np.nan, np.inf]])
    assert np.array_equal(query(rows), ClippedSum(center, scale, 1.0)(cut))
    assert np.all(side * query(rows) > 0)
    # Rows that are not opposite each other are no farther apart than so, and some are as far.
    assert query.sensitivity_squared("replace") == 2 * RADIUS**2
    assert query.sensitivity_squared("add-remove") == RADIUS**2
    far = query(np.array([[9.0, 1.0]])) - query(np.array([[0.0, -9.0]]))
    assert np.linalg.norm(far) == pytest.approx(np.sqrt(2) * RADIUS, rel=1e-6)


def test_mapped_queries() -> None:
    assert Magnitudes(CountBelow(np.array([1.0])))(column(-3.0, -1.0, 0.5, NAN)).tolist() == [2]
    norms = Norms(CountBelow(np.array([5.0])), np.zeros(2), np.ones(2))
    assert norms(np.array([[3.0, 4.0], [3.0, 4.1], [NAN, 5.0]])).tolist() == [2]
    # H (1, 1) / sqrt 2 = (sqrt 2, 0); the sign of the second coordinate is flipped.
    rotated = Rotated(CountBelow(np.array([1.0, 1.0])), np.array([1.0, -1.0]), np.zeros(2))
    assert rotated(np.array([[1.0, -1.0], [NAN, 0.5]])).tolist() == [1, 2]
    signs = np.array([1.0, -1.0, -1.0, 1.0])
    inner = ClippedSum(np.zeros(4), np.ones(4), 8.0)
    row = np.array([[1.0, -2.0, 0.25]])
    turned = Rotated(inner, signs, np.zeros(3))(row) * inner.unit
    assert np.allclose(rotate_back(turned, signs, 3), row[0], atol=1e-5)
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    turned = Turned(ClippedSum(np.zeros(2), np.ones(2), 8.0), np.array([1.0, 0.0]), swap)
    assert turned(np.array([[2.0, 3.0], [NAN, 0.0]])).tolist() == [3 * RADIUS // 8, RADIUS // 8]
    products = Products(ClippedSum(np.zeros(3), np.ones(3), 64.0), np.zeros(2), np.ones(2))
    step = RADIUS / 64.0
    expected = [4 * step, round(-6 * math.sqrt(2) * step), 9 * step]
    assert products(np.array([[2.0, -3.0]])).tolist() == expected


def test_gram_matrix() -> None:
    query = Gram(np.array([1.0, 0.0]), np.array([1.0, 2.0]), 4.0, constant=3.0)
    rows = np.array([[3.0, -2.0], [NAN, 4.0]])  # u = (3, 2, -1) and (3, 0, 2); |u| <= 5
    values = query(rows).astype(float)
    assert np.allclose(query.matrix(values), [[18, 6, 3], [6, 4, -2], [3, -2, 5]], atol=0.01)
    step = (5.0 / GRAM_RADIUS) ** 2
    assert np.allclose(query.noise(35.0), (7.0 * step, 5.0 * step))
    # Only the columns are clipped, and together.
    long = query.matrix(query(np.array([[1e300, 0.0]])).astype(float))
    assert np.allclose(long, [[9, 12, 0], [12, 16, 0], [0, 0, 0]], atol=0.01)
    some = Gram(np.zeros(1), np.ones(1), 4.0, index=np.array([1]), width=2)
    assert some.matrix(some(rows).astype(float)).tolist() == [[16.0 - 4.0 + 8.0]]


def test_gram_matrix_with_a_target() -> None:
    query = Gram(np.zeros(3), np.ones(3), 4.0, constant=2.0, target=4.0)
    apart = query.matrix(query(np.array([[-3.0, 0.0, 900.0]])).astype(float))
    assert np.allclose(apart, np.outer([2, -3, 0, 4], [2, -3, 0, 4]), atol=0.02)
    both = query.matrix(query(np.array([[0.0, -12.0, -1.0]])).astype(float))
    assert np.allclose(both, np.outer([2, 0, -4, -1], [2, 0, -4, -1]), atol=0.02)


def test_gram_matrix_of_residuals() -> None:
    line = {"slopes": np.array([2.0, -1.0]), "value": 0.5}
    query = ResidualGram(np.zeros(3), np.ones(3), 2.0, constant=1.0, target=4.0, **line)
    rows = np.array([[1.0, -1.0, 5.0], [30.0, 0.0, 6.0], [1.0, 0.0, NAN], [0.0, 1.0, INF]])
    # 5 - 2 - 1 - 0.5 = 1.5; the second is clipped to (2, 0) first: 6 - 4 - 0.5 = 1.5.
    seen = [query.matrix(query(row[np.newaxis]).astype(float)) for row in rows]
    for found, u in zip(seen, ([1, -1, 1.5], [2, 0, 1.5], [1, 0, 0], [0, 1, 0]), strict=True):
        assert np.allclose(found, np.outer([1, *u], [1, *u]), atol=0.01)
    plain = Gram(np.zeros(3), np.ones(3), 2.0, constant=1.0, target=4.0)
    none = ResidualGram(
        np.zeros(3), np.ones(3), 2.0, constant=1.0, target=4.0, slopes=np.zeros(2), value=0.0
    )
    assert np.array_equal(plain(rows), none(rows))


def test_what_residuals_are_beyond_their_cut() -> None:
    line = {"slopes": np.array([2.0, -1.0]), "value": 0.5}
    gram = ResidualGram(np.zeros(3), np.ones(3), 2.0, constant=1.0, target=1.0, **line)
    query = BeyondCut(gram, 0.75)
    rows = np.array([[1, -1, 5], [1, -1, 4], [1, -1, -90], [30, 0, 5.5], [1, 0, NAN], [0, 1, INF]])
    # 5 - 2 - 1 - .5 = 1.5, .5 beyond the cut; then .5, within; -93.5; 5.5 - 4 - .5 = 1.
    wanted = [0.5, 0.5, -0.5], [0, 0, 0], [-0.75, -0.75, 0.75], [0, 0, 0], [0, 0, 0], [0, 0, 0]
    for row, each in zip(rows, wanted, strict=True):
        found = query.products(query(row[np.newaxis]).astype(float))
        assert np.allclose(found, each, atol=0.005)
    whole = BeyondCut(replace(gram, weighted=True), 0.75)
    # Shortened to a quarter: (24 - .5) / 4 - 4 = 1.875.
    found = whole.products(whole(np.array([[8.0, 0.0, 24.0]])).astype(float))
    assert np.allclose(found, [0.75 / 4, 1.5, 0.0], atol=0.005)
    assert "beyond the target's cut" in query.describe()
    for width in (0.0, -1.0, 1e-6, 9.0, NAN):
        with pytest.raises(InputError, match="width must be"):
            BeyondCut(gram, width)


def test_gram_matrix_of_what_rows_are_in_a_layer() -> None:
    """It is what clipping to the outer radius leaves, less what clipping to the inner one does."""
    gram = Gram(np.zeros(2), np.ones(2), 4.0)
    query = Layer(gram, 3.0, 5.0)
    lengths = {2.0: 0.0, 3.0: 0.0, 4.0: 16.0 - 9.0, 5.0: 16.0, 50.0: 16.0, 1e150: 16.0}
    for length, square in lengths.items():
        found = gram.matrix(query(length * np.array([[0.6, -0.8]])).astype(float))
        assert np.allclose(found, square * np.outer([0.6, -0.8], [0.6, -0.8]), atol=0.01)
    rows = np.random.default_rng(0).standard_t(3, size=(500, 2)) * 3.0
    clipped = [Gram(np.zeros(2), np.ones(2), radius) for radius in (3.0, 5.0)]
    inner, outer = (each.matrix(each(rows).astype(float)) for each in clipped)
    assert np.allclose(gram.matrix(query(rows).astype(float)), outer - inner, atol=0.01 * 500)
    beside = gram.matrix(query(np.array([[NAN, 4.0]])).astype(float))
    assert np.allclose(beside, [[0.0, 0.0], [0.0, 7.0]], atol=0.01)
    assert "between the lengths 3 and 5" in query.describe()
    for inner_length, outer_length in ((0.0, 1.0), (2.0, 2.0), (1.0, INF), (NAN, 1.0)):
        with pytest.raises(InputError, match="inner must be"):
            Layer(gram, inner_length, outer_length)


def test_gram_matrix_of_rows_shortened_as_a_whole() -> None:
    line = {"slopes": np.array([2.0, -1.0]), "value": 0.5}
    query = ResidualGram(
        np.zeros(3), np.ones(3), 2.0, constant=1.0, target=4.0, weighted=True, **line
    )
    rows = np.array([[1.0, -1.0, 5.0], [8.0, 0.0, 18.5], [8.0, 0.0, -90.0], [8.0, 0.0, NAN]])
    # The others are shortened to a quarter: (18.5 - 0.5) / 4 - 4 = 0.5; then -26.6, cut to -4.
    seen = [query.matrix(query(row[np.newaxis]).astype(float)) for row in rows]
    wanted = [1, 1, -1, 1.5], [0.25, 2, 0, 0.5], [0.25, 2, 0, -4], [0.25, 2, 0, 0]
    for found, u in zip(seen, wanted, strict=True):
        assert np.allclose(found, np.outer(u, u), atol=0.02)
    assert "as a whole" in query.describe()


def test_node_histogram() -> None:
    width = np.array([1.0])
    root = NodeHistogram(np.zeros(1), width, np.array([0]), [(0, 0)])
    rows = column(-5.0, 0.0, 1.0, 2.0**30, 2.0**40 - 1, BIG, NAN, INF)
    counts = root(rows).tolist()
    assert sum(counts) == 6
    assert (counts[0], counts[1], counts[-1]) == (3, 1, 2)
    leaves = NodeHistogram(np.zeros(1), width, np.array([0, 0]), [(LEVELS - 1, 0), (1, 1)])
    counts = leaves(rows).reshape(2, FAN)
    assert counts[0, :3].tolist() == [2, 1, 0]
    assert counts[1].sum() == 1


def test_rank_distance() -> None:
    """How many rows lie between a cell and the wanted rank, by hand: the median of four rows."""
    ranks = Ranks(np.zeros(1), np.ones(1), 0.5)
    below, upto = np.array([0, 1, 2, 3, 0]), np.array([1, 2, 3, 4, 4])
    assert ranks.distance(below, upto, 4, "replace").tolist() == [1, 0, 0, 1, 0]
    # The utility changes by at most 1/2 under add-remove, so distances count twice.
    assert ranks.distance(below, upto, 4, "add-remove").tolist() == [2, 0, 0, 2, 0]
    assert ranks.sensitivity("replace") == 1.0
    assert Ranks(np.zeros(1), np.ones(1), 0.9).sensitivity("add-remove") == pytest.approx(0.9, 1e-5)


QUERIES = [
    Count(3),
    CountBelow(np.array([0.0, 1.0, -1.0])),
    Histogram(LinearGrid(np.full(3, -2.0), np.full(3, 0.5), 8)),
    Histogram(EdgesGrid(np.array([[-1.0, 0.1, 2.0], [-0.5, 0.0, 0.5], [0.0, 0.0, 1e-40]]))),
    Histogram(MagnitudeGrid(np.zeros(3), np.full(3, 1020), 8, 52)),
    Selected(Histogram(EdgesGrid(np.array([[-1.0, 1.0], [0.0, 0.1]]))), np.array([2, 2]), 3),
    NormHistogram(np.zeros(3), np.ones(3), np.array([1.0, 2.0, 3.0])),
    ClippedSum(np.zeros(3), np.ones(3), 2.0),
    ClippedSum(np.zeros(3), np.ones(3), 2.0, lower=-np.ones(3), upper=np.ones(3), beyond=True),
    OneSidedSum(np.zeros(3), np.ones(3), 2.0, np.array([1.0, -1.0, 1.0])),
    Cut(ClippedSum(np.zeros(3), np.ones(3), 2.0), np.full(3, -1.0), np.full(3, 1.0)),
    Pairs(CountBelow(np.zeros(3))),
]


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
def test_layouts_and_types(query) -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(1000, 3)).astype(np.float32)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    expected = query(rows.astype(np.float64))
    assert expected.dtype == np.int64
    assert expected.shape == (query.size,)
    wide = np.zeros((2000, 9), dtype=np.float32)
    wide[::2, ::3] = rows
    locked = rows.astype(np.float64)
    locked.flags.writeable = False
    for block in (
        rows,
        np.asfortranarray(rows),
        wide[::2, ::3],
        rows[::-1][::-1],
        np.ascontiguousarray(rows[:, ::-1])[:, ::-1],
        rows.astype(">f8"),
        rows.astype(np.longdouble),
        locked,
    ):
        before = block.copy()
        assert np.array_equal(query(block), expected)
        assert np.array_equal(block, before, equal_nan=True)
    whole = rng.integers(-3, 4, size=(50, 3))
    for dtype in (np.int8, np.int64, np.float16):
        assert np.array_equal(query(whole.astype(dtype)), query(whole.astype(np.float64)))
    assert np.array_equal(query(whole > 0), query((whole > 0).astype(np.float64)))
    assert np.array_equal(query(rows[:0]), np.zeros(query.size))


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
def test_a_receipt_line_says_what_was_asked(query) -> None:
    assert len(query.describe()) > 10
    assert "\n" not in query.describe()


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
def test_a_block_of_other_columns_is_refused(query) -> None:
    """Compiled code would read past the end of a row, into another one."""
    for shape in ((4, 2), (4, 4), (3,), (2, 2, 3)):
        with pytest.raises(InputError, match="made for rows of 3 columns"):
            query(np.zeros(shape))


def clipped(**changes: object) -> ClippedSum:
    arguments = {"center": np.zeros(2), "scale": np.ones(2), "radius": 1.0, **changes}
    return ClippedSum(**arguments)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: clipped(scale=np.array([1.0, 0.0])), "scale and radius must be positive"),
        (lambda: clipped(scale=np.array([1.0, -1.0])), "scale and radius must be positive"),
        (lambda: clipped(scale=np.array([1.0, INF])), "scale and radius must be positive"),
        (lambda: clipped(scale=np.array([1.0, 1e-320])), "scale and radius must be positive"),
        (lambda: clipped(radius=0.0), "scale and radius must be positive"),
        (lambda: clipped(radius=NAN), "scale and radius must be positive"),
        (lambda: clipped(scale=np.array([1.0, NAN])), "scale must be numbers, not NaN"),
        (lambda: clipped(center=np.array([0.0, NAN])), "center must be numbers, not NaN"),
        (lambda: clipped(center=np.array([0.0, INF])), "center must be finite"),
        (lambda: clipped(lower=np.array([0.0, NAN])), "lower must be numbers, not NaN"),
        (lambda: clipped(upper=np.array([0.0, NAN])), "upper must be numbers, not NaN"),
        (lambda: clipped(about=np.array([0.0, NAN])), "about must be numbers, not NaN"),
        (lambda: clipped(missing=np.array([0.0, NAN])), "missing must be numbers, not NaN"),
        (lambda: clipped(scale=np.ones(3)), "scale must be an array of shape"),
        (lambda: clipped(lower=np.zeros(1)), "lower must be an array of shape"),
        (lambda: clipped(missing=np.zeros(3)), "missing must be an array of shape"),
        (lambda: clipped(beyond=True), "What is beyond bounds needs both of them"),
        (
            lambda: clipped(center=np.ones(2), lower=np.zeros(2), upper=np.ones(2), beyond=True),
            "and 0 as the center",
        ),
        (lambda: OneSidedSum(np.zeros(2), np.ones(2), 1.0, np.ones(3)), "side must be an array"),
        (lambda: OneSidedSum(np.zeros(2), np.ones(2), 1.0, np.zeros(2)), "side must be 1 or -1"),
        (lambda: NormHistogram(np.zeros(2), np.ones(1), np.ones(3)), "gain must be an array"),
        (lambda: NormHistogram(np.zeros(1), np.array([NAN]), np.ones(3)), "gain must be numbers"),
        (lambda: Norms(CountBelow(np.zeros(1)), np.zeros(2), np.ones(1)), "gain must be an array"),
        (lambda: Norms(CountBelow(np.zeros(2)), np.zeros(2), np.ones(2)), "for one column"),
        (lambda: LinearGrid(np.zeros(2), np.ones(1), 3), "width must be an array"),
        (lambda: EdgesGrid(np.array([[0.0, 1.0], [1.0, 0.0]])), "whose rows rise"),
        (lambda: EdgesGrid(np.array([[0.0, NAN]])), "whose rows rise"),
        (lambda: EdgesGrid(np.arange(3.0)), "whose rows rise"),
        (lambda: MagnitudeGrid(np.zeros(2), np.zeros(1, dtype=int), 3, 52), "first must be an"),
        (lambda: MagnitudeGrid(np.zeros(1), np.zeros(1, dtype=int), 3, 64), "shift must be"),
        (
            lambda: Turned(Count(2), np.zeros(2), np.zeros((2, 3))),
            "made for 2 columns and the query's 2",
        ),
        (lambda: Gram(np.zeros(2), np.ones(2), 0.0), "radius positive"),
        (lambda: Gram(np.zeros(2), np.ones(2), 1.0, constant=INF), "must be finite"),
        (lambda: Gram(np.zeros(2), np.zeros(2), 1.0), "must be positive"),
        (lambda: Gram(np.zeros(9), np.ones(9), 1.0, target=6000.0), "radius is too small"),
        (lambda: Gram(np.zeros(2), np.ones(2), 1.0, index=np.array([0, 1])), "go together"),
        (
            lambda: Gram(np.zeros(1), np.ones(1), 1.0, index=np.array([1]), width=1),
            "must point into the 1 columns",
        ),
        (lambda: Products(Count(2), np.zeros(2), np.ones(2)), "must be made for 3 columns"),
        (lambda: Rotated(Count(3), np.ones(3), np.zeros(3)), "power of two"),
        (lambda: Rotated(Count(2), np.ones(4), np.zeros(3)), "must be made for 4 columns"),
        (lambda: Ranks(np.zeros(1), np.zeros(1), 0.5), "low < high"),
        (lambda: Ranks(np.array([-BIG]), np.array([BIG]), 0.5), "finite ends"),
    ],
)
def test_what_a_query_cannot_be_made_of(make, message) -> None:
    """Wrong shapes and NaN would leave compiled code without a bounded sensitivity."""
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)


def test_the_kernels_work_without_numba(monkeypatch) -> None:
    rows = np.random.default_rng(2).normal(size=(500, 3))
    expected = [query(rows) for query in QUERIES]
    monkeypatch.setattr(kernels, "_loaded", lambda name: None)
    for query, answer in zip(QUERIES, expected, strict=True):
        assert np.array_equal(query(rows), answer)


def test_a_gram_matrix_clips_rows_along_themselves() -> None:
    """Cut at two radii first, both values would be the same."""
    query = Gram(np.zeros(2), np.ones(2), 0.5)
    matrix = query.matrix(query(np.array([[40.0, 20.0]])).astype(np.float64))
    assert matrix == pytest.approx(np.array([[0.2, 0.1], [0.1, 0.05]]), rel=1e-3)


def test_each_thread_has_room_of_its_own() -> None:
    mine = room("test", (4, 5))
    assert np.shares_memory(mine, room("test", (2, 3), np.float32, "F"))
    assert not np.shares_memory(mine, room("other", (4, 5)))
    with ThreadPoolExecutor(1) as pool:
        theirs = pool.submit(room, "test", (4, 5)).result()
    assert not np.shares_memory(mine, theirs)
    many = room("test", (1 << 10, 1 << 10))  # not kept
    assert not np.shares_memory(many, room("test", (1 << 10, 1 << 10)))
