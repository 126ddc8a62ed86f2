"""How many rows deviate from nearly constant columns' bulk, and how far: of many and of few."""

from __future__ import annotations

import numpy as np
import pytest

from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.search import deviations as module
from prolate.estimators.search.deviations import Deviations, coarse_deviations, deviations
from prolate.estimators.search.locate import Interval
from prolate.sources import open_source

FLAGS = 3
MU = 0.3


def found(
    rows: np.ndarray, *, half: float = 1e-30, coarse: bool = True, seed: int = 0
) -> Deviations:
    nothing = np.zeros(rows.shape[1])
    everywhere = np.ones(rows.shape[1], dtype=np.bool_)
    around = Interval(
        nothing, np.full_like(nothing, half), everywhere, True, nothing, nothing, ~everywhere
    )
    curator = Curator(open_source(rows), Budget(mu=MU), seed=seed)
    return (
        coarse_deviations(curator, around, share=0.5)
        if coarse
        else deviations(curator, around, share=0.25)[0]
    )


def flags(seed: int, n: int = 500, part: float = 0.04, size: float = 1.0) -> np.ndarray:
    return size * (np.random.default_rng(seed).random((n, FLAGS)) < part)


def steps(size: float = 1.0) -> np.ndarray:
    """How far few rows deviate, by 40 searches; NaN where nothing is found."""
    half = 1e-15 * size
    looked = [found(flags(seed, size=size), half=half, seed=seed) for seed in range(40)]
    return np.array([np.sqrt(one.square / one.rows) if one.rows else np.nan for one in looked])


@pytest.mark.parametrize("size", [1.0, 1e-70, 3e80])
def test_few_flags_are_found_with_their_size(size):
    """Where octaves alone show hardly any."""
    step = steps(size) / size
    assert np.mean(np.isfinite(step)) > 0.6
    assert np.nanmedian(np.abs(np.log2(step))) < 0.6
    octaves = [found(flags(seed), coarse=False, seed=seed).rows > 0.0 for seed in range(40)]
    assert np.mean(octaves) < 0.5


def test_large_cells_alone_do_not_tell_it(monkeypatch):
    """A planted fault."""
    monkeypatch.setattr(module, "_LIKELY", np.inf)
    assert np.nanmin(np.abs(np.log2(steps() * 1.0001))) > 0.6


def test_flags_are_of_one_size_and_amounts_of_several():
    rng = np.random.default_rng(1)
    amounts = flags(1, 600, 0.2) * np.exp(1.5 * rng.normal(size=(600, FLAGS)))
    assert found(amounts).octaves > 1
    assert np.median([found(flags(k, 600, 0.2), seed=k).octaves for k in range(20)]) == 1


def test_the_bulk_is_not_taken_for_rare_values():
    """Also where it is in the lower half of a large cell."""
    rng = np.random.default_rng(2)
    for half in 2.0 ** np.arange(-30.0, -22.0):
        bulk = half * rng.uniform(-1.0, 1.0, (2_000, FLAGS))
        assert found(bulk, half=half).rows == 0.0
        looked = found(bulk + flags(3, 2_000, 0.1), half=half)
        assert looked.rows == pytest.approx(2_000 * (1 - 0.9**3), rel=0.2)
        assert looked.square / looked.rows == pytest.approx(1.0, rel=0.5)


@pytest.mark.parametrize("size", [1e-120, 1e100, 1e139])
def test_the_smallest_and_largest_numbers_are_in_some_cell(size):
    looked = found(flags(4, 2_000, 0.2, size), half=1e-130)
    assert np.isfinite(looked.square)


@pytest.mark.parametrize("half", [1e-130, 1.0, 1e89, 1e120])
def test_any_bulk_leaves_cells(half):
    assert np.isfinite(found(flags(5, 2_000, 0.2, 10.0), half=half).square)
