"""Columns that are nearly constant: their search, side, gain under clipping, and shrinking."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import prolate
from prolate import Budget, demo
from prolate.curator import Curator
from prolate.estimators.asked import Asked
from prolate.estimators.clipping import stated as stated_module
from prolate.estimators.clipping.gains import Gains
from prolate.estimators.mean import mean
from prolate.estimators.search import zoom
from prolate.estimators.search.deviations import standing_out
from prolate.estimators.search.locate import locate
from prolate.estimators.shrink import shrink
from prolate.queries import RADIUS
from prolate.rivals import plan_binary
from prolate.sources import open_source

PART = 0.3 / np.arange(1, 41)


def sure_gains(one_sided: float = 1.0) -> Gains:
    return Gains(PART, PART**0.3, np.full(40, one_sided))


@pytest.mark.parametrize("tilt", [0.0, 0.3, 0.8])
def test_gains_average_to_what_the_norms_say_and_popular_columns_lose_least(tilt):
    gain = sure_gains().at(0.999, 0.9, tilt)
    assert np.average(gain, weights=PART**0.3) == pytest.approx(0.9)
    assert np.all(np.diff(gain) <= 0.0)
    assert np.all(gain <= 0.999)


def test_a_column_that_has_no_side_loses_what_all_rows_lose():
    assert sure_gains(0.0).at(0.97, 0.8) == pytest.approx(0.97)


@pytest.mark.parametrize(("tilt", "ratio"), [(0.1, 1.0), (0.6, 1.0), (0.3, 0.55), (0.3, 1.82)])
def test_two_sure_means_tell_the_gains(tilt, ratio):
    gains = sure_gains()
    true = gains.at(0.999, 0.95, tilt, ratio)
    once = PART * (1.0 - 0.15 * (0.999 - true))
    first, second = gains.likely(0.999, 0.95, once, PART * true, 3e-3 * PART)
    assert second == pytest.approx(true, abs=0.01)
    assert once / first == pytest.approx(PART, rel=0.002)


def test_two_means_that_are_all_noise_leave_the_guess():
    gains = sure_gains()
    _, second = gains.likely(0.999, 0.95, PART, PART, np.full(40, 1e6))
    assert second == pytest.approx(gains.at(0.999, 0.95), abs=0.01)


def sparse_rows(draw) -> np.ndarray:
    """20,000 rows of 60 columns, each nearly always 0."""
    rng = np.random.default_rng(0)
    often = 0.4 / np.arange(1, 61) ** 0.8
    return np.where(rng.random((20000, 60)) < often, draw(rng, (20000, 60)), 0.0)


def radii_apart(rows: np.ndarray, neighbors: str = "replace") -> float:
    """The sensitivity of the last sum, over its radius."""
    curator = Curator(open_source(rows), prolate.Budget(rho=0.5), neighbors=neighbors, seed=0)
    mean(curator, Asked(1.0))
    return curator.receipt[-1].sensitivity / RADIUS


def test_rows_that_deviate_to_one_side_cost_half():
    ones = sparse_rows(lambda rng, shape: np.ones(shape))
    assert radii_apart(ones) == pytest.approx(2**0.5)
    assert radii_apart(-ones) == pytest.approx(2**0.5)
    assert radii_apart(np.hstack([ones[:, :40], 1.0 - ones[:, 40:]])) == pytest.approx(2**0.5)
    assert radii_apart(sparse_rows(lambda rng, shape: rng.exponential(size=shape))) < 1.5
    assert radii_apart(ones, "add-remove") == 1.0


def test_rows_that_deviate_to_both_sides_do_not():
    both = sparse_rows(lambda rng, shape: rng.choice([-1.0, 1.0], size=shape))
    assert radii_apart(both) == 2.0


def looked(rows, **options) -> tuple[list[str], prolate.Release]:
    """The searches for values on the other side, and the release."""
    release = prolate.mean(rows, budget=prolate.Budget(rho=0.5), seed=1, **options)
    label = "rare values on the other side"
    return [step.query for step in release.receipt if step.label == label], release


def test_bounds_that_leave_no_room_for_another_side_are_not_asked_about():
    rows = (np.random.default_rng(0).random((8000, 40)) < 0.02) * 1.0
    for bounds, times in (((0.0, 1.0), 0), ((-1.0, 1.0), 1), (None, 1)):
        queries, release = looked(rows, bounds=bounds)
        assert len(queries) == times
        assert release.details["one_sided"]
    queries, release = looked(1.0 - rows, bounds=(0.0, 1.0))  # they deviate down, from 1
    assert not queries
    assert release.details["one_sided"]


def test_many_rows_of_both_sides_show_it_in_a_sample():
    rng = np.random.default_rng(0)
    rows = (rng.random((150_000, 40)) < 0.02) * rng.choice([-1.0, 1.0], (150_000, 40))
    queries, release = looked(rows)
    assert len(queries) == 2
    assert all("of a random sample of" in query for query in queries)
    assert "one_sided" not in release.details
    queries, release = looked(np.abs(rows))
    assert ["sample" in query for query in queries] == [True, False]
    assert release.details["one_sided"]


def test_common_and_wide_columns_beside_rare_ones_are_right():
    """Items that half of the rows have, one that nearly all have, and one of normal numbers."""
    rng = np.random.default_rng(0)
    rows = sparse_rows(lambda rng, shape: np.ones(shape))
    rows[:, 0] = rng.random(20000) < 0.5
    rows[:, 1] = rng.random(20000) < 0.95
    rows[:, 2] = rng.normal(50.0, 3.0, 20000)
    for seed in range(5):
        release = prolate.mean(rows, budget=prolate.Budget(rho=0.25), error_norm=1, seed=seed)
        error = np.abs(release.estimate - rows.mean(axis=0))
        assert error[:2].max() < 0.005
        assert error[2] < 0.05


def categories(rows: int, sizes: list[int]) -> np.ndarray:
    """Flags of variables of so many categories each, which are of unlike frequency."""
    rng = np.random.default_rng(3)
    parts = [rng.dirichlet(np.full(size, 1.5)) for size in sizes]
    return np.hstack([np.eye(part.size)[rng.choice(part.size, rows, p=part)] for part in parts])


def test_noise_of_the_first_lengths_does_not_move_popular_columns():
    """Rows of nine ones each, a few of which are longer: noise may seem to be their tail."""
    rows = categories(6000, [7] * 8)
    yes = np.random.default_rng(5).random((6000, 1)) < 0.06
    rows = np.hstack([rows, yes, ~yes])
    truth, budget = rows.mean(axis=0), prolate.Budget(rho=0.5)
    found = [
        prolate.mean(rows, budget=budget, error_norm=1, seed=seed).estimate for seed in range(8)
    ]
    off = np.array(found) @ truth / (truth @ truth) - 1.0
    assert np.mean(np.abs(off)) < 0.006


def test_few_categories_lose_no_more_by_clipping_than_noise_adds():
    """Where rows are clipped around their mean, of which their lengths do not tell."""
    rows, budget = categories(4600, [10, 12]), prolate.Budget(rho=3)
    squares = []
    for seed in range(12):
        release = prolate.mean(rows, budget=budget, neighbors="add-remove", seed=seed)
        error, noise = release.estimate - rows.mean(axis=0), release.noise_std
        squares.append(np.sum(error**2) / np.sum(noise**2))
    assert np.mean(squares) < 1.5


@pytest.mark.long
@pytest.mark.parametrize("rho", [0.125, 0.0625])
def test_items_of_half_the_rows_are_not_lost_where_rows_are_few(rho):
    """Counts are noisy by a tenth of the rows here."""
    often = np.where(np.arange(512) < 51, 0.5, 0.01)
    rows = scipy.sparse.csr_array((np.random.default_rng(0).random((4096, 512)) < often) * 1.0)
    truth, source = rows.mean(axis=0), open_source(rows)
    found = [
        mean(Curator(source, prolate.Budget(rho=rho), seed=seed), Asked(1.0)).value
        for seed in range(60, 90)
    ]
    error = np.abs(np.array(found) - truth).sum(axis=1)
    assert error.max() < 1.5 * np.median(error)


@pytest.mark.parametrize("median", [False, True])
def test_shrinking_finds_what_columns_have_in_common(median):
    rng = np.random.default_rng(0)
    noise = np.exp(rng.normal(0.0, 0.3, 800))
    truth = np.where(np.arange(800) < 40, 1000.0, 9.0)
    moved = truth + noise * rng.normal(size=800)
    shrunk = shrink(moved, noise, median=median)
    assert np.array_equal(shrunk[:40], moved[:40])  # these stand out
    assert np.abs(shrunk - truth)[40:].mean() < 0.5 * np.abs(moved - truth)[40:].mean()


def test_shrinking_leaves_few_columns_alone():
    moved = np.linspace(-1.0, 1.0, 15)
    assert shrink(moved, np.ones(15), median=True) is moved


def test_columns_of_two_values_are_never_taken_for_nearly_constant_wide_ones():
    """Where one value has about the 70 % of the rows that a bulk must have."""
    often = np.linspace(0.3, 0.42, 60)
    rows = (np.random.default_rng(0).random((10000, 60)) < often).astype(float)
    for seed in range(10):
        curator = Curator(open_source(rows), prolate.Budget(rho=0.125), seed=seed)
        found = locate(curator, 10000.0, magnitude_share=0.0064, share=0.0131)
        assert np.all(found.narrow | (found.half > 0.05))


@pytest.mark.parametrize("rho", [1.0, 0.125])
def test_baskets_of_very_different_sizes(rho):
    """Long baskets lose most by clipping; the popular items tell how much."""
    rng = np.random.default_rng(1)
    often = 0.3 / np.arange(1, 151) ** 0.8
    factor = rng.exponential(size=(20000, 1))
    rows = (rng.random((20000, 150)) < factor * often).astype(float)
    truth, ours, theirs = rows.mean(axis=0), [], []
    for seed in range(5):
        budget = prolate.Budget(rho=rho)
        estimate = prolate.mean(rows, budget=budget, error_norm=1, seed=seed).estimate
        ours.append(np.abs(estimate - truth).sum())
        curator = Curator(open_source(rows), budget, seed=seed)
        theirs.append(np.abs(plan_binary(curator).value - truth).sum())
    assert np.mean(ours) < 0.75 * np.mean(theirs)


def test_amounts_of_a_single_column_of_zeros_are_found() -> None:
    # Spread over octaves, no octave of them stands out of the noise by itself.
    errors = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rows = np.where(rng.random(2000) < 0.6, 0.0, rng.exponential(50.0, 2000))[:, np.newaxis]
        release = prolate.mean(rows, budget=prolate.Budget(epsilon=1, delta=1e-6), seed=seed)
        errors.append(abs(float(release.estimate[0]) / rows.mean() - 1.0))
    assert max(errors) < 0.4
    assert np.median(errors) < 0.2


def amounts(part: float) -> list[tuple[float, bool]]:
    """Relative errors of means of 2,000 amounts, a part of which is 0, and whether they warn."""
    budget, found = prolate.Budget(epsilon=1, delta=1e-6), []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rows = np.where(rng.random(2000) < part, 0.0, rng.exponential(50.0, 2000))[:, np.newaxis]
        release = prolate.mean(rows, budget=budget, seed=seed)
        found.append((abs(release.estimate[0] / rows.mean() - 1.0), bool(release.warnings)))
    return found


def test_amounts_of_one_row_in_ten_are_found() -> None:
    assert np.median([error for error, _ in amounts(0.9)]) < 0.5


def test_where_amounts_are_hidden_the_release_says_so() -> None:
    assert sum(error > 0.99 for error, _ in amounts(0.985)) >= 4
    assert all(warned for error, warned in amounts(0.985) if error > 0.99)


@pytest.mark.parametrize("value", [0.0, 7.25])
def test_columns_of_a_single_value_say_what_noise_hides(value) -> None:
    budget = prolate.Budget(epsilon=1, delta=1e-6)
    release = prolate.mean(np.full((2000, 2), value), budget=budget, seed=0)
    assert release.estimate == pytest.approx(value, abs=1e-6)
    (warning,) = release.warnings
    assert "Each column showed a single value." in warning
    hidden = float(warning.split("about ")[1].split(" %")[0]) / 100
    seen = np.where(np.arange(2000)[:, np.newaxis] < 1.6 * hidden * 2000, value + 1.0, value)
    found = prolate.mean(seen, budget=budget, seed=0)
    assert not any("a single value" in warning for warning in found.warnings)


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_intervals_hold_flags_of_rows_that_noise_hides(columns, neighbors, monkeypatch) -> None:
    """One of 40 in 20,000 rows had an interval 1e-142 wide, around 2e-143."""
    budget = prolate.Budget(epsilon=1, delta=1e-6)

    def held(bulk: float, step: float) -> bool:
        rows = np.full((20_000, columns), bulk)
        rows[:30] += step
        found = prolate.mean(rows, budget=budget, neighbors=neighbors, seed=1)
        if not any("Each column showed a single value." in said for said in found.warnings):
            assert neighbors == "add-remove"  # noise is half of what it is for replace
            return True
        if bulk == 0.0:
            assert np.all(found.estimate == 0.0)
            assert "e-" not in str(found).split("warning")[0].split("x0")[1].split()[0]
        low, high = np.moveaxis(found.interval(0.95), -1, 0)
        assert np.all(high - low < 0.01)
        return bool(np.all((low <= rows.mean(axis=0)) & (rows.mean(axis=0) <= high)))

    cases = [(0.0, 1.0), (40.0, 1.0), (1.0, -1.0), (0.37, 0.3)]
    assert all(held(*case) for case in cases)
    monkeypatch.setattr(stated_module, "_MAY", 0.0)  # a planted fault
    assert neighbors == "add-remove" or not any(held(*case) for case in cases)


def test_cells_stand_out_alone_in_runs_and_beside_others() -> None:
    rng = np.random.default_rng(0)
    noise = 10.0
    false = [standing_out(noise * rng.standard_normal(600), noise).any() for _ in range(300)]
    assert not any(false)
    counts = np.zeros(600)
    counts[300:304] = [40.0, 45.0, 42.0, 35.0]  # each within 4.5 standard deviations
    found = [standing_out(counts + noise * rng.standard_normal(600), noise) for _ in range(50)]
    assert np.mean([seen[300:304].all() for seen in found]) > 0.6
    assert np.mean([seen[[*range(290), *range(314, 600)]].any() for seen in found]) < 0.1


AT = (20, 21)


@pytest.mark.parametrize("bulk", [0.0, 1.0])
def test_a_bulk_at_a_bound_takes_one_look(bulk, monkeypatch) -> None:
    """Values at a bound are what the first window leaves outside."""
    rows = np.abs(bulk - (np.random.default_rng(0).random((8000, 40)) < 0.02))

    def looks() -> float:
        found = []
        for seed in range(5):  # noise may hide one of the columns' bulk, which is looked for then
            made = prolate.mean(20.0 + rows, budget=prolate.Budget(rho=0.5), seed=seed, bounds=AT)
            assert np.max(np.abs(made.estimate - 20.0 - rows.mean(axis=0))) < 0.01
            found.append(sum(step.label.startswith("location") for step in made.receipt))
        return float(np.median(found))

    assert looks() == 1
    monkeypatch.setattr(zoom, "_SURE", np.inf)
    assert looks() > 1


def test_two_bounds_that_rows_share_take_one_look(monkeypatch) -> None:
    """The more frequent one was told for a single value, which was looked at to the last bit."""
    rows = np.random.default_rng(0).random((20_000, 5)) < 0.55

    def looks() -> list[int]:
        found = []
        for seed in range(5):
            made = prolate.mean(rows, budget=prolate.Budget(epsilon=1, delta=1e-6), seed=seed)
            assert np.max(np.abs(made.estimate - rows.mean(axis=0))) < 0.01
            found.append(sum(step.label.startswith("location") for step in made.receipt))
        return found

    assert np.median(looks()) == 1
    monkeypatch.setattr(zoom, "_BOTH", 0.0)
    assert np.median(looks()) > 1


def test_magnitudes_are_not_searched_where_bounds_leave_zero_out() -> None:
    rows = np.random.default_rng(0).uniform(1900.0, 2000.0, (2000, 3))
    for bounds, wanted in (((1850.0, 2050.0), False), ((0.0, 2050.0), True)):
        made = prolate.mean(rows, budget=prolate.Budget(rho=0.5), seed=1, bounds=bounds)
        assert any(step.label == "magnitude" for step in made.receipt) == wanted


@pytest.mark.long
def test_a_skewed_column_beside_rare_ones_is_summed_and_accounted_for_by_itself() -> None:
    """Doctor visits beside flags: summed with them, half of their intervals missed."""
    budget, true, held = Budget(epsilon=1, delta=1e-6), demo.true_means()[0], 0
    for seed in range(30):
        with demo.rand_hie() as path:
            release = prolate.mean(str(path), budget=budget, columns=list(demo.COLUMNS), seed=seed)
        low, high = release.interval(0.95)[0]
        held += low <= true <= high
    assert held >= 24
