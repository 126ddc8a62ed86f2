"""Curves of many places, widths and kinds, with which counts are matched."""

from __future__ import annotations

import numpy as np
import pytest

from prolate.estimators.search import curves

FAR = np.concatenate([np.linspace(-400.0, -8.0, 2000), np.linspace(-8.0, 8.0, 40_000)[1:]])
FAR = np.concatenate([FAR, np.linspace(8.0, 400.0, 2000)[1:]])


def test_every_kind_has_the_mean_and_deviation_that_it_is_said_to_have() -> None:
    below = curves._below(FAR[np.newaxis, :])[0]
    assert len(below) == len(curves.KINDS)
    middle = 0.5 * (FAR[1:] + FAR[:-1])
    for kind, part in enumerate(np.diff(below, axis=1)):
        assert np.all(part >= -1e-12)
        assert part.sum() == pytest.approx(1.0, abs=1e-6)
        assert part @ middle == pytest.approx(0.0, abs=0.01), kind
        assert np.sqrt(part @ middle**2) == pytest.approx(1.0, abs=0.03), kind


def test_skewed_kinds_are_to_either_side() -> None:
    below = curves._below(FAR[np.newaxis, :])[0]
    middle = 0.5 * (FAR[1:] + FAR[:-1])
    skew = np.array([np.diff(each) @ middle**3 for each in below])
    assert np.all(np.abs(skew[curves.SKEWED]) > 1.5)
    assert skew[curves.SKEWED].sum() == pytest.approx(0.0, abs=0.1)
    assert skew[0] == pytest.approx(0.0, abs=0.01)


def test_cells_of_a_curve_are_parts_of_the_rows() -> None:
    table, squares = curves.curves()
    assert table.shape[3] == curves.CELLS + 2
    assert table.shape[0] == curves.WIDTHS.size + curves.NARROWER
    sums = table.sum(axis=3)
    assert np.all(np.abs(sums - 1.0) < 1e-5)
    assert np.allclose(squares, 0.5 * np.sum(table**2, axis=3))


def test_a_normal_curve_in_the_middle_of_its_window() -> None:
    from scipy.stats import norm

    table, _ = curves.curves()
    width = curves.NARROWER + int(np.argmin(np.abs(curves.WIDTHS - 0.25)))
    edges = np.linspace(-1.0, 1.0, curves.CELLS + 1)
    wanted = np.diff(np.concatenate([[0.0], norm.cdf(edges / 0.25), [1.0]]))
    assert np.allclose(table[width, table.shape[1] // 2, 0], wanted, atol=1e-6)
