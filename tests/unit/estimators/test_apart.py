"""A few columns that reach much farther than the others, or one that rules, are by themselves."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators import mean
from prolate.estimators.portion import Portion
from prolate.estimators.search.apart import (
    heavy_columns,
    heavy_portion,
    ruling_portion,
)
from prolate.estimators.search.shape import Shape
from prolate.queries import ClippedSum, Count
from prolate.sources import open_source
from prolate.theory import RELATIVE

ROWS = np.random.default_rng(0).normal(size=(2_000, 4))
ALL = np.ones(4, dtype=bool)
FAR = np.full(4, 8.0)


def curator_of(rows=ROWS, **options) -> Curator:
    return Curator(open_source(rows), Budget(rho=0.5), seed=0, **options)


def portion_of(table, index, part, sample=None) -> Portion:
    return Portion.of(table, np.array(index), part, sample=sample or table)


def portion_apart(curator, shape, error_norm) -> Portion | None:
    ruling = ruling_portion(curator, shape, error_norm)
    return heavy_portion(curator, shape, error_norm) if ruling is None else ruling


def test_heavy_columns_are_few_and_the_others_alike() -> None:
    one = np.array([1.0, 9.0, 1.0, 1.2])
    assert heavy_columns(one, FAR, wide=ALL).tolist() == [False, True, False, False]
    for raised in (np.ones(4), np.array([1.0, 9.0, 1.0, 1.8]), np.array([9.0, 9.0, 1.0, 1.0])):
        assert not heavy_columns(raised, FAR, wide=ALL).any()
    assert not heavy_columns(one, np.full(4, 3.0), wide=ALL).any()  # values at two places
    assert not heavy_columns(one, FAR, wide=one < 2.0).any()  # a bulk of one value


def test_their_part_of_the_budget_is_what_their_sums_need() -> None:
    curator, heavy = curator_of(), np.array([False, True, False, False])

    def portion(spread, heavy, error_norm=2.0) -> Portion | None:
        shape = Shape(2_000.0, curator, np.zeros(4), spread, 0.1)
        return portion_apart(curator, replace(shape, heavy=heavy), error_norm)

    alike = portion(np.ones(4), heavy)
    small = portion(np.where(heavy, 0.05, 1.0), heavy)
    assert alike is not None
    assert small is not None
    assert alike.index.tolist() == [1]
    assert 0.02 < small.part < 0.3 < alike.part <= 0.6
    # A small one's error counts as much as others', relative to its spread.
    relative = portion(np.where(heavy, 1e-4, 1.0), heavy, RELATIVE)
    assert relative is not None
    assert relative.part == alike.part
    assert portion(np.where(heavy, 1e-4, 1.0), heavy) is None
    assert portion(np.ones(4), ~ALL) is None
    assert portion(np.ones(4), None) is None


def test_a_column_that_rules_has_nearly_all_of_the_budget() -> None:
    curator, none = curator_of(), ~ALL

    def portion(spread, heavy, norm=2.0) -> Portion | None:
        shape = Shape(2_000.0, curator, np.zeros(4), spread, 0.1)
        return portion_apart(curator, replace(shape, heavy=heavy), norm)

    large = np.array([1.0, 60.0, 1.0, 1.0])
    found = portion(large, none)
    assert found is not None
    assert found.index.tolist() == [1]
    assert found.part == pytest.approx(60 / 63)
    assert portion(1e9 * large, none).part == pytest.approx(found.part)
    assert portion(np.array([1.0, 1e12, 1.0, 1.0]), none).part == pytest.approx(0.99)
    assert portion(np.minimum(large, 20.0), none) is None
    assert portion(np.array([60.0, 60.0, 1.0, 1.0]), none) is None
    assert portion(large, none, norm=RELATIVE) is None
    assert portion(large, None) is None  # what is public was not searched
    heavy = np.array([True, False, False, False])
    assert portion(large, heavy).index.tolist() == [1]
    assert portion(np.minimum(large, 20.0), heavy).index.tolist() == [0]


def test_a_single_column_is_no_table_apart() -> None:
    curator = curator_of(ROWS[:, :1])
    shape = Shape(2_000.0, curator, np.zeros(1), np.ones(1), 0.1, heavy=np.ones(1, bool))
    assert portion_apart(curator, shape, 2.0) is None


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("which", ["normal", "log-normal", "zeros", "flags"])
def test_a_column_that_rules_is_summed_by_itself(neighbors, which) -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(6_000, 5)) + 3.0
    rows[:, 2] = (
        1e5
        * {
            "normal": rng.normal(size=6_000),
            "log-normal": rng.lognormal(size=6_000),
            "zeros": np.where(rng.random(6_000) < 0.6, 0.0, rng.exponential(size=6_000)),
            "flags": rng.random(6_000) < 0.2,
        }[which]
    )
    found = prolate.mean(rows, budget=Budget(rho=0.5), neighbors=neighbors, seed=2)
    assert found.details["columns_apart"] == 1
    off = np.abs(found.estimate - rows.mean(axis=0))
    assert np.all(off < 5.0 * np.hypot(found.noise_std, found.clipping_std))
    assert off[2] < 0.1 * rows[:, 2].std()
    assert sum(Fraction(measurement.share) for measurement in found.receipt) <= 1


def test_a_portion_asks_its_columns_for_its_part_of_the_budget() -> None:
    curator = curator_of()
    portion = portion_of(curator, [2, 0], 0.25)
    query = ClippedSum(np.zeros(2), np.ones(2), 6.0)
    found = portion.measure(query, share=0.4, label="some")
    assert curator.remaining == pytest.approx(0.9)
    assert portion.remaining == pytest.approx(0.6)
    assert found.mu == pytest.approx(portion.mu_of(0.4))
    assert found.mu == pytest.approx(np.sqrt(0.1) * Budget(rho=0.5).mu)
    sums = query.unit * found.values
    assert np.all(np.abs(sums - ROWS[:, [2, 0]].sum(axis=0)) < 7 * query.unit * found.std + 1e-3)


def test_a_portion_never_spends_more_than_its_part() -> None:
    curator = curator_of()
    portion = portion_of(curator, [0, 1, 2], 0.3)
    while portion.remaining > 0.0:
        share = 0.7 * portion.remaining if portion.remaining > 0.01 else portion.remaining
        portion.measure(Count(3), share=share, label="rows")
    assert curator.remaining == pytest.approx(0.7, abs=1e-12)
    rest = portion_of(curator, [0, 1, 2], 1.0)
    rest.measure(Count(3), share=1.0, label="rows")
    assert 0.0 <= curator.remaining < 1e-15


def test_a_portion_of_a_portion() -> None:
    curator = curator_of()
    inner = portion_of(portion_of(curator, [3, 1, 0], 0.5), [2, 0], 0.5)
    query = ClippedSum(np.zeros(2), np.ones(2), 6.0)
    found = inner.measure(query, share=1.0, label="all")
    assert curator.remaining == pytest.approx(0.75)
    sums = query.unit * found.values
    assert np.all(np.abs(sums - ROWS[:, [0, 3]].sum(axis=0)) < 7 * query.unit * found.std + 1e-3)


def test_a_portion_is_searched_by_the_tables_own_sample() -> None:
    """One of its own would hold all columns of as many rows as are cheap for its few."""
    curator = curator_of()
    sample = curator.sampled(200, 2_000)
    portion = portion_of(curator, [1], 0.5, sample=sample)
    some = portion.sampled(1_000, 2_000)
    assert some.curator is sample
    assert some.fraction == pytest.approx(0.1, rel=1e-3)
    some.measure(Count(1), share=1.0, label="rows")
    assert portion.remaining == pytest.approx(0.0)
    assert curator.remaining == pytest.approx(0.5)
    whole = portion_of(curator, [1], 0.5)
    assert whole.sampled(200, 2_000) is whole


def test_bounds_and_neighbors_are_the_tables() -> None:
    bounds = (np.array([-9.0, -8.0, -7.0, -6.0]), np.full(4, 9.0))
    portion = portion_of(curator_of(bounds=bounds, neighbors="add-remove"), [2, 1], 1.0)
    assert portion.bounds is not None
    assert portion.bounds[0].tolist() == [-7.0, -8.0]
    assert portion.neighbors == "add-remove"


def incomes(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Return normal columns, and one that is log-normal and as far out as they are wide."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d))
    rows[:, 1] = np.exp(2.0 * rng.normal(size=n)) / 5.0
    return rows


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("n", [6_000, 60_000])  # searched as a whole, and by a sample
def test_all_of_the_budget_is_spent_and_no_more(neighbors, n) -> None:
    curator = Curator(open_source(incomes(n, 30)), Budget(rho=1.0), seed=5, neighbors=neighbors)
    found = mean(curator)
    assert found.details["columns_apart"] == 1
    assert 0.0 <= curator.remaining < 1e-9
    assert sum(measured.share for measured in curator.receipt) <= 1.0 + 1e-12
    labels = [measured.label for measured in curator.receipt]
    assert labels.count("rows") == (neighbors == "add-remove")
