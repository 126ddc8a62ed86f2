"""Sparse rows give the same integers as dense ones, for every query that reads them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import prolate
from prolate.queries import (
    RADIUS,
    ClippedSum,
    Count,
    CountBelow,
    Cut,
    EdgesGrid,
    FarthestHistogram,
    Histogram,
    LinearGrid,
    MagnitudeGrid,
    NormHistogram,
    Norms,
    OneSidedSum,
    Pairs,
    Query,
    Rotated,
    Selected,
    kernels,
    sparse,
)
from prolate.queries.clipped_sum import CAP
from prolate.sources import Source, open_source
from prolate.sources.sparse_rows import SparseRows
from prolate.sources.threads import thread_count

BIG, TINY = 1.7976931348623157e308, 5e-324
SPECIAL = [
    *(0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -3.0, BIG, -BIG, 1e308, TINY, -TINY, 2.0**53, 1e154),
    *(math.inf, -math.inf, math.nan, 1e-160, np.nextafter(1.0, 2.0), 2.0**-27, -(2.0**63)),
]
FINITE = [value for value in SPECIAL if math.isfinite(value)]
VALUES = st.one_of(st.sampled_from(SPECIAL), st.floats(-4.0, 4.0), st.just(1.0), st.just(0.0))
PUBLIC = st.one_of(st.sampled_from(FINITE), st.floats(-4.0, 4.0), st.just(0.0))
DTYPES = [np.float64, np.float32, np.int8, np.uint16, np.int64, np.bool_, np.longdouble]


@st.composite
def matrices(draw: st.DrawFn) -> scipy.sparse.coo_array:
    """Return rows with few entries: some empty, unsorted, some entries stored twice."""
    m, d = draw(st.integers(0, 9)), draw(st.integers(1, 6))
    entries = draw(st.integers(0, 2 * m)) if m else 0
    place = [st.lists(st.integers(0, k - 1), min_size=entries, max_size=entries) for k in (m, d)]
    rows, columns = (draw(each) if m else [] for each in place)
    values = draw(st.sampled_from([VALUES, st.sampled_from([1.0]), st.sampled_from([1.0, 2.0])]))
    data = draw(hnp.arrays(np.float64, entries, elements=values))
    dtype = draw(st.sampled_from(DTYPES))
    if np.dtype(dtype).kind in "biu":
        data = np.nan_to_num(data, posinf=7.0, neginf=0.0).clip(-100, 100)
    with np.errstate(all="ignore"):
        data = data.astype(dtype)
    return scipy.sparse.coo_array((data, (rows, columns)), shape=(m, d))


def csr(matrix: scipy.sparse.coo_array) -> scipy.sparse.csr_array:
    """Return the same entries in CSR format: in their order, not added up."""
    order = np.argsort(matrix.row, kind="stable")
    starts = np.searchsorted(matrix.row[order], np.arange(matrix.shape[0] + 1))
    parts = matrix.data[order], matrix.col[order], starts
    return scipy.sparse.csr_array(parts, shape=matrix.shape)


def vector(draw: st.DrawFn, d: int, elements: st.SearchStrategy[float] = PUBLIC) -> np.ndarray:
    if draw(st.booleans()):
        return np.full(d, draw(elements))
    return draw(hnp.arrays(np.float64, d, elements=elements))


def sizes(draw: st.DrawFn, d: int) -> np.ndarray:
    return vector(draw, d, st.one_of(st.floats(0.1, 9.0), st.sampled_from([1.0, 1e-9, 1e150])))


def drawn_edges(draw: st.DrawFn) -> np.ndarray:
    drawn = draw(st.lists(st.floats(0.0, 9.0), min_size=1, max_size=5))
    return np.unique([*drawn, 1.0, math.sqrt(2.0), 2.0])


def ends(draw: st.DrawFn, d: int) -> tuple[np.ndarray, np.ndarray]:
    lower, upper = np.sort([vector(draw, d), vector(draw, d)], axis=0)
    if draw(st.booleans()):
        lower = np.full(d, -np.inf)
    return lower, upper


def clipped(draw: st.DrawFn, d: int) -> ClippedSum:
    def maybe(value: object) -> object:
        return value if draw(st.booleans()) else None

    lower, upper = ends(draw, d)
    radius = draw(st.sampled_from([0.5, 1.0, 3.0, 100.0]))
    return ClippedSum(
        vector(draw, d),
        sizes(draw, d),
        radius,
        lower=maybe(lower),
        upper=maybe(upper),
        about=maybe(vector(draw, d)),
        missing=maybe(vector(draw, d)),
        tilt=maybe((0.3 * radius, 2.0 * radius)),
    )


def some_columns(draw: st.DrawFn, d: int, make: Callable[[st.DrawFn, int], Query]) -> Selected:
    index = np.array(sorted(draw(st.sets(st.integers(0, d - 1), min_size=1))))
    return Selected(make(draw, index.size), index, d)


def any_columns(draw: st.DrawFn, d: int) -> Selected:
    index = np.array(draw(st.lists(st.integers(0, d - 1), min_size=1, max_size=9)))
    grid = EdgesGrid(drawn_edges(draw) - vector(draw, index.size)[:, np.newaxis])
    return Selected(Histogram(grid), index, d)


# Queries of random public parameters, by the number of columns.
MAKERS: dict[str, Callable[[st.DrawFn, int], Query]] = {
    "count": lambda draw, d: Count(d),
    "count below": lambda draw, d: CountBelow(vector(draw, d)),
    "linear histogram": lambda draw, d: Histogram(
        LinearGrid(vector(draw, d), sizes(draw, d), draw(st.integers(1, 9)))
    ),
    "histogram between edges": lambda draw, d: Histogram(
        EdgesGrid(np.array([drawn_edges(draw)]) - vector(draw, d)[:, np.newaxis])
    ),
    "magnitude histogram": lambda draw, d: Histogram(
        MagnitudeGrid(
            vector(draw, d),
            draw(hnp.arrays(np.int64, d, elements=st.integers(-(2**63), 2**63 - 1))) >> 50,
            draw(st.integers(1, 9)),
            draw(st.sampled_from([0, 50, 51, 52, 63])),
        )
    ),
    "histograms between edges, any columns": any_columns,
    "norm histogram": lambda draw, d: NormHistogram(
        vector(draw, d),
        sizes(draw, d),
        drawn_edges(draw),
        vector(draw, d) if draw(st.booleans()) else None,
    ),
    "norm histogram of the farthest": lambda draw, d: NormHistogram(
        vector(draw, d), sizes(draw, d), drawn_edges(draw), farthest=True
    ),
    "farthest columns": lambda draw, d: FarthestHistogram(
        vector(draw, d), sizes(draw, d), draw(st.integers(1, 9))
    ),
    "norms": lambda draw, d: Norms(
        Histogram(LinearGrid(np.zeros(1), np.full(1, 0.3), 9)), vector(draw, d), sizes(draw, d)
    ),
    "clipped sum": clipped,
    "clipped sum of some columns": lambda draw, d: some_columns(draw, d, clipped),
    "histogram of some columns": lambda draw, d: some_columns(draw, d, MAKERS["linear histogram"]),
    "cut clipped sum": lambda draw, d: Cut(clipped(draw, d), *ends(draw, d)),
    "cut histogram": lambda draw, d: Cut(
        Histogram(LinearGrid(vector(draw, d), sizes(draw, d), 5)), *ends(draw, d)
    ),
    "cut norms": lambda draw, d: Cut(
        NormHistogram(vector(draw, d), sizes(draw, d), drawn_edges(draw)), *ends(draw, d)
    ),
}


def ask(query: Query, source: Source) -> list[int]:
    return source.collect(query, query.size).tolist()


def check(query: Query, matrix: object, *, dense: np.ndarray | None = None) -> None:
    """Hold a query's answer from stored entries against the dense rows'."""
    source = open_source(matrix)
    found = query.of_sparse(source._sparse_rows)
    assert found is not None
    assert ask(query, source) == found.tolist()
    dense = matrix.toarray() if dense is None else dense
    assert np.array_equal(found, query(dense))


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=80)
@given(data=st.data(), matrix=matrices())
def test_sparse_rows_give_the_same_integers(name, data, matrix) -> None:
    query = MAKERS[name](data.draw, matrix.shape[1])
    with np.errstate(over="ignore"):
        check(query, csr(matrix), dense=matrix.toarray().astype(np.float64))


@pytest.mark.parametrize("values", ["ones", "many"])
def test_the_same_integers_for_any_number_of_threads(values, monkeypatch) -> None:
    matrix, rng = random_rows(3, 700, 90, 0.06, values=values), np.random.default_rng(7)
    source, center = open_source(matrix), 0.1 * rng.normal(size=90)
    edges = np.linspace(0.1, 4.0, 30)
    chosen = Selected(ClippedSum(center[:20], np.ones(20), 1.0), np.arange(20) * 4, 90)
    queries: list[Query] = [
        *(ClippedSum(center, np.ones(90), radius) for radius in (0.8, 2.0)),
        ClippedSum(0 * center, np.ones(90), 0.8, lower=center - 1, upper=center, beyond=True),
        OneSidedSum(center, np.ones(90), 0.8, np.where(np.arange(90) % 3, 1.0, -1.0)),
        *(NormHistogram(center, np.ones(90), edges, farthest=far) for far in (False, True)),
        FarthestHistogram(center, np.ones(90), 5),
        Norms(Histogram(LinearGrid(np.zeros(1), np.full(1, 0.3), 9)), center, np.ones(90)),
        chosen,
    ]
    alone = [ask(query, source) for query in queries]
    monkeypatch.setattr(sparse, "threads_for", lambda _: thread_count())
    for threads in ("2", "3", "16"):
        monkeypatch.setenv("PROLATE_NUM_THREADS", threads)
        assert [ask(query, source) for query in queries] == alone


@settings(max_examples=60)
@given(matrix=matrices(), form=st.sampled_from(["csr", "csc", "coo", "lil", "dok"]))
def test_any_format_holds_the_same_rows(matrix, form) -> None:
    dense = matrix.toarray()
    if form in ("lil", "dok") and dense.dtype == np.longdouble:
        form = "csr"
    query = ClippedSum(np.full(dense.shape[1], 0.3), np.full(dense.shape[1], 0.7), 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        check(query, matrix.asformat(form), dense=dense.astype(np.float64))


# What hypothesis would hardly find.


def random_rows(seed: int, m: int, d: int, density: float, *, values: str) -> object:
    rng = np.random.default_rng(seed)
    makers = {
        "ones": np.ones,
        "few": lambda size: rng.choice([1.0, 2.0, np.nan, -0.5], size),
        "many": lambda size: rng.normal(size=size),
        "special": lambda size: rng.choice(SPECIAL, size),
    }
    place = scipy.sparse.random_array((m, d), density=density, rng=rng, format="csr")
    data = np.asarray(makers[values](place.nnz))
    return scipy.sparse.csr_array((data, place.indices, place.indptr), shape=(m, d))


@pytest.mark.parametrize("values", ["ones", "few", "many", "special"])
@pytest.mark.parametrize("magnitude", [0.0, 1e-30, 1e-12, 1e-9, 1e-7, 0.3, 1e9])
def test_edges_that_are_the_very_norms(values, magnitude) -> None:
    """The norms themselves as edges, and their neighbors: no rounding may be lost."""
    rng = np.random.default_rng(5)
    matrix = random_rows(1, 400, 300, 0.03, values=values)
    dense, center = matrix.toarray(), magnitude * rng.normal(size=300)
    rows = open_source(matrix)._sparse_rows
    for about in (None, np.where(np.arange(300) % 3 == 0, 0.5, -0.0)):
        where = np.full(300, np.nan) if about is None else about
        gain = np.exp(rng.normal(size=300))
        norms = kernels.norms(dense, center, gain, about=about)
        with np.errstate(over="ignore"):
            some = [norms, np.nextafter(norms, np.inf), np.nextafter(norms, 0.0)]
        for edges in map(np.unique, some):
            check(NormHistogram(center, gain, edges, about), matrix, dense=dense)
            with np.errstate(over="ignore", invalid="ignore"):
                found = sparse.norm_cells(rows, where, center, gain, edges)
            assert np.array_equal(found, np.searchsorted(edges, norms, "right"))
        with np.errstate(over="ignore", invalid="ignore"):
            assert np.array_equal(sparse.norms(rows, where, center, gain), norms)


@pytest.mark.parametrize("size", [1.0, 1e-160, 1e-170, 1e160])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_edges_below_zero_and_edges_whose_squares_are_no_numbers(size, sign) -> None:
    """Squares of edges are compared, also of edges below 0 and of tiny ones."""
    matrix = size * random_rows(6, 200, 12, 0.2, values="many")
    one = np.ones(12)
    edges = size * np.sort(sign * np.linspace(0.5, 4.0, 9))
    check(NormHistogram(0.0 * one, one, edges), matrix)


@pytest.mark.parametrize("values", ["ones", "few", "many", "special"])
@pytest.mark.parametrize("tilt", [None, (0.5, 3.0)])
def test_clipped_sums_of_many_rows(values, tilt) -> None:
    matrix, rng = random_rows(2, 500, 200, 0.05, values=values), np.random.default_rng(6)
    for spread in (1e-9, 1e-3, 1.0, 1e12):
        center = spread * rng.normal(size=200)
        for scale in (np.full(200, 1.0), np.exp(rng.normal(size=200))):
            radius = float(np.linalg.norm(np.concatenate([center, [2.0]]) / scale[0]))
            between = None if tilt is None else (tilt[0] * radius, tilt[1] * radius)
            check(ClippedSum(center, scale, radius, tilt=between), matrix)
            check(ClippedSum(center, scale, 0.3 * radius, missing=scale), matrix)


@pytest.mark.parametrize("stored", [0, 1, 30, 31, 32, 33, 60])
def test_squares_that_fall_from_beyond_the_cut(stored) -> None:
    """Empty rows saturate S; stored entries at the center bring it back below 2**53."""
    d = 60
    data = np.concatenate([np.ones(stored), [1.0, 1.0 + 2.0**-20]])
    place = np.zeros(stored + 2, dtype=int), np.concatenate([np.arange(stored), [0, 0]])
    place[0][stored:] = 1, 2
    matrix = scipy.sparse.csr_array((data, place), shape=(4, d))
    for center in (1.0, 1.0 + 2.0**-10):
        for radius in (1e-3, 0.5, 0.6, 2.0, 8.0):
            for tilt in (None, (0.5 * radius, 5.0 * radius), (radius, 40.0 * radius)):
                check(ClippedSum(np.full(d, center), np.ones(d), radius, tilt=tilt), matrix)


@pytest.mark.parametrize("d", [20_000, 40_000])
def test_more_columns_than_squares_fit_into_an_integer(d) -> None:
    """The squares of 2**15 columns at the cap sum up to 2**63."""
    rows, columns = np.repeat([0, 1], [d, 5]), np.concatenate([np.arange(d), np.arange(5)])
    for value in (1.0, 1.0 + 1e-12, 1.0 - 0.5 / RADIUS, 0.0, -1.0):
        matrix = scipy.sparse.csr_array((np.full(d + 5, value), (rows, columns)), shape=(3, d))
        dense = matrix.toarray()
        for center in (1.0, -1.0):
            for scale in (1e-9, 1.0):
                check(ClippedSum(np.full(d, center), np.full(d, scale), 2.0), matrix, dense=dense)
    assert CAP**2 * 2**15 == 2**63


@pytest.mark.parametrize("count", [1, 2, 5, 4000])
def test_pairs_of_columns_and_values(count) -> None:
    """Few different values are kept once per column; many, once per entry."""
    rng = np.random.default_rng(count)
    data = rng.permutation(np.resize(np.linspace(1.0, 2.0, count), 8000))
    place = np.arange(8000) // 4, np.arange(8000) * 7 % 50
    matrix = scipy.sparse.csr_array((data, place), shape=(2000, 50))
    rows = SparseRows.from_csr(open_source(matrix)._rows)
    assert rows.pair_value.size == (50 * count if count <= 5 else 8000)
    assert rows.pair_count.sum() == 8000
    assert rows.rest_count.sum() == 2000 * 50 - 8000
    for query in (
        Histogram(LinearGrid(np.zeros(50), np.full(50, 0.01), 300)),
        ClippedSum(np.full(50, 0.1), np.ones(50), 2.0),
        NormHistogram(np.full(50, 0.1), np.ones(50), np.linspace(1.0, 4.0, 20)),
    ):
        check(query, matrix)


def test_without_numba(monkeypatch) -> None:
    """The loops over entries are compiled only; everything else stays quick."""
    matrix = random_rows(3, 50, 20, 0.1, values="few")
    source, dense = open_source(matrix), matrix.toarray()
    one = np.ones(20)
    loops = [
        ClippedSum(0.3 * one, one, 1.0),
        NormHistogram(0.3 * one, one, np.array([1.0, 2.0])),
        NormHistogram(0.3 * one, one, np.array([1.0, 2.0]), farthest=True),
        Norms(CountBelow(np.ones(1)), one, one),
    ]
    monkeypatch.setattr(sparse, "_compiled", lambda: None)
    for query in loops:
        assert query.of_sparse(source._sparse_rows) is None
        assert ask(query, source) == query(dense).tolist()
    check(Histogram(LinearGrid(-one, one, 5)), matrix)


def test_queries_that_need_dense_rows() -> None:
    matrix = random_rows(4, 51, 20, 0.1, values="few")
    source, dense = open_source(matrix, block_bytes=2000), matrix.toarray()
    inner = ClippedSum(np.zeros(32), np.ones(32), 1.0)
    for query in (Rotated(inner, np.ones(32), np.zeros(20)), Pairs(Count(20))):
        assert query.of_sparse(source._sparse_rows) is None
        assert ask(query, source) == ask(query, open_source(dense, block_bytes=2000))


@pytest.mark.parametrize("values", ["ones", "few", "many"])
def test_means_are_the_same(values) -> None:
    matrix = random_rows(7, 4000, 25, 0.1, values=values)
    dense, budget = matrix.toarray(), prolate.Budget(rho=1)
    for arguments in (
        {"error_norm": 1.0},
        {"bounds": (0.0, 1.0)},
        {"bounds": (0.5, 3.0), "error_norm": 1.0},
        {"method": "iome", "error_norm": 1.0, "bounds": (0.0, 1.0)},
        {"method": "plan", "bounds": (-4.0, 4.0)},
    ):
        left = prolate.mean(matrix, budget=budget, seed=1, **arguments)
        right = prolate.mean(dense, budget=budget, seed=1, **arguments)
        assert np.array_equal(left.estimate, right.estimate), arguments
        assert np.array_equal(left.noise_std, right.noise_std), arguments
