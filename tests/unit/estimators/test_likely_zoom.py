"""How windows follow the runs that columns' bulk is likely near."""

from __future__ import annotations

import numpy as np

from prolate import Budget
from prolate.curator import Curator, Measurement
from prolate.estimators.search import likely_zoom
from prolate.estimators.search.likely_zoom import LikelyZoom, zoom_likely
from prolate.estimators.search.windows import Start
from prolate.sources import open_source


def zoomed(rows: np.ndarray, mu: float, half: float = 1e4) -> tuple[LikelyZoom, Curator]:
    curator = Curator(open_source(rows), Budget(mu=mu), seed=0)
    ends = np.full(rows.shape[1], half)
    start = Start(-ends, ends, (np.full(ends.size, -np.inf), np.full(ends.size, np.inf)))
    found = zoom_likely(curator, float(len(rows)), start, share=0.04)
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
    found = zoom_likely(curator, 900.0, Start(low, high, (low, high)), share=0.04)
    assert np.all(np.abs(found.center - rows.mean(axis=0)) < 1.0)


def flags(part: float) -> np.ndarray:
    """Columns of 0 save for a part of ones, far from the center of their windows."""
    return 3_000.0 + 3.0 * (np.random.default_rng(0).random((1_000, 40)) < part)


def test_windows_hold_rows_apart_from_a_single_value() -> None:
    found, _ = zoomed(flags(0.2), 1.0)
    inside = np.abs(found.center - 3_001.5) + 1.5 <= found.half
    assert np.mean(inside) > 0.5
    assert np.median(found.half) < 100.0


def test_the_same_test_fails_where_none_are_believed_to_be_apart(monkeypatch) -> None:
    monkeypatch.setattr(likely_zoom, "_APART", 1.0)  # a planted fault
    monkeypatch.setattr(likely_zoom, "_MAYBE_APART", 1.0)
    found, _ = zoomed(flags(0.2), 1.0)
    assert np.mean(np.abs(found.center - 3_001.5) + 1.5 <= found.half) < 0.1


def columns_of_a_thousandth() -> np.ndarray:
    rng = np.random.default_rng(0)
    return 5_000.0 * rng.uniform(-1.0, 1.0, 300) + 1e-3 * rng.standard_normal((800, 300))


def test_few_columns_that_are_left_open_are_asked_until_they_are_not() -> None:
    found, curator = zoomed(columns_of_a_thousandth(), 0.9)
    costs = [one.share for one in curator.receipt if one.label == "location 1"]
    assert len(costs) > 2
    assert sum(costs) < 2.0 * costs[0]
    assert np.max(found.half) < 10.0


def test_they_stay_open_if_they_are_not(monkeypatch) -> None:
    monkeypatch.setattr(likely_zoom, "_AGAIN_RARE", 0)  # a planted fault
    found, _ = zoomed(columns_of_a_thousandth(), 0.9)
    assert np.max(found.half) > 100.0


def test_no_edge_of_cells_is_at_a_round_number() -> None:
    """There, a column's bulk would be in two cells, of all columns alike."""
    d = 400
    anywhere = np.full(d, -np.inf), np.full(d, np.inf)
    zoom = LikelyZoom(Start(np.full(d, -8.0), np.full(d, 8.0), anywhere), 1e3)
    grid = zoom.grid(np.arange(d), 12)
    away = np.abs((0.0 - grid.low) / grid.width - 6.0)
    assert np.all(grid.low <= -8.0)
    assert np.all(grid.low + 12 * grid.width >= 8.0)
    assert np.mean(away < 0.05) < 0.15
    assert np.mean(away > 0.25) > 0.4
