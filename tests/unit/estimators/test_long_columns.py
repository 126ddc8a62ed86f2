"""One skewed column that makes most of the long rows is summed by itself."""

from importlib import import_module

import numpy as np
import pytest

import prolate
from prolate import Budget

RUNS = 12
BUDGET = Budget(rho=0.5)


@pytest.fixture(autouse=True)
def _without_counts_of_each_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where columns are many, or their counts are noisy."""
    module = import_module("prolate.estimators.tables")
    monkeypatch.setattr(module, "find_kinds", lambda *_: None)


def table(seed: int, kind: str, *, rows: int = 6_000) -> np.ndarray:
    """Return seven uniform columns, and before them one of the same standard deviation."""
    rng = np.random.default_rng(seed)
    made = {
        "skewed": lambda: np.exp(0.6 * rng.normal(size=rows)) / 0.79,
        "uniform": lambda: rng.uniform(size=rows) * np.sqrt(12.0),
        "flags": lambda: 2.0 * (rng.random(rows) < 0.5),
    }
    others = rng.uniform(size=(rows, 7)) * np.sqrt(12.0)
    return np.column_stack([made[kind](), others])


def errors_of(kind: str) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return errors, what is stated of them, and how many columns were summed by themselves."""
    errors, stated, apart = [], [], []
    for seed in range(RUNS):
        rows = table(seed, kind)
        made = prolate.mean(rows, budget=BUDGET, seed=seed)
        errors.append(made.estimate - rows.mean(axis=0))
        stated.append(np.hypot(made.noise_std, made.clipping_std))
        apart.append(made.details.get("columns_apart", 0))
    return np.array(errors), np.array(stated), apart


def test_a_skewed_column_among_flat_ones_is_summed_by_itself() -> None:
    errors, stated, apart = errors_of("skewed")
    assert sum(apart) >= RUNS - 2
    # Together they had .0125, most of it the skewed column's, and 4 of 12 intervals of it held.
    assert np.sqrt(np.mean(np.sum(errors**2, axis=1))) < 0.0085
    assert np.mean(np.abs(errors[:, 0]) < 1.96 * stated[:, 0]) >= 0.8
    assert np.mean(np.abs(errors) < 1.96 * stated) >= 0.9


@pytest.mark.parametrize("kind", ["uniform", "flags"])
def test_columns_that_are_not_skewed_are_summed_together(kind: str) -> None:
    assert errors_of(kind)[2] == [0] * RUNS


def test_intervals_allow_for_rows_that_the_lengths_of_all_columns_show() -> None:
    """Of three rows in a hundred far out, counts of one column's sides show too little."""
    held = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(12_000, 12))
        rows[:360, 0] += 8.0 * rng.exponential(size=360)
        made = prolate.mean(rows, budget=Budget(mu=1.0), seed=seed)
        assert made.details["columns_apart"] == 1
        off = abs(made.estimate[0] - rows[:, 0].mean())
        held.append(off < 1.96 * np.hypot(made.noise_std[0], made.clipping_std[0]))
    assert sum(held) >= 12  # 10 without


def test_three_that_are_alike_mostly_stay_with_the_others() -> None:
    apart = 0
    for seed in range(6):
        more = [table(seed + 100 * k, "skewed")[:, :1] for k in (1, 2)]
        rows = np.column_stack([table(seed, "skewed"), *more])
        made = prolate.mean(rows, budget=BUDGET, seed=seed)
        apart += "columns_apart" in made.details
    assert apart <= 2


def test_the_whole_budget_is_spent_once() -> None:
    made = prolate.mean(table(1, "skewed"), budget=BUDGET, seed=1)
    assert made.details["columns_apart"] == 1
    assert sum(entry.share for entry in made.receipt) == pytest.approx(1.0)


def test_with_the_number_of_rows_private_and_other_errors() -> None:
    rows = table(2, "skewed", rows=12_000)
    for options in ({"neighbors": "add-remove"}, {"error_norm": 1.0}, {"error_norm": "relative"}):
        made = prolate.mean(rows, budget=BUDGET, seed=3, **options)
        assert made.details["columns_apart"] == 1
        error = np.abs(made.estimate - rows.mean(axis=0))
        assert np.all(error < 4.0 * np.hypot(made.noise_std, made.clipping_std))


@pytest.mark.parametrize("p", [1.0, 2.0, 10.0, 100.0, "relative"])
@pytest.mark.parametrize("unit", [1e-80, 1e80, 1e130])
def test_in_any_unit(p: float | str, unit: float) -> None:
    """Squares of squares of such numbers are no floats: it ended by an error after its charge."""
    made = prolate.mean(unit * table(0, "skewed"), budget=BUDGET, error_norm=p, seed=0)
    assert np.all(np.isfinite(made.estimate))
    assert np.all((made.noise_std > 0.0) & (made.noise_std < unit))


def user_table(seed: int, *, rows: int = 40_000, missing: float = 0.0) -> np.ndarray:
    """Return costs, which may be missing, two normal columns, and a flag of a twentieth."""
    rng = np.random.default_rng(seed)
    cost = rng.lognormal(7.2, 1.0, rows)
    cost[rng.random(rows) < missing] = np.nan
    flag = rng.random(rows) < 0.05
    return np.column_stack([cost, rng.normal(50.0, 17.0, (rows, 2)), flag])


@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_costs_beside_a_flag_are_summed_by_themselves(missing: float) -> None:
    """A flag tilts, too, but ends at its other value: the costs lost .017 spreads unsaid."""
    errors, held = [], []
    for seed in range(RUNS):
        rows = user_table(seed, missing=missing)
        budget = Budget(epsilon=1.0, delta=1e-6)
        made = prolate.mean(rows, budget=budget, error_norm="relative", seed=seed)
        assert made.details["columns_apart"] == 1
        off = (made.estimate - np.nanmean(rows, axis=0))[0]
        errors.append(off / np.nanstd(rows[:, 0]))
        held.append(abs(off) < 1.96 * np.hypot(made.noise_std[0], made.clipping_std[0]))
    print("root mean square", np.sqrt(np.mean(np.square(errors))), "held", sum(held))
    assert np.sqrt(np.mean(np.square(errors))) < 0.009
    assert sum(held) >= RUNS - 3


def test_two_skewed_columns_of_two_kinds_are_each_summed_alone() -> None:
    apart = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        others = rng.normal(size=(60_000, 4))
        rows = np.column_stack([rng.exponential(size=60_000), rng.lognormal(size=60_000), others])
        made = prolate.mean(rows, budget=BUDGET, error_norm="relative", seed=seed)
        apart.append(made.details.get("columns_apart", 0))
        assert sum(entry.share for entry in made.receipt) == pytest.approx(1.0)
        assert np.all(np.abs(made.estimate - rows.mean(axis=0)) < 0.02 * rows.std(axis=0))
    print(apart)
    assert max(apart) == 2


def test_columns_that_are_all_skewed_stay_together() -> None:
    """What clipping takes of these is foreseen; alone, each would need a longer interval."""
    for seed in range(4):
        rows = np.random.default_rng(seed).exponential(size=(20_000, 4))
        made = prolate.mean(rows, budget=BUDGET, error_norm="relative", seed=seed)
        assert made.details.get("columns_apart", 0) == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_columns_that_hardly_matter_beside_others_have_a_budget(seed: int) -> None:
    """They were left nothing, in floating point: a division by zero after all was charged."""
    rows = np.exp(np.random.default_rng(0).standard_normal((3000, 4)))
    release = prolate.mean(rows * [1e16, 1e16, 1, 1], budget=prolate.Budget(mu=20.0), seed=seed)
    assert np.all(np.isfinite(release.estimate))
    assert np.all(np.abs(release.estimate[:2] / 1e16 - rows[:, :2].mean(axis=0)) < 0.1)
    assert np.all(release.noise_std[2:] > 100.0)
