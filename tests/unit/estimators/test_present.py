"""Missing values: columns are seen as if none were."""

from __future__ import annotations

import numpy as np
import pytest

import prolate
from prolate import Budget, InputError
from prolate.curator import Curator
from prolate.estimators import present
from prolate.estimators.columns import SomeColumns
from prolate.estimators.present import (
    PresentRows,
    PresentView,
    Whole,
    find_present,
    present_view,
    whole_rows,
)
from prolate.estimators.rotation import AxesCurator
from prolate.estimators.search import magnitudes
from prolate.estimators.within_bounds import mean_within
from prolate.queries import ClippedSum, Count, Histogram, LinearGrid, NormHistogram, Products
from prolate.sources import open_source

N = 20_000
PLENTY = Budget(mu=1000)


def table(missing: list[float], seed: int = 0) -> np.ndarray:
    """Return normal columns around 170, parts of which are missing."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(170.0, 10.0, (N, len(missing)))
    rows[rng.random(rows.shape) < missing] = np.nan
    return rows


@pytest.mark.parametrize("missing", [[0.5], [0.6], [0.0, 0.5, 0.1]])
@pytest.mark.parametrize("statistic", ["mean", "variance"])
def test_missing_values_are_left_out(missing, statistic, monkeypatch) -> None:
    rows = table(missing)
    true = np.nanmean(rows, axis=0) if statistic == "mean" else np.nanvar(rows, axis=0)

    def off() -> float:
        budget = Budget(epsilon=1, delta=1e-6)
        made = [getattr(prolate, statistic)(rows, budget=budget, seed=seed) for seed in range(5)]
        unit = 10.0 if statistic == "mean" else 100.0
        return float(np.median([np.max(np.abs(each.estimate - true)) / unit for each in made]))

    assert off() < (0.02 if statistic == "mean" else 0.1)
    # The same test fails if they count as no deviation from the center.
    none = None, np.zeros(len(missing), dtype=bool)
    monkeypatch.setattr(magnitudes, "find_present", lambda *_: none)
    assert off() > (0.02 if statistic == "mean" else 0.1)


def test_intervals_of_columns_of_which_half_is_missing_hold() -> None:
    held = []
    for seed in range(20):
        made = prolate.mean(
            table([0.5, 0.2], seed), budget=Budget(epsilon=1, delta=1e-6), seed=seed
        )
        low, high = made.interval()[:, 0], made.interval()[:, 1]
        held.append((low <= 170.0) & (high >= 170.0))
    assert np.mean(held) > 0.8


def test_a_column_without_values_is_said_to_have_none_and_costs_others_nothing() -> None:
    rows = table([0.0, 1.0])
    budget = Budget(epsilon=1, delta=1e-6)
    for statistic in (prolate.mean, prolate.variance):
        made, alone = (statistic(x, budget=budget, seed=1) for x in (rows, rows[:, :1]))
        assert present.MISSING in made.warnings
        assert made.noise_std[1] > 1e300
        assert made.noise_std[0] < 2.0 * alone.noise_std[0]
    assert present.MISSING not in prolate.mean(table([0.0]), budget=budget, seed=1).warnings


def test_nothing_is_asked_where_nothing_is_missing() -> None:
    made = prolate.mean(table([0.0, 0.0]), budget=Budget(rho=0.5), seed=1)
    assert "present" not in [each.label for each in made.receipt]


def test_a_column_is_of_the_rows_that_it_is_in() -> None:
    rows = table([0.5])
    there = rows[np.isfinite(rows[:, 0])]
    center, one = np.array([165.0]), np.array([10.0])
    queries = [
        ClippedSum(center, one, 2.0),
        ClippedSum(center, one, 2.0, missing=np.array([7.0])),
        NormHistogram(center, 1.0 / one, np.array([0.5, 1.0, 2.0])),
        Histogram(LinearGrid(np.array([100.0]), np.array([10.0]), 14), missing=True),
        Count(1),
    ]
    for query in queries:
        view = PresentRows(
            Curator(open_source(rows), PLENTY, seed=1), float(N), float(N - len(there))
        )
        found = view.measure(query, share=0.1, label="all").values
        alone = Curator(open_source(there), PLENTY, seed=1)
        expected = alone.measure(query, share=0.1, label="all").values
        assert np.allclose(found, expected, atol=1e-3 * np.max(np.abs(expected)))


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_mean_from_bounds_is_of_the_rows_that_the_column_is_in(neighbors) -> None:
    rows = table([0.8])
    there = rows[np.isfinite(rows[:, 0])]
    bounds = np.zeros(1), np.full(1, 1000.0)
    curator = Curator(open_source(rows), PLENTY, neighbors=neighbors, seed=1, bounds=bounds)
    view = PresentRows(curator, float(N), float(N - len(there)))
    found = mean_within(view, rows=float(len(there)), error_norm=2.0)
    assert abs(found.value[0] - np.mean(there)) < 0.1
    assert abs(found.rows - len(there)) < 10.0


@pytest.mark.long
@pytest.mark.parametrize("statistic", ["mean", "variance"])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_column_of_which_most_is_missing_is_as_good_as_its_values_alone(
    statistic, neighbors
) -> None:
    rng = np.random.default_rng(0)
    off, alone, held = [], [], []
    for seed in range(40):  # of ten, the ratio is anything from .4 to 2.4
        there = (rng.random((2000, 1)) < 0.15) * 1.0  # flags
        rows = np.full((N, 1), np.nan)
        rows[rng.permutation(N)[:2000]] = there
        true = np.mean(there) if statistic == "mean" else np.var(there)
        for errors, table in ((off, rows), (alone, there)):
            made = getattr(prolate, statistic)(
                table, budget=Budget(rho=0.25), neighbors=neighbors, seed=seed
            )
            errors.append(abs(made.estimate[0] - true))
        noise = np.hypot(made.noise_std[0], made.clipping_std[0])
        held.append(off[-1] < 3.0 * noise)
    # Without a view of these rows alone, errors are 6 to 20 times as large.
    assert np.sqrt(np.mean(np.square(off))) < 2.0 * np.sqrt(np.mean(np.square(alone)))
    assert np.mean(held) > 0.8


def test_columns_missing_together_are_as_good_as_their_rows_alone() -> None:
    off, alone, held = [], [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        there = rng.lognormal(0.0, 0.8, (12_000, 4))
        rows = np.full((60_000, 4), np.nan)
        rows[rng.permutation(60_000)[:12_000]] = there
        for errors, table in ((off, rows), (alone, there)):
            made = prolate.mean(table, budget=Budget(rho=0.06), seed=seed)
            errors.append(np.linalg.norm(made.estimate - np.mean(there, axis=0)))
            noise = np.hypot(made.noise_std, made.clipping_std)
            if table is rows:
                held.append(np.abs(made.estimate - np.mean(there, axis=0)) < 2.0 * noise)
    # Twice as far off, and 7 intervals of 10 hold, if these rows are among those of length 0.
    assert np.sqrt(np.mean(np.square(off))) < 1.5 * np.sqrt(np.mean(np.square(alone)))
    assert np.mean(held) > 0.9


def test_a_column_apart_is_as_good_as_its_values_alone() -> None:
    off, alone = [], []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        rows = rng.normal(2.0, 1.0, (7500, 3))
        rows[:, 0] = np.nan
        rows[rng.permutation(7500)[:1500], 0] = 1000.0 * rng.exponential(1.0, 1500)
        there = rows[np.isfinite(rows[:, 0])]
        for errors, table in ((off, rows), (alone, there)):
            made = prolate.mean(table, budget=Budget(rho=0.5), seed=seed)
            assert made.details["columns_apart"] == 1
            errors.append(made.estimate[0] - np.mean(there[:, 0]))
    # Among rows of all columns it is 2.3 times as far off.
    assert np.sqrt(np.mean(np.square(off))) < 1.5 * np.sqrt(np.mean(np.square(alone)))


def test_far_values_of_a_column_are_seen_where_most_of_it_is_missing() -> None:
    apart = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rows = rng.normal(2.0, 1.0, (7500, 4))
        rows[:, 0] = np.nan
        rows[rng.permutation(7500)[:1500], 0] = rng.lognormal(0.0, 2.0, 1500)
        made = prolate.mean(rows, budget=Budget(rho=0.5), seed=seed)
        apart.append(made.details.get("columns_apart", 0))
    assert np.mean(apart) >= 0.5  # 0 if looks are planned for as many rows as the table has


def test_columns_of_which_much_is_missing_are_scaled_for_less_noise() -> None:
    missing = [0.0, 0.8, 0.0, 0.8, 0.0, 0.8]
    made = prolate.mean(table(missing), budget=Budget(rho=0.5), seed=1)
    ratio = np.mean(made.noise_std[1::2]) / np.mean(made.noise_std[::2])
    assert 3.0 < ratio < 4.2  # 5 if all are scaled alike


def test_what_is_asked_of_axes_is_of_the_values_that_are_there() -> None:
    rows = table([0.0, 0.0, 0.0])
    whole = rows[: N // 2].copy()
    rows[N // 2 :] = np.nan
    rows[: N // 4, 0] = np.nan  # half of the others
    curator = Curator(open_source(rows), PLENTY, seed=1)
    part = np.array([0.5, 1.0, 1.0])
    view = PresentView(PresentRows(curator, float(N), N / 2.0), N / 2.0, part)
    ten, center, off = np.full(3, 10.0), np.full(3, 165.0), np.full(3, 2.0)
    turn = np.linalg.qr(np.arange(9.0).reshape(3, 3) + np.eye(3))[0]
    axes = AxesCurator(view, center, turn, ten, part)
    there = (np.nanmean(rows, axis=0) - center) @ turn  # in turned coordinates
    sums = ClippedSum(off, ten, 100.0)
    found = axes.measure(sums, share=0.01, label="sum")
    np.testing.assert_allclose(off + sums.unit * found.values / (N / 2.0), there, atol=0.03)

    axes = AxesCurator(PresentRows(curator, float(N), N / 2.0), center, turn, ten)
    rows[: N // 4, 0] = whole[: N // 4, 0]  # a view of this array
    ones, edges = np.ones(6), np.linspace(0.01, 5.0, 8)
    for query in (ClippedSum(ten**2, ten, 1000.0, about=off), NormHistogram(off, ten / 100, edges)):
        found = axes.measure(query, share=0.01, label="turned")
        wanted = query((whole - center) @ turn)
        np.testing.assert_allclose(found.values, wanted, atol=8.0 * found.std + 1e-6 * N)
    products = Products(ClippedSum(ones, ones, 1000.0), center, ten)
    found = axes.curator.measure(products, share=0.01, label="products")
    np.testing.assert_allclose(found.values, products(whole), atol=8.0 * found.std)


def test_a_center_that_is_far_off_is_not_the_value_of_those_that_are_missing() -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows = 50.0 + 10.0 * rng.normal(size=(60_000, 1)) + 3.0 * rng.normal(size=(60_000, 4))
        rows[:, 2] = 7.0
        rows[::3] = np.nan
        made = prolate.mean(rows, budget=Budget(mu=1), rotation="auto", center=50.0, seed=seed)
        assert made.details["rotated"]
        assert abs(made.estimate[2] - 7.0) < 4.0 * made.noise_std[2]


@pytest.mark.parametrize("missing", ["together", "alone"])
def test_columns_with_missing_values_are_summed_along_their_axes(missing: str) -> None:
    errors: dict[str | None, list[float]] = {None: [], "auto": []}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows = 50.0 + rng.normal(size=(200_000, 1)) + 0.3 * rng.normal(size=(200_000, 6))
        shape = (200_000, 1) if missing == "together" else rows.shape
        rows[np.broadcast_to(rng.random(shape) < 0.4, rows.shape)] = np.nan
        true = np.nanmean(rows, axis=0)
        for rotation, found in errors.items():
            made = prolate.mean(rows, budget=Budget(mu=0.5), rotation=rotation, seed=seed)
            assert made.details.get("rotated", False) == (rotation == "auto")
            found.append(float(np.linalg.norm(made.estimate - true)))
            assert np.all(np.abs(made.estimate - true) < 5.0 * made.noise_std)
    assert np.linalg.norm(errors["auto"]) < 0.9 * np.linalg.norm(errors[None])


def test_a_release_has_as_many_rows_as_its_table() -> None:
    for statistic in (prolate.mean, prolate.variance):
        for missing in ([0.5], [0.5, 0.6]):
            assert statistic(table(missing), budget=Budget(rho=0.5), seed=1).n == N


def test_sums_and_counts_are_divided_by_the_part_that_is_there() -> None:
    rows = table([0.5, 0.0])
    curator = Curator(open_source(rows), PLENTY, seed=1)
    part, absent = find_present(curator, float(N))
    assert part is not None
    np.testing.assert_allclose(part, [np.isfinite(rows[:, 0]).mean(), 1.0], atol=1e-3)
    assert not absent.any()
    view = present_view(curator, float(N), part)
    assert present_view(curator, float(N), None) is curator

    missing = np.array([30.0, 30.0])  # each counts as 200
    for query in (
        ClippedSum(np.full(2, 170.0), np.full(2, 10.0), 100.0),
        ClippedSum(np.full(2, 170.0), np.full(2, 10.0), 100.0, missing=missing),
    ):
        found = view.measure(query, share=0.01, label="sum")
        mean = query.unit * found.values / N
        others = 0.0 if query.missing is None else 30.0
        wanted = others + np.nanmean(rows - 170.0 - others, axis=0)
        np.testing.assert_allclose(mean, wanted, atol=0.01)
        np.testing.assert_allclose(found.noise, np.array([2.0, 1.0]) * found.std / 2.0, rtol=0.05)
        one = SomeColumns(view, np.array([0])).measure(
            ClippedSum(query.center[:1], query.scale[:1], 100.0), share=0.01, label="one"
        )
        np.testing.assert_allclose(
            query.unit[0] * one.values / N, np.nanmean(rows[:, 0] - 170.0), atol=0.01
        )

    grid = LinearGrid(np.full(2, 150.0), np.full(2, 10.0), 4)
    counts = view.measure(Histogram(grid), share=0.01, label="counts").values.reshape(2, -1)
    np.testing.assert_allclose(counts.sum(axis=1), N, rtol=0.01)
    assert isinstance(view, PresentView)
    assert view.measure(Histogram(grid, missing=True), share=0.01, label="c").values.size == 14


def test_missing_values_have_a_cell_of_their_own() -> None:
    rows = np.array([[1.0, np.nan], [np.inf, 2.0], [3.0, np.nan]])
    query = Histogram(LinearGrid(np.zeros(2), np.ones(2), 4), missing=True)
    counts = query(rows).reshape(query.shape)
    assert counts[:, -1].tolist() == [1, 2]
    assert counts.sum(axis=1).tolist() == [3, 3]
    plain = Histogram(query.grid)
    assert counts[:, :-1].ravel().tolist() == plain(rows).tolist()
    for neighbors in ("replace", "add-remove"):
        assert query.sensitivity_squared(neighbors) == plain.sensitivity_squared(neighbors)


def test_rows_with_missing_values_are_left_out_of_slopes() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal([0.0, 5.0], [1.0, 2.0], (N, 2))
    y = x @ [2.0, -1.0] + 3.0 + rng.normal(size=N)
    rows = np.column_stack([x, y])
    rows[rng.random(N) < 0.3, 2] = np.nan
    rows[rng.random(N) < 0.2, 0] = np.inf
    empty = np.column_stack([np.full(N, np.nan), rows])  # a feature of which nothing is known
    for table_, slopes in ((rows, [2.0, -1.0]), (empty, [0.0, 2.0, -1.0])):
        made = prolate.regress(table_, f"x{table_.shape[1] - 1}", budget=Budget(rho=1), seed=1)
        assert made.estimate[: len(slopes)] == pytest.approx(slopes, abs=0.05)
        assert made.n == N


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_whole_rows_are_counted(neighbors) -> None:
    def found(rows: np.ndarray) -> tuple[Curator, Whole]:
        curator = Curator(open_source(rows), PLENTY, neighbors=neighbors, seed=1)
        return curator, whole_rows(curator)

    curator, same = found(table([0.0, 0.0]))
    assert same.curator is curator
    assert same.rows == same.every == pytest.approx(N, abs=1)
    assert same.noise == (0.0 if neighbors == "replace" else curator.receipt[0].std)
    holes = table([0.5, 0.2])
    curator, whole = found(holes)
    assert whole.curator is not curator
    assert 0.5 * curator.receipt[-1].std < whole.noise < curator.receipt[-1].std
    assert whole.rows == pytest.approx(np.isfinite(holes).all(axis=1).sum(), abs=3)
    assert whole.every == pytest.approx(N, abs=1)
    assert not whole.absent.any()
    with pytest.raises(InputError, match="private"):
        whole.curator.public_rows()
    # A column without values leaves the others' rows.
    _, whole = found(table([0.5, 1.0]))
    assert whole.rows == pytest.approx(N / 2, rel=0.02)
    assert whole.absent.tolist() == [False, True]
    _, whole = found(np.full((50, 2), np.nan))
    assert whole.absent.all()


@pytest.mark.parametrize("bounds", [None, (-100.0, 300.0)])
@pytest.mark.parametrize("part", [0.2, 0.08, 0.02, 0.002, 0.0])
def test_columns_with_few_values_are_told_by_their_rows_or_unknown(part: float, bounds) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(50.0, 10.0, N)
    y = np.where(rng.random(N) < part, 2.0 * x + rng.normal(0.0, 5.0, N), np.nan)
    rows = np.column_stack([x, y])
    line = prolate.regress(rows, "x1", budget=Budget(mu=2), bounds=bounds, seed=1)
    found = prolate.covariance(rows, budget=Budget(mu=2), bounds=bounds, seed=1)
    # Not from rows of which most have no target: their line is flat.
    if part > 0.01:
        assert line.interval(0.9999)[0, 0] < 2.0 < line.interval(0.9999)[0, 1]
        assert found.interval(0.9999)[0, 1, 0] < 200.0 < found.interval(0.9999)[0, 1, 1]
        assert max(line.noise_std[0], found.noise_std[0, 1] / 100.0) < 0.3
    else:
        assert np.isinf(line.interval()).all()
        assert np.isinf(found.interval()[1, :, 1]).all()
        assert any("Nearly all values of the target are missing" in said for said in line.warnings)
        assert present.MISSING in found.warnings
    # What does not need the column is known.
    assert found.interval(0.9999)[0, 0, 0] < 100.0 < found.interval(0.9999)[0, 0, 1]


@pytest.mark.parametrize("bounds", [None, (0.0, 10.0)])
def test_nothing_is_known_of_columns_without_values(bounds) -> None:
    empty = np.full((20_000, 3), np.nan)
    for found in (
        prolate.covariance(empty, budget=Budget(mu=1), bounds=bounds, seed=0),
        prolate.regress(empty, "x2", budget=Budget(mu=1), bounds=bounds, seed=0),
    ):
        assert np.isinf(found.interval()[..., 1]).all()
        assert all("Nearly all values" in said for said in found.warnings)


def test_few_rows_of_many_columns_are_not_taken_for_missing() -> None:
    """Where counts are noisy, columns are told by what they have in common."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(900, 300))
    rows[rng.random(rows.shape) < 0.4] = np.nan
    curator = Curator(open_source(rows), Budget(rho=0.5), seed=1)
    part, absent = find_present(curator, 900.0, np.full(300, 360.0), 40.0)
    assert part is not None
    assert not absent.any()
    assert part.mean() == pytest.approx(0.6, abs=0.03)
    assert part.min() > 0.4
    assert present.MISSING not in prolate.mean(rows, budget=Budget(rho=0.5), seed=1).warnings


def test_a_part_of_a_table_is_not_missing_again() -> None:
    rows = table([0.5, 0.0])
    curator = Curator(open_source(rows), PLENTY, seed=1)
    view = PresentView(curator, float(N), np.array([0.5, 1.0]))
    query = Histogram(LinearGrid(np.full(2, 150.0), np.full(2, 10.0), 4), missing=True)
    found = view.measure(query, share=0.01, label="c").values.reshape(query.shape)
    assert np.all(np.abs(found[:, -1]) < 0.02 * N)
    np.testing.assert_allclose(found[:, :-1].sum(axis=1), N, rtol=0.02)


def test_a_question_that_few_answered_costs_others_nothing() -> None:
    """Nine values in ten are missing: counts of the others are ten times as noisy."""
    off, errors = [], []
    for seed in range(9):
        rng = np.random.default_rng(seed)
        rows = rng.normal([10.0, 50.0], 2.0, (5000, 2))
        rows[rng.random(5000) < 0.9, 0] = np.nan
        made = prolate.mean(rows, budget=Budget(mu=1), seed=seed)
        off.append(np.abs(made.estimate - np.nanmean(rows, axis=0)) / 2.0)
        errors.append(made.sampling_std / (2.0 / np.sqrt([500.0, 5000.0])))
        assert present.MISSING not in made.warnings
    assert np.all(np.median(off, axis=0) < [0.1, 0.01])  # 2 before shares followed the part
    assert np.all(np.median(errors, axis=0) < 1.4)  # 12 and 6
