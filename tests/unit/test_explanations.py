"""What releases say of columns of one value, without values, or of far too large ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import prolate
from prolate import Budget
from prolate.errors import InputError

BUDGET = Budget(epsilon=1, delta=1e-6)
N = 20_000
X = np.random.default_rng(3).normal(size=N)
MISSING = "Nearly all values of a column are missing"
FAR = "Values beyond about 1e140 are too large here"


def test_a_dict_of_centers_names_every_column() -> None:
    table = pd.DataFrame({"age": X, "income": X})
    with pytest.raises(InputError, match=r"no number for column 'income'\. Give one for every col"):
        prolate.mean(table, center={"age": 45}, budget=BUDGET)


def test_of_columns_without_values_nothing_else_is_said() -> None:
    table = pd.DataFrame({"a": X, "v": np.nan})
    for release in (
        prolate.variance(table[["v"]], budget=BUDGET, seed=1),
        prolate.variance(table, budget=BUDGET, seed=1),
        prolate.mean(table[["v"]], budget=BUDGET, seed=1),
        prolate.quantile(table, 0.5, budget=BUDGET, seed=1),
    ):
        assert len(release.warnings) == 1
        assert MISSING in release.warnings[0]
        assert np.isinf(release.noise_std[..., -1]) or release.noise_std[..., -1] > 1e300
        assert release.details["values"]["v"] < 0.02 * N
        assert "far out" not in repr(release) or len(release.columns) > 1


def test_a_regression_says_what_has_no_values() -> None:
    table = pd.DataFrame({"a": X, "b": np.nan, "y": X + 1.0})
    target = prolate.regress(table[["a", "b"]], target="b", budget=BUDGET, seed=1)
    assert any("Nearly all values of the target are missing" in w for w in target.warnings)
    assert not any("flag" in warning for warning in target.warnings)
    feature = prolate.regress(table, target="y", budget=BUDGET, seed=1)
    assert any("Nearly all values of 'b' are missing: the slope is" in w for w in feature.warnings)
    constant = prolate.regress(table.assign(b=7.0), target="y", budget=BUDGET, seed=1)
    assert any("single value was seen in 'b': the slope is" in w for w in constant.warnings)


@pytest.mark.parametrize("size", [1e150, 1e300])
def test_too_large_numbers_are_said_to_be(size: float) -> None:
    table = pd.DataFrame({"b": size * (1.0 + 0.1 * X), "a": X})
    mean = prolate.mean(table[["b"]], budget=BUDGET, seed=1)
    assert len(mean.warnings) == 1
    assert FAR in mean.warnings[0]
    assert "unknown" in repr(mean)
    for target in "ab":
        line = prolate.regress(table, target=target, budget=BUDGET, seed=1)
        assert any(FAR in warning for warning in line.warnings)
        assert "unknown" in repr(line)
        assert not any("too few" in warning for warning in line.warnings)


def test_numbers_that_can_be_handled_are_not() -> None:
    table = pd.DataFrame({"b": 1e130 * (1.0 + 0.1 * X), "a": X})
    assert not prolate.mean(table[["b"]], budget=BUDGET, seed=1).warnings
    assert not prolate.regress(table, target="b", budget=BUDGET, seed=1).warnings
    few = prolate.mean(table[["a"]].head(10), budget=BUDGET, seed=1)
    assert not any(FAR in warning for warning in few.warnings)


def test_a_quantile_near_the_largest_numbers_is_shown_as_it_is() -> None:
    table = pd.DataFrame({"b": 1e300 * (2.0 + 0.1 * X)})
    assert "inf" not in repr(prolate.quantile(table, 0.5, budget=BUDGET, seed=1))


@pytest.mark.parametrize("part", [0.3, 0.9])
def test_quantiles_say_how_many_values_there_are(part: float) -> None:
    values = np.where(np.random.default_rng(1).random(N) < part, np.nan, X)
    table = pd.DataFrame({"v": values, "w": X})
    for q in (0.5, [0.1, 0.9]):
        release = prolate.quantile(table, q, budget=BUDGET, seed=1)
        assert release.details["values"] == {"v": pytest.approx((1.0 - part) * N, abs=0.02 * N)}
        assert MISSING not in " ".join(release.warnings)
