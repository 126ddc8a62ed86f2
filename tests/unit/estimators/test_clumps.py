"""Rows that are together far out stand out of noise that hides single ones."""

import numpy as np
import pytest

from prolate.estimators.lengths.clumps import MAYBE, clump_edges, find_clumps
from prolate.estimators.lengths.norms import MeasuredNorms

EDGES = np.array([0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 7.0, 12.0, 40.0])
BULK = np.array([50.0, 500.0, 300.0, 100.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def norms_of(counts, noise: float = 4.0) -> MeasuredNorms:
    return MeasuredNorms(EDGES, np.asarray(counts, dtype=float), noise, 1.0)


def with_rows(**cells: float) -> MeasuredNorms:
    counts = BULK.copy()
    for cell, rows in cells.items():
        counts[int(cell[1:])] += rows
    return norms_of(counts)


def test_a_clump_is_more_rows_than_noise_makes() -> None:
    assert np.flatnonzero(find_clumps(with_rows(_7=25), 5.0)).tolist() == [7]
    assert not find_clumps(with_rows(_7=15), 5.0).any()
    assert find_clumps(with_rows(_7=15), 5.0, sure=MAYBE)[7]


def test_one_that_an_edge_divides_stands_out_too() -> None:
    found = find_clumps(with_rows(_6=16, _7=16), 5.0)
    assert np.flatnonzero(found).tolist() == [6, 7]


def test_as_many_as_may_be_clipped_do_not_matter() -> None:
    assert not find_clumps(with_rows(_7=25), 20.0).any()


def test_a_tail_that_falls_is_no_clump() -> None:
    tail = np.array([50.0, 500.0, 300.0, 150.0, 130.0, 90.0, 60.0, 35.0, 30.0, 0.0])
    assert not find_clumps(norms_of(tail, noise=1.0), 1.0).any()
    beyond_a_gap = tail.copy()
    beyond_a_gap[5] = 0.0
    assert find_clumps(norms_of(beyond_a_gap, noise=1.0), 1.0).any()


def test_nor_are_rows_near_the_others() -> None:
    assert not find_clumps(with_rows(_3=400), 5.0).any()


@pytest.mark.parametrize("counts", [np.zeros(10), -BULK, np.full(10, -3.0)])
def test_counts_of_noise_alone(counts) -> None:
    assert not find_clumps(norms_of(counts), 5.0).any()


def test_noise_makes_none() -> None:
    """In any of about ten windows, once in tens of thousands: four of 4,000 are too many."""
    rng = np.random.default_rng(0)
    found = sum(
        find_clumps(norms_of(BULK + 4.0 * rng.normal(size=10)), 5.0).any() for _ in range(4_000)
    )
    assert found < 4


def test_wide_cells_of_clumps_are_parted() -> None:
    norms = with_rows(_7=25)
    edges = clump_edges(norms, find_clumps(norms, 5.0))
    assert edges is not None
    added = np.setdiff1d(edges, EDGES)
    assert np.all((added > 7.0) & (added < 12.0))
    assert added.size == 2
    assert clump_edges(norms, np.zeros(10, dtype=bool)) is None
    narrow = MeasuredNorms(EDGES[0] * 1.1 ** np.arange(9), norms.counts, 4.0, 0.5)
    assert clump_edges(narrow, np.arange(10) == 7) is None


def test_a_look_with_finer_cells_keeps_what_was_known() -> None:
    coarse = with_rows(_7=26)
    edges = clump_edges(coarse, np.arange(10) == 7)
    assert edges is not None
    counts = np.concatenate([BULK[:7], [0.0, 30.0, 0.0], BULK[8:]])
    found = coarse.refined(MeasuredNorms(edges, counts, 4.0, 1.0))
    assert found.edges.size == edges.size
    assert found.noise < 4.0
    # Each of both is right by as much: a sum of three cells is noisier than one.
    assert found.counts[7:10].sum() == pytest.approx((3 * 26 + 30) / 4)
    assert found.counts[8] > found.counts[7] == pytest.approx(found.counts[9])
    assert found.counts[:7] == pytest.approx(BULK[:7])
    other = MeasuredNorms(1.1 * edges, counts, 4.0, 1.0)
    assert coarse.refined(other) is other
