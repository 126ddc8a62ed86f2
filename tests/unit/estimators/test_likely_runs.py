"""Which run of cells a column's values are likely in, where counts are noisy."""

from __future__ import annotations

import numpy as np
import pytest

from prolate.estimators.search.likely_runs import LikelyRuns, likely_runs

ROWS, D = 1_000.0, 400


def runs_of(
    part: np.ndarray, noise: float, *, evidence: float = 0.0, some: slice = slice(None)
) -> LikelyRuns:
    """Return what noisy counts of columns that are alike show; noise is a part of the rows."""
    rng = np.random.default_rng(0)
    counts = ROWS * part + noise * ROWS * rng.standard_normal((D, part.size))
    counts = counts[some]
    std, known = np.full(len(counts), noise * ROWS), np.full(len(counts), evidence)
    return likely_runs(counts, std, ROWS, astray=1e-3 / D, evidence=known)


def cells(*filled: int, of: int = 12) -> np.ndarray:
    return np.isin(np.arange(of), filled) / len(filled)


@pytest.mark.parametrize(("part", "of"), [((7,), 12), ((7, 8), 12), ((40,), 96), ((0,), 12)])
def test_a_run_is_found_or_left_open(part, of) -> None:
    runs = runs_of(cells(*part, of=of), 0.12)
    found = runs.length > 0
    inside = (runs.start - runs.length <= part[0]) & (runs.start + 2 * runs.length > part[-1])
    assert found.mean() > 0.5
    assert np.all(inside[found])


def test_wide_columns_and_two_halves_are_told_from_runs() -> None:
    wide, halves = runs_of(cells(2, 3, 4, 5, 6, 7, 8), 0.1), runs_of(cells(2, 9), 0.1)
    assert np.mean(wide.length > 0) < 0.01
    assert np.mean(wide.wide > 0.9) > 0.9
    assert np.mean((halves.length > 0) & (halves.apart < 0.5)) < 0.01


def test_columns_alike_tell_each_other_how_wide_they_are() -> None:
    """By themselves, far more columns are left open."""
    together = runs_of(cells(5), 0.2).length
    alone = [runs_of(cells(5), 0.2, some=slice(j, j + 1)).length[0] for j in range(D)]
    assert np.mean(together == 0) < 0.7 * np.mean(np.array(alone) == 0)


def test_rows_apart_from_a_single_value_are_seen() -> None:
    some = 0.85 * cells(5) + 0.15 * cells(1, 8, 11)
    assert np.mean(runs_of(some, 0.1).apart) > 0.9
    assert np.mean(runs_of(cells(5), 0.1).apart) < 0.1


def test_what_was_seen_before_counts_and_adds_up() -> None:
    """One column in ten of the first kind: what all have in common decides little."""
    none, some = runs_of(cells(5), 0.1), runs_of(cells(5), 0.1, evidence=3.0)
    assert np.mean(some.apart) > 2.0 * np.mean(none.apart)
    assert np.all(some.evidence > none.evidence)
    assert np.median(none.evidence) < 0.0
