"""Where few rows of a regression are: places and widths from coarse counts."""

from __future__ import annotations

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.columns import SomeColumns
from prolate.estimators.regression import regression
from prolate.estimators.regression.remarks import HIDDEN
from prolate.estimators.search import place as place_module
from prolate.estimators.search.locate import SCALES, Interval
from prolate.estimators.search.place import Place, locate_coarsely, place
from prolate.sources import open_source

ROWS = 300


def placed(column: np.ndarray, *, noise: float = 0.12, seed: int = 1, most: float = 0.6) -> Place:
    """Return what `place` finds, with counts noisy by a part of the rows."""
    curator = Curator(
        open_source(column[:, np.newaxis]),
        Budget(mu=np.sqrt(2.0) / (noise * column.size * np.sqrt(0.07))),
        neighbors="replace",
        seed=seed,
    )
    view = SomeColumns(curator, np.array([0]))
    found = place(view, column.size, magnitude_share=0.07, share=0.07, most=most)
    assert curator.remaining > 0.93 - most - 1e-9
    return found


def flags(part: float, rows: int = ROWS) -> np.ndarray:
    return (np.arange(rows) < part * rows).astype(float)


@pytest.mark.parametrize("part", [0.4, 0.5, 0.6])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (1.0, 2.0), (-1.0, 1.0), (0.0, 100.0)])
def test_two_values_are_about_as_wide_as_they_are(part: float, low: float, high: float) -> None:
    column = low + (high - low) * flags(part)
    found = [placed(column, seed=seed) for seed in range(12)]
    widths = np.array([one.spread[0] / column.std() for one in found])
    assert np.count_nonzero((widths > 0.25) & (widths < 4.0)) >= 9
    off = np.array([abs(one.center[0] - column.mean()) / column.std() for one in found])
    assert np.all(off < 1.5)


@pytest.mark.parametrize(("mean", "std"), [(2015.0, 5.0), (1e4, 1.0), (-3e-4, 1e-6), (50.0, 10.0)])
def test_places_far_from_zero_are_found(mean: float, std: float) -> None:
    column = np.random.default_rng(0).normal(mean, std, ROWS)
    found = [placed(column, seed=seed) for seed in range(12)]
    assert not any(one.narrow[0] for one in found)
    assert 0.5 < np.median([one.spread[0] for one in found]) / std < 2.5
    near = [abs(one.center[0] - mean) < 2.0 * std for one in found]
    assert sum(near) >= 10  # of so noisy counts, some mislead


def test_values_apart_from_a_single_one_show_in_many_windows() -> None:
    found = [placed(flags(0.3), seed=seed) for seed in range(12)]
    wide = [one for one in found if not one.narrow[0]]
    assert len(wide) >= 8
    assert 0.2 < np.median([one.spread[0] for one in wide]) < 2.0


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_a_single_value_is_narrow(value: float) -> None:
    found = [placed(np.full(ROWS, value), seed=seed) for seed in range(8)]
    assert sum(bool(one.narrow[0]) for one in found) >= 6


def test_looks_end_with_what_they_may_cost() -> None:
    column = np.random.default_rng(0).normal(1e9, 1.0, ROWS)
    assert placed(column, most=0.15).narrow[0]  # two looks


def fitted(target: np.ndarray, *, seed: int, mu: float = 0.24) -> tuple[str, ...]:
    features = np.random.default_rng(seed).normal(size=(target.size, 2))
    curator = Curator(
        open_source(np.column_stack([features, target])),
        Budget(mu=mu),
        neighbors="replace",
        seed=seed,
    )
    return regression(curator).warnings


@pytest.mark.long
@pytest.mark.parametrize("rows", [250, 500, 4000])
def test_a_target_of_which_a_single_value_is_seen_is_said_to_be_that(rows: int) -> None:
    rare, often = flags(0.2 / np.sqrt(rows), rows), flags(0.5, rows)
    assert (
        sum(any(words.startswith(HIDDEN) for words in fitted(rare, seed=seed)) for seed in range(8))
        >= 6
    )
    assert (
        sum(
            any(words.startswith(HIDDEN) for words in fitted(often, seed=seed)) for seed in range(8)
        )
        <= 1
    )


@pytest.mark.parametrize("rows", [3, 20, 60, 150])
@pytest.mark.parametrize("features", [1, 12])
def test_few_rows_far_away_never_ask_for_more_than_the_budget(rows: int, features: int) -> None:
    rng = np.random.default_rng(rows)
    for target in (rng.normal(1e9, 1.0, rows), np.zeros(rows), flags(0.3, rows)):
        for mu in (0.01, 0.1, 0.5, 3.0):
            table = np.column_stack([rng.normal(-1e7, 1.0, (rows, features)), target])
            curator = Curator(open_source(table), Budget(mu=mu), neighbors="replace", seed=1)
            assert np.isfinite(regression(curator).intercept)


@pytest.mark.long
def test_columns_are_found_again_that_a_window_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few of many do, but one that is lost is off by thousands of deviations."""
    columns = np.random.default_rng(0).normal(23_000.0, 1.0, (ROWS, 150))

    def lost() -> int:
        found = 0
        for seed in range(12):
            budget = Budget(mu=np.sqrt(300.0) / (0.1 * ROWS * np.sqrt(0.05)))
            curator = Curator(open_source(columns), budget, neighbors="replace", seed=seed)
            view = SomeColumns(curator, np.arange(150))
            here = place(view, ROWS, magnitude_share=0.05, share=0.05, most=0.6)
            found += np.count_nonzero(here.spread > 1000.0)
        return found

    assert lost() <= 1
    monkeypatch.setattr(place_module, "_BEHIND", np.inf)  # a planted fault
    assert lost() >= 3


@pytest.mark.long
def test_columns_within_public_bounds_are_of_known_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise may hide whether most of a flag are 0 or 1, but never how large it is."""
    amounts = np.random.default_rng(0).normal(0.0, 1000.0, ROWS)
    columns = np.column_stack([*[flags(part) for part in (0.4, 0.5, 0.6, 0.6)], amounts])
    ends = np.array([0.0] * 4 + [-np.inf]), np.array([1.0] * 4 + [np.inf])
    budget = Budget(mu=np.sqrt(2.0 * 5) / (0.13 * ROWS * np.sqrt(0.15)))

    def found() -> list[Interval]:
        curators = [
            Curator(open_source(columns), budget, bounds=ends, seed=seed) for seed in range(40)
        ]
        return [locate_coarsely(curator, ROWS) for curator in curators]

    def lost(intervals: list[Interval]) -> int:
        return sum(np.count_nonzero(~np.asarray(one.found)[:4]) for one in intervals)

    assert not lost(found())
    monkeypatch.setattr(place_module, "_UNSURE", 0.0)  # as if each were hidden
    for one in found():
        np.testing.assert_allclose(one.center[:4], 0.5)
        np.testing.assert_allclose(one.half[:4], 0.5 * SCALES)
        assert not np.asarray(one.found)[4]
    monkeypatch.undo()
    monkeypatch.setattr(place_module, "_within_bounds", lambda interval, bounds: interval)
    assert lost(found()) > 5


def test_many_columns_are_not_lost_where_counts_are_as_coarse_as_they_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 200 to 230 columns all were lost, though of 240, which are searched otherwise, none."""

    def lost(columns: int) -> float:
        rows = np.random.default_rng(columns).normal(50.0, 10.0, (1000, columns))
        release = prolate.mean(rows, budget=Budget(epsilon=1, delta=1e-6), seed=columns)
        known = np.isfinite(release.noise_std) & (release.noise_std < 1e300)
        off = (release.estimate - rows.mean(axis=0))[known]
        assert not off.size or float(np.median(np.abs(off))) < 5.0  # half a deviation
        return 1.0 - float(np.mean(known))

    assert max(lost(columns) for columns in (200, 215, 230)) < 0.05
    monkeypatch.setattr(place_module, "_HOPELESS_OF_MANY", place_module._HOPELESS)
    assert lost(215) == 1.0
