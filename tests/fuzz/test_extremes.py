"""Numbers at both ends of their range, with rows far out: there is a release, of finite numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fuzz.harness import cases
from hypothesis import example, given
from hypothesis import strategies as st

import prolate
from prolate import Budget
from prolate.budget import LEAST_MU
from prolate.curator import Curator
from prolate.estimators.rotation import find_rotation
from prolate.estimators.search.shape import Shape
from prolate.sources import open_source

SHAPES = {
    "normal": lambda rng, size: rng.normal(size=size),
    "exponential": lambda rng, size: rng.exponential(size=size),
    "heavy": lambda rng, size: rng.standard_t(1.5, size=size),
    "zeros": lambda rng, size: rng.exponential(size=size) * (rng.random(size) < 0.3),
}


def extreme(rng: np.random.Generator) -> np.ndarray:
    """Return rows whose columns are of very different, or very large or small, size."""
    n, d = int(rng.choice([30, 2_000, 5_000])), int(rng.choice([1, 2, 5, 30]))
    rows = SHAPES[str(rng.choice(list(SHAPES)))](rng, (n, d))
    most = float(rng.choice([150, 305]))
    size = rng.uniform(-most, most, size=d if rng.random() < 0.7 else 1)
    far = int(n * rng.choice([0.0, 0.001, 0.03, 0.1]))
    with np.errstate(over="ignore"):
        rows *= 10.0**size
        rows += rng.choice([0.0, 1.0]) * 10.0 ** np.minimum(size + rng.uniform(-5, 5, d), 305)
        rows[:far] *= 10.0 ** rng.uniform(0, 300)
    return rows


def release(statistic: str, rows: np.ndarray, options: dict[str, Any], p: Any) -> prolate.Release:
    """Return a release of a statistic."""
    if statistic == "mean":
        return prolate.mean(rows, error_norm=p, **options)
    if statistic == "regression":
        model = prolate.LinearRegression(rho=options.pop("budget").rho, **options)
        return model.fit(np.column_stack([rows, rows[:, 0]]), rows[:, -1]).release_
    return getattr(prolate, statistic)(rows, **options)


@pytest.mark.filterwarnings("ignore::UserWarning")
@cases(60)
@given(
    st.integers(0, 2**32),
    st.sampled_from(["mean", "mean", "mean", "variance", "covariance", "regression"]),
    st.sampled_from(["replace", "add-remove"]),
    st.sampled_from([1.0, 2.0, 4.0, "relative"]),
)
@example(144, "variance", "add-remove", 1.0)  # all of the budget was spent on lengths
def test_no_number_is_too_large_or_too_small(seed, statistic, neighbors, p) -> None:
    rng = np.random.default_rng(seed)
    rows = extreme(rng)
    budget = Budget(rho=float(10.0 ** rng.uniform(-2, 1.5)))
    options: dict[str, Any] = {"budget": budget, "neighbors": neighbors, "seed": 1}
    found = release(statistic, rows, options, p)
    assert np.all(np.isfinite(found.estimate))
    assert np.all(np.isfinite(found.noise_std))
    assert found.to_html()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("statistic", ["mean", "variance", "covariance", "regression"])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_the_least_budget_is_enough(statistic, neighbors) -> None:
    """A release that is charged is not refused: every part of its budget can be measured."""
    for rows in (np.ones((30, 1)), np.random.default_rng(0).normal(size=(3_000, 40))):
        options = {"budget": Budget(mu=LEAST_MU), "neighbors": neighbors, "seed": 1}
        assert np.all(np.isfinite(release(statistic, rows, options, 2.0).noise_std))


@pytest.mark.parametrize("value", [0.0, 1e-300])
@pytest.mark.parametrize("p", [1.0, 4.0, 100.0, "relative"])
@pytest.mark.parametrize("rows", [30, 2_000])
def test_rows_at_a_given_center_are_released(value, p, rows) -> None:
    """However small a spread is found around it, its powers can be divided by."""
    budget, some = Budget(mu=10.0), np.full((rows, 2), value)
    found = release("mean", some, {"budget": budget, "center": 0.0, "seed": 1}, p)
    assert np.all(np.abs(found.estimate) < 1e-130)
    assert np.all(found.noise_std > 0.0)


@pytest.mark.parametrize("seed", range(5))
def test_no_principal_axis_is_shorter_than_rounding(seed) -> None:
    """Of columns of spreads far apart, the singular value decomposition may say 0."""
    curator = Curator(open_source(np.zeros((1_000, 2))), Budget(mu=100.0), seed=seed)
    spread = np.array([1e-130, 1e-40])
    shape = Shape(1_000.0, curator, np.zeros(2), spread, 0.1)
    turned = find_rotation(curator, shape)
    assert turned is not None
    assert turned.spread.min() > 1e-16 * turned.spread.max()


@pytest.mark.parametrize("p", [1.0, 7.0, 300.0, "relative"])
@pytest.mark.parametrize("value", [1.0, np.nan])
@pytest.mark.parametrize("upper", [1e140, [1e-145, 1e140], [1e-299, 0.0], [1e-290, 1e-300]])
def test_few_rows_are_released_within_any_bounds(upper, value, p) -> None:
    """Whether they were had depended on the rows: columns of one value are summed so, too."""
    for name in ("mean", "sum", "variance"):
        for mu in (300.0, 0.01):
            options = {"bounds": (0.0, upper), "error_norm": p, "budget": Budget(mu=mu)}
            found = getattr(prolate, name)(np.full((40, 2), value), **options)
            assert np.all(np.isfinite(found.noise_std))


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("value", [5.0, 1e140, -1e-150])
@pytest.mark.parametrize("width", [0.0, 1e-16, 1e-200])
def test_variances_are_released_within_bounds_that_leave_no_room(width, value, neighbors) -> None:
    """Where rows were seen there was an error after the charge, and where none were there was not.

    Budgets are such that both happen.
    """
    rows = np.random.default_rng(0).normal(size=(1_000, 1))
    bounds = (value, value + width * abs(value))
    for mu in (0.003, 1.0, 100.0):
        options: dict[str, Any] = {"budget": Budget(mu=mu), "neighbors": neighbors, "seed": 1}
        found = prolate.variance(rows, bounds=bounds, **options)
        assert 0.0 <= found.estimate[0] < 1e-20 * max(value * value, 1.0)
        assert np.isfinite(found.noise_std).all()


def test_what_rounding_takes_is_allowed_for() -> None:
    """Rows of one value are all rounded alike, which a large budget's noise does not hide."""
    rng = np.random.default_rng(0)
    for value in (3e-9, 7e-9, 1.3e-8):
        rows = np.column_stack([np.full(100_000, value), rng.normal(scale=1e6, size=100_000)])
        options: dict[str, Any] = {"center": 0.0, "scale": [1e-9, 1e6], "seed": 1}
        found = prolate.mean(rows, budget=Budget(mu=1e4), **options)
        allowed = np.hypot(found.noise_std, found.clipping_std)
        assert abs(found.estimate[0] - value) < 6.0 * allowed[0]


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_sum_allows_for_rounding_where_it_matters(neighbors) -> None:
    rows = np.column_stack([np.full(300_000, 3.0), np.arange(300_000) % 4])
    for mu, matters in ((1.0, False), (3_000.0, True)):
        options = {"neighbors": neighbors, "budget": Budget(mu=mu), "seed": 1}
        found = prolate.sum(rows, bounds=(0, 10), **options)
        assert (found.clipping_std is not None) == matters == ("rounding" in found.interval_covers)
        low, high = found.interval(1 - 1e-9).T
        assert np.all((low < rows.sum(axis=0)) & (rows.sum(axis=0) < high))
        assert np.all(found.interval(0.95)[:, 1] - found.estimate >= 1.95 * found.noise_std)
