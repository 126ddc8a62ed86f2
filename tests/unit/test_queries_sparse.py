"""Loops over sparse rows, by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from prolate.queries.clipped_sum import CAP

compiled = pytest.importorskip("prolate.queries._compiled_sparse")

REST = np.array([0.0, 1.0, 2.0, 3.0, 1e6 + 1.0, float(CAP - 1), float(CAP)])
FACTORS = np.concatenate([[1.0, -1.0, 0.5, -0.5], np.random.default_rng(0).uniform(-1.0, 1.0, 37)])


def exact(rest: np.ndarray, factors: np.ndarray) -> list[int]:
    rounded = np.rint(rest * factors[:, np.newaxis]).astype(object)
    return [int(sum(column)) for column in rounded.T]


def test_rounded_sums_are_those_of_rint():
    found = compiled.rounded_sums(REST, FACTORS)
    assert found.dtype == np.int64
    assert found.tolist() == exact(REST, FACTORS)


@pytest.mark.parametrize("piece", [1, 7, 40, 41])
def test_rounded_sums_in_pieces_of_rows_are_the_same(piece, monkeypatch):
    monkeypatch.setattr(compiled, "_ROWS", piece)
    assert compiled.rounded_sums.py_func(REST, FACTORS).tolist() == exact(REST, FACTORS)


def test_a_piece_of_rows_is_exact_in_a_float():
    assert CAP * compiled._ROWS <= 2**52
