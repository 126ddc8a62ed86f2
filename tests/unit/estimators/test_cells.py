"""What is believed of counts in cells: against the same arithmetic done otherwise, and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from prolate.estimators.ranks.cells import Cells, part_of, value_at


def some_cells(seed: int, *, tables: int = 3, cells: int = 5) -> tuple[Cells, np.ndarray]:
    rng = np.random.default_rng(seed)
    edge = np.sort(rng.normal(size=(tables, cells + 1)), axis=1)
    counts = rng.normal(20.0, 9.0, (tables, cells + 2))
    return Cells.around_all(edge, counts, np.full((tables, cells + 2), 4.0)), counts


def test_beyond_the_first_edges_there_is_surely_nothing() -> None:
    cells, counts = some_cells(0)
    assert np.all(cells.rows[:, [0, -1]] == 0.0)
    assert np.all(cells.std[:, [0, -1]] == 0.0)
    assert np.array_equal(cells.rows[:, 1:-1], counts[:, 1:-1])
    assert np.all(cells.std[:, 1:-1] == 2.0)


def test_two_measurements_are_averaged_by_their_precision() -> None:
    cells, counts = some_cells(1)
    again = cells.seen(counts + 10.0, np.full(counts.shape, 12.0))
    assert np.allclose(again.rows[:, 1:-1], counts[:, 1:-1] + 2.5)
    assert np.allclose(again.std[:, 1:-1] ** 2, 3.0)


def test_a_total_that_is_near_is_believed_and_one_that_is_not_is_not() -> None:
    cells, counts = some_cells(2, tables=1)
    total = float(counts[0, 1:-1].sum())
    known = cells.totalling(total + 5.0)  # of a standard deviation of 4.5
    assert known.rows.sum() == pytest.approx(total + 5.0)
    assert np.allclose(known.covariance.sum(axis=(1, 2)), 0.0, atol=1e-9)
    assert np.allclose(known.rows[0, 1:-1] - counts[0, 1:-1], 1.0)
    assert np.array_equal(cells.totalling(total + 50.0).rows, cells.rows)


def test_excess_is_what_is_below_less_what_is_wanted() -> None:
    cells, counts = some_cells(3, tables=1)
    excess, std = cells.excess(np.array([0.25]))
    inside = counts[0, 1:-1]
    below = np.concatenate([[0.0], np.cumsum(inside)])
    assert np.allclose(excess[0], below - 0.25 * inside.sum())
    k = np.arange(6)
    assert np.allclose(std[0] ** 2, 4.0 * (0.75**2 * k + 0.25**2 * (5 - k)))


def test_cutting_keeps_the_rows_and_how_sure_they_are_as_a_whole() -> None:
    cells, _ = some_cells(4)
    first, last = np.array([0, 1, 4]), np.array([2, 1, 4])
    finer = cells.cut(first, last, 7)
    assert finer.edge.shape == (3, 8)
    assert np.all(np.diff(finer.edge, axis=1) >= 0.0)
    for k in range(3):
        ends = cells.edge[k, [first[k], last[k] + 1]]
        assert finer.edge[k, [0, -1]].tolist() == ends.tolist()
        groups = np.zeros((3, 7))
        groups[0, : first[k] + 1] = groups[1, first[k] + 1 : last[k] + 2] = 1.0
        groups[2, last[k] + 2 :] = 1.0
        parts = np.zeros((3, 9))
        parts[0, 0] = parts[2, -1] = 1.0
        parts[1, 1:-1] = 1.0
        assert np.allclose(parts @ finer.rows[k], groups @ cells.rows[k])
        before = groups @ cells.covariance[k] @ groups.T
        assert np.allclose(parts @ finer.covariance[k] @ parts.T, before)
        assert np.linalg.eigvalsh(finer.covariance[k]).min() > -1e-9
    # Of a single cell, the parts hold equally many, and none is sure.
    assert np.allclose(finer.rows[1, 1:-1], cells.rows[1, 2] / 7)
    assert np.all(finer.std[1, 1:-1] > 0.1 * cells.rows[1, 2])


def test_cells_that_hold_more_are_cut_finer() -> None:
    edge = np.array([[0.0, 1.0, 2.0, 3.0]])
    counts = np.array([[0.0, 10.0, 1000.0, 10.0, 0.0]])
    cells = Cells.around_all(edge, counts, np.full((1, 5), 1e-6))
    finer = cells.cut(np.array([0]), np.array([2]), 10)
    inside = (finer.edge[0] > 1.0) & (finer.edge[0] < 2.0)
    assert np.count_nonzero(inside) == 9


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (-np.inf, np.inf),
        (-np.inf, -1e300),
        (0.0, 5e-324),
        (0.0, np.inf),
        (-1e26, 4.7),
        (-3.0, -1e-200),
        (1e-300, 1e300),
        (40.0, np.nextafter(40.0, 41.0)),
        (7.0, 7.0),
    ],
)
def test_scales_rise_from_one_end_to_the_other(lower: float, upper: float) -> None:
    part = np.linspace(0.0, 1.0, 65)
    low, high = np.full(65, lower), np.full(65, upper)
    value = value_at(low, high, part)
    assert np.all(np.isfinite(value[1:-1]))
    assert np.all(np.diff(value) >= 0.0)
    assert np.all((value >= lower) & (value <= upper))
    back = part_of(low, high, value)
    assert np.all(np.diff(back) >= 0.0)
    if upper - lower > 1e-9 and np.isfinite(lower) and np.isfinite(upper):
        assert np.allclose(back, part, atol=1e-6)


def test_a_lopsided_cell_around_zero_is_cut_by_magnitudes() -> None:
    value = value_at(np.full(9, -1e26), np.full(9, 4.7), np.linspace(0.0, 1.0, 9))
    assert np.count_nonzero(value > -1e10) >= 3


def expecting(total: float = 100.0) -> Cells:
    edge, share = np.array([[-np.inf, -1.0, 1.0, np.inf]]), np.array([[0.01, 0.98, 0.01]])
    return Cells.expected(edge, share, np.zeros((1, 3, 3)), total)


def test_counts_are_taken_for_noise_where_no_rows_are_expected() -> None:
    counts, variance = np.array([[0.0, -12.0, 100.0, 12.0, 0.0]]), np.full((1, 5), 36.0)
    cells = expecting()
    assert np.allclose(cells.rows, [[0.0, 1.0, 98.0, 1.0, 0.0]])
    assert np.array_equal(cells.surprised(counts, variance).covariance, cells.covariance)
    assert np.all(np.abs(cells.seen(counts, variance).rows[0, [1, 3]] - 1.0) < 2.0)


def test_rows_are_believed_where_counts_clearly_show_them() -> None:
    counts, variance = np.array([[0.0, 0.0, 50.0, 50.0, 40.0]]), np.full((1, 5), 36.0)
    cells = expecting().surprised(counts, variance).seen(counts, variance)
    assert abs(cells.rows[0, 3] - 50.0) < 3.0
    assert cells.rows[0, 4] == 0.0  # nothing is beyond the ends


def test_shapes_that_rows_may_have_vary_cells_together() -> None:
    """What one count tells of the shape, it tells of the others."""
    share = np.array([[0.25, 0.5, 0.25]])
    shapes = np.array([[[0.04, -0.08, 0.04], [-0.08, 0.16, -0.08], [0.04, -0.08, 0.04]]])
    cells = Cells.expected(np.array([[0.0, 1.0, 2.0, 3.0]]), share, shapes, 100.0)
    one = np.array([[1e9, 1e9, 1.0, 1e9, 1e9]])
    seen = cells.seen(np.array([[0.0, 0.0, 90.0, 0.0, 0.0]]), one)
    assert seen.rows[0, 1] < 15.0
    assert seen.rows[0, 3] < 15.0
