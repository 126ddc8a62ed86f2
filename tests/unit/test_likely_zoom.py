"""Which run of cells a column's bulk is near, where counts are noisy."""

from __future__ import annotations

import numpy as np
import pytest

from prolate import Budget
from prolate.curator import Curator, Measurement
from prolate.estimators.likely_zoom import LikelyZoom, likely_runs, zoom_likely
from prolate.sources import open_source

ROWS, D = 1_000.0, 400


def counts_of(part: np.ndarray, noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return noisy counts of D columns that are alike, and their noise; both in rows."""
    rng = np.random.default_rng(seed)
    counts = ROWS * part + noise * ROWS * rng.standard_normal((D, part.size))
    return counts, np.full(D, noise * ROWS)


def cells(*filled: int, of: int = 12) -> np.ndarray:
    return np.isin(np.arange(of), filled) / len(filled)


@pytest.mark.parametrize(("part", "of"), [((7,), 12), ((7, 8), 12), ((40,), 96), ((0,), 12)])
def test_a_run_is_found_or_left_open(part, of) -> None:
    counts, noise = counts_of(cells(*part, of=of), 0.12)
    start, length, _ = likely_runs(counts, noise, ROWS, 1e-3 / D)
    found = length > 0
    inside = (start - length <= part[0]) & (start + 2 * length > part[-1])
    assert found.mean() > 0.5
    assert np.all(inside[found])


def test_wide_columns_and_two_halves_are_told_from_runs() -> None:
    for part in (cells(2, 3, 4, 5, 6, 7, 8), cells(2, 9)):
        _, length, wide = likely_runs(*counts_of(part, 0.1), ROWS, 1e-3 / D)
        assert np.mean(length > 0) < 0.01
        assert np.mean(wide > 0.9) > 0.9


def test_columns_alike_tell_each_other_how_wide_they_are() -> None:
    """By itself, one column in ten would be taken for a wide one, or left open."""
    counts, noise = counts_of(cells(5), 0.2)
    _, together, _ = likely_runs(counts, noise, ROWS, 1e-3)
    alone = [likely_runs(counts[[j]], noise[[j]], ROWS, 1e-3)[1][0] for j in range(D)]
    assert np.mean(together == 0) < 0.7 * np.mean(np.array(alone) == 0)


def zoomed(rows: np.ndarray, mu: float, half: float = 1e4) -> tuple[LikelyZoom, Curator]:
    curator = Curator(open_source(rows), Budget(mu=mu), seed=0)
    ends = np.full(rows.shape[1], half)
    nowhere = (np.zeros(ends.size, dtype=np.bool_),) * 2
    found = zoom_likely(curator, float(len(rows)), -ends, ends, bounded=nowhere, share=0.04)
    return found, curator


def test_windows_hold_the_bulk_and_are_not_far_wider() -> None:
    rng = np.random.default_rng(0)
    center = rng.uniform(-5_000.0, 5_000.0, 200)
    found, _ = zoomed(center + rng.standard_normal((800, 200)), 0.8)
    assert np.all(np.abs(found.center - center) < found.half)
    assert np.median(found.half) < 60.0
    assert not found.narrow.any()


def test_a_single_value_is_narrow() -> None:
    center = np.random.default_rng(0).uniform(-5_000.0, 5_000.0, 50)
    found, _ = zoomed(np.tile(center, (800, 1)), 0.8)
    assert np.all(np.abs(found.center - center) <= found.half)
    assert np.mean(found.narrow) > 0.9
    assert np.median(found.half) < 1e-3


def test_measurements_stay_as_they_were_made(monkeypatch) -> None:
    """Counts of several looks are averaged; the receipt's are not touched."""
    made = []
    measure = Curator.measure

    def recorded(curator: Curator, *query: object, **options: object) -> Measurement:
        found = measure(curator, *query, **options)
        made.append(found.values.copy())
        return found

    monkeypatch.setattr(Curator, "measure", recorded)
    _, curator = zoomed(100.0 + np.random.default_rng(0).standard_normal((600, 100)), 0.6)
    assert [one.label for one in curator.receipt].count("location 1") > 1
    for one, values in zip(curator.receipt, made, strict=True):
        assert np.array_equal(one.values, values)


def test_values_at_a_public_bound_are_inside() -> None:
    rows = np.where(np.random.default_rng(0).random((900, 60)) < 0.9, 0.0, 1.0)
    curator = Curator(open_source(rows), Budget(mu=1.0), seed=0)
    low, high = np.zeros(60), np.ones(60)
    there = (np.ones(60, dtype=np.bool_),) * 2
    found = zoom_likely(curator, 900.0, low, high, bounded=there, share=0.04)
    assert np.all(np.abs(found.center - rows.mean(axis=0)) < 1.0)
