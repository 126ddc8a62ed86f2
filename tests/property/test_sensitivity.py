"""No pair of neighbors moves a query by more than its stated sensitivity.

For sums over rows, the distance between neighbors is that of the vectors of the rows that
differ, so single rows are tried against each other, and against nothing; whole data sets
are tried as well. Rows come from hypothesis and from a list of hard ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from prolate.queries import (
    GRAM_RADIUS,
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
    Products,
    Query,
    ResidualGram,
    Rotated,
    Selected,
    Together,
    Turned,
    WholeRows,
)

D = 3
HARD = [0.0, -0.0, 1.0, -1.0, 0.5, 1e308, -1e308, 1.7976931348623157e308, 5e-324, -5e-324]
HARD += [2.2e-308, 1e16, -1e16, np.nan, np.inf, -np.inf, 1e154, 1e-154, 3.0, 2.9999999999999996]
C = np.array([0.0, 1.0, -1e6])
S = np.array([1.0, 0.1, 1e3])
rng = np.random.default_rng(0)
ORTHOGONAL = np.linalg.qr(rng.normal(size=(D, D)))[0]


def wide(d: int, radius: float, **options) -> ClippedSum:
    return ClippedSum(np.zeros(d), np.ones(d), radius, **options)


FEATURES = Gram(C[:2], S[:2], 1.5, constant=0.5, index=np.array([0, 1]), width=D)

QUERIES = {
    "count": Count(D),
    "below": CountBelow(C),
    "linear": Histogram(LinearGrid(C - 1, S / 4, 8)),
    "edges": Histogram(EdgesGrid(C[:, np.newaxis] + S[:, np.newaxis] * [-2.0, -1.0, 0.5, 3.0])),
    "magnitude": Histogram(MagnitudeGrid(C, np.zeros(D, dtype=np.int64), 512, 54)),
    "half octaves": Histogram(MagnitudeGrid(C, np.full(D, 2000), 160, 51)),
    "magnitude and missing": Histogram(
        MagnitudeGrid(C, np.zeros(D, dtype=np.int64), 512, 54), missing=True
    ),
    "linear and missing, cut": Cut(
        Histogram(LinearGrid(C - 1, S / 4, 8), missing=True), C - 1, C + 1
    ),
    "count of whole rows": WholeRows(Count(D)),
    "sum of whole rows": WholeRows(ClippedSum(C, S, 1.5, missing=np.array([1e9, -2.0, 0.0]))),
    "gram of whole rows": WholeRows(Gram(C, S, 1.5, constant=0.8)),
    "histogram of whole rows": WholeRows(Histogram(LinearGrid(C - 1, S / 4, 8))),
    "edges, a column twice": Selected(
        Histogram(EdgesGrid(np.array([[-1.0, 0.5, 3.0], [0.0, 1.0, 2.0], [-2.0, 0.0, 1.0]]))),
        np.array([0, 0, 2]),
        D,
    ),
    "norms": NormHistogram(C, 1 / S, np.array([0.5, 1.0, 2.0])),
    "farthest": NormHistogram(C, 1 / S, np.array([0.5, 1.0, 2.0]), farthest=True),
    "farthest columns": FarthestHistogram(C, 1 / S, 3),
    "squares' norms": NormHistogram(S**2, 1 / S**2, np.array([0.5, 1.0]), about=C),
    "sum": ClippedSum(C, S, 1.5),
    "tiny radius": ClippedSum(C, S, 1e-100),
    "huge radius": ClippedSum(C, S, 1e100),
    "squares": ClippedSum(S**2, S**2, 1.5, about=C),
    "squares inside": ClippedSum(S**2, S**2, 1.5, lower=C - S, upper=C + S, about=C),
    "inside": ClippedSum(C, S, 1.5, lower=C - S, upper=C + S),
    "beyond some ends": ClippedSum(0.0 * C, S, 1.5, lower=C - S, upper=C + S, beyond=True),
    "cut beyond some ends": Cut(
        ClippedSum(0.0 * C, S, 1.5, lower=C - S, upper=C + S, beyond=True), C - 2, C + 2
    ),
    "missing": ClippedSum(C, S, 1.5, missing=np.array([1e9, -2.0, 0.0])),
    "tilted": ClippedSum(C, S, 1.5, tilt=(0.6, 1.1)),
    "tilted far": ClippedSum(C, S, 1.5, tilt=(0.0, 1500.0)),
    "tilted, whose squares are no floats": ClippedSum(
        C, S, 8e153, tilt=(np.float64(4e153), np.float64(1.6e154))
    ),
    "one-sided": OneSidedSum(C, S, 1.5, np.array([1.0, -1.0, 1.0])),
    "one-sided far": OneSidedSum(C, S, 1e-100, -np.ones(D)),
    "cut": Cut(ClippedSum(C, S, 1.5), C - 1, C + 1),
    "cut twice": Cut(ClippedSum(C, S, 1.5, lower=C - S, upper=C + S), C - 1, C + 0.5),
    "cut to one side": Cut(OneSidedSum(C, S, 1.5, np.array([1.0, -1.0, 1.0])), C - 1, C + 1),
    "cut norms": Cut(NormHistogram(C, 1 / S, np.array([0.5, 1.0, 2.0])), C - 1, C + 1),
    "cut farthest columns": Cut(FarthestHistogram(C, 1 / S, 3), C - 1, C + 1),
    "turned": Turned(wide(D, 1.5), C, ORTHOGONAL),
    "a layer": Layer(Gram(np.zeros(D), np.ones(D), 1.2), 0.9, 1.5),
    "products": Products(wide(D * (D + 1) // 2, 2.0), C, S),
    "gram": Gram(C, S, 1.5),
    "gram with a constant": Gram(C, S, 1.5, constant=0.8),
    "gram with a target": Gram(C, S, 1.5, constant=0.4, target=1.1),
    "gram of residuals": ResidualGram(
        C, S, 1.5, constant=0.4, target=1.1, slopes=np.array([0.7, -1e3]), value=0.2
    ),
    "gram of shortened rows": ResidualGram(
        C, S, 1.5, constant=0.4, target=1.1, slopes=np.array([0.7, -3.0]), value=0.2, weighted=True
    ),
    "beyond the cut": BeyondCut(
        ResidualGram(C, S, 1.5, constant=0.4, target=0.3, slopes=np.array([0.7, -1e3]), value=0.2),
        0.8,
    ),
    "beyond the cut of shortened rows": BeyondCut(
        ResidualGram(C, S, 1.5, target=1.1, slopes=np.array([0.7, -3.0]), value=0.2, weighted=True),
        1.1,
    ),
    "gram of some columns": Gram(
        C[:2], S[:2], 2.0, index=np.array([2, 0]), width=D, lower=C[:2] - 1, upper=C[:2] + 3
    ),
    "cross": Cross(FEATURES, 2, 1.0, 2.0),
    "cross with its gram": Cross(FEATURES, 2, gram=True),
    "cross of a residual": Cross(FEATURES, 2, -1.0, 0.5, coef=np.array([1.0, -2.0, 1e199])),
    "along": Along(FEATURES, np.array([0.6, -0.64, 0.48])),
    "of one column": Selected(ClippedSum(C[:1], S[:1], 1.5), np.array([2]), D),
    "together": Together((Gram(C, S, 1.5), Count(D), ClippedSum(C, S, 1.5))),
    "rotated": Rotated(wide(4, 1.5), np.array([1.0, -1.0, -1.0, 1.0]), C),
    "magnitudes": Magnitudes(CountBelow(np.abs(C))),
    "norm of rows": Norms(CountBelow(np.array([1.0])), C, 1 / S),
}


def distance_squared(first: np.ndarray, second: np.ndarray) -> int:
    """Exact, in Python's integers."""
    return sum((int(a) - int(b)) ** 2 for a, b in zip(first, second, strict=True))


def check(query: Query, row: np.ndarray, other: np.ndarray) -> None:
    """Raise unless both neighbor relations hold for two rows."""
    here, there = query(row[np.newaxis]), query(other[np.newaxis])
    nothing = np.zeros(query.size, dtype=np.int64)
    assert distance_squared(here, there) <= query.sensitivity_squared("replace")
    assert distance_squared(here, nothing) <= query.sensitivity_squared("add-remove")


def hard_rows() -> list[np.ndarray]:
    rows = [np.array(values) for values in itertools.product(HARD[:12], repeat=D)][::7]
    rows += [np.full(D, value) for value in HARD]
    rows += [C + S * 1.5 * direction for direction in np.vstack([np.eye(D), -np.eye(D)])]
    rows += [C + S * 1.5 * u / np.linalg.norm(u) for u in rng.normal(size=(60, D))]
    rows += [C + S * t * u for t in (1e-9, 0.7, 1.1, 40.0) for u in rng.normal(size=(10, D))]
    return rows


@pytest.mark.parametrize("name", QUERIES)
def test_hard_rows_stay_within_the_sensitivity(name):
    query, rows = QUERIES[name], hard_rows()
    vectors = [query(row[np.newaxis]).astype(np.float64) for row in rows]
    for row in rows:
        check(query, row, row)
    # The farthest pairs, found in floating point, are checked exactly.
    table = np.array(vectors)
    squares = np.sum(table**2, axis=1)
    gaps = squares[:, np.newaxis] + squares - 2.0 * table @ table.T
    for place in np.argsort(gaps, axis=None)[-50:]:
        i, j = np.unravel_index(place, gaps.shape)
        check(query, rows[int(i)], rows[int(j)])


@pytest.mark.parametrize("name", QUERIES)
@given(data=st.data())
def test_any_two_rows_stay_within_the_sensitivity(name, data):
    values = st.one_of(st.floats(width=64), st.sampled_from(HARD), st.floats(-3, 3))
    row = data.draw(arrays(np.float64, D, elements=values))
    other = data.draw(arrays(np.float64, D, elements=values))
    check(QUERIES[name], row, other)


def alone_and_among_others(row: np.ndarray) -> Iterator[np.ndarray]:
    """Yield a row by itself, and at every place among rows of zeros that are added with it."""
    yield row
    for place in range(5):
        block = np.zeros((5, row.shape[1]))
        block[place] = row
        yield block


@pytest.mark.parametrize("d", [1, 2, 31, 33, 64, 200, 1500])
@pytest.mark.parametrize("tilt", [None, (0.9, 1.0), (0.0, 30.0)])
def test_wide_rows_are_clipped_however_long(d, tilt):
    query = wide(d, 1.0, tilt=tilt)
    for size in (1e-3, 0.99 / np.sqrt(d), 1 / np.sqrt(d), 1.0, 7.0, 1e3, 1e300):
        for rows in (np.full((1, d), size), size * rng.normal(size=(1, d))):
            for block in alone_and_among_others(rows):
                length = sum(int(v) ** 2 for v in query(block))
                assert length <= RADIUS**2


@pytest.mark.parametrize("d", [1, 2, 31, 33, 64, 200])
@pytest.mark.parametrize("constant", [0.0, 0.4, 100.0])
def test_wide_rows_of_a_gram_matrix_are_clipped_however_long(d, constant):
    query = Gram(np.zeros(d), np.ones(d), 1.0, constant=constant)
    for size in (1e-3, 0.99 / np.sqrt(d), 1 / np.sqrt(d), 1.0, 7.0, 1e3, 1e300):
        for rows in (np.full((1, d), size), size * rng.normal(size=(1, d))):
            values = query(rows)
            assert sum(int(v) ** 2 for v in values) <= query.sensitivity_squared("add-remove")
            trace = np.trace(query.matrix(values.astype(float)))
            assert trace <= 1.0 + constant**2 + 1e-12, "a row is longer than the radius"
            assert values.max() <= 5 * GRAM_RADIUS**2
            apart = Gram(np.zeros(d), np.ones(d), 1.0, constant=constant, target=0.7)
            values = apart(rows)
            assert sum(int(v) ** 2 for v in values) <= apart.sensitivity_squared("add-remove")


def test_sensitivities_are_reached():
    """Not only bounds: some neighbors are as far apart as stated, or nearly."""
    one, other = np.zeros((1, D)), np.array([[9.0, 9.0, 9.0]])
    histogram = Histogram(LinearGrid(np.zeros(D), np.ones(D), 8))
    gap = distance_squared(histogram(one), histogram(other))
    assert gap == histogram.sensitivity_squared("replace") == 2 * D
    total = wide(D, 1.0)
    gap = distance_squared(total(np.array([[5.0, 0, 0]])), total(np.array([[-5.0, 0, 0]])))
    assert gap >= 0.999999 * total.sensitivity_squared("replace")
    below = CountBelow(np.zeros(D))
    assert distance_squared(below(one), below(other)) == below.sensitivity_squared("replace")
    gram = Gram(np.zeros(D), np.ones(D), 1.0)
    gap = distance_squared(gram(np.array([[5.0, 0, 0]])), gram(np.array([[0, 5.0, 0]])))
    assert gap >= 0.999 * gram.sensitivity_squared("replace")
    features = Gram(np.zeros(2), np.ones(2), 1.0, index=np.arange(2), width=D)
    cross = Cross(features, 2)
    gap = distance_squared(cross(np.array([[5.0, 0, 5.0]])), cross(np.array([[5.0, 0, -5.0]])))
    assert gap >= 0.999 * cross.sensitivity_squared("replace")
    both = Cross(features, 2, gram=True)
    # An angle whose cosine is 1/2 is the worst of all.
    tip, turned = np.array([[1.0, 0, 1.0]]), np.array([[0.5, np.sqrt(0.75), -1.0]])
    assert distance_squared(both(tip), both(turned)) >= 0.99 * both.sensitivity_squared("replace")
    along = Along(features, np.array([1.0, 0.0]))
    gap = distance_squared(along(np.array([[5.0, 0, 0]])), along(np.array([[0, 5.0, 0]])))
    assert gap >= 0.999 * along.sensitivity_squared("replace")
    tilted = wide(D, 1.0, tilt=(0.2, 0.5))
    gap = distance_squared(tilted(np.array([[5.0, 0, 0]])), tilted(np.array([[-5.0, 0, 0]])))
    assert gap >= 0.999999 * tilted.sensitivity_squared("replace")


@pytest.mark.parametrize(
    "name", ["linear", "edges", "sum", "norms", "edges, a column twice", "below", "gram"]
)
def test_the_same_check_catches_a_sensitivity_that_is_halved(name):
    query = QUERIES[name]

    class Halved(type(query)):
        def sensitivity_squared(self, neighbors):
            return super().sensitivity_squared(neighbors) // 4

    planted = object.__new__(Halved)
    planted.__dict__.update(query.__dict__)
    with pytest.raises(AssertionError):
        _run(planted)


def _run(query: Query) -> None:
    for row, other in itertools.product(hard_rows()[::3], repeat=2):
        check(query, row, other)


@pytest.mark.parametrize("neighbors", ["replace"])
def test_pairs_move_by_no_more_than_their_query(neighbors):
    query = Pairs(Histogram(LinearGrid(np.full(D, -4.0), np.ones(D), 8)))
    rows = rng.normal(size=(21, D))
    for place in range(21):
        for value in HARD:
            moved = rows.copy()
            moved[place] = value
            gap = distance_squared(query(rows), query(moved))
            assert gap <= query.sensitivity_squared(neighbors)


@pytest.mark.parametrize("name", QUERIES)
def test_vectors_of_blocks_add_up_and_do_not_depend_on_layout(name):
    query = QUERIES[name]
    rows = np.vstack([rng.normal(size=(40, D)) * S + C, np.array(hard_rows()[::5])])
    whole = query(rows)
    assert np.array_equal(query(rows[:7]) + query(rows[7:]), whole)
    assert np.array_equal(query(np.asfortranarray(rows)), whole)
    assert np.array_equal(query(np.repeat(rows, 2, axis=0)[::2]), whole)
    assert np.array_equal(query(rows[::-1]), whole)


@pytest.mark.parametrize("name", QUERIES)
def test_compiled_kernels_and_their_numpy_twins_agree(name, monkeypatch):
    from prolate.queries import kernels

    query = QUERIES[name]
    rows = np.vstack([rng.normal(size=(40, D)) * S + C, np.array(hard_rows())])
    compiled = query(rows)
    monkeypatch.setattr(kernels, "_loaded", lambda name: None)
    assert np.array_equal(query(rows), compiled)


def test_integers_and_single_precision_count_as_their_values():
    query = wide(2, 10.0)
    rows = np.array([[1, 2], [3, 4]])
    expected = query(rows.astype(np.float64))
    for dtype in (np.int8, np.uint16, np.int64, np.float16, np.float32):
        assert np.array_equal(query(rows.astype(dtype)), expected)
