"""Rivals: what they ask is private, what they spend is their budget, what they say is true."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest

import prolate
from prolate import Budget, BudgetError, InputError, rivals
from prolate.curator import Curator
from prolate.noise import FAN, LEVELS, choose_cell, choose_cells, falling_weights, random_bits
from prolate.queries import (
    ClippedSum,
    CountBelow,
    Magnitudes,
    Norms,
    Pairs,
    Ranks,
    Rotated,
    rotate_back,
)
from prolate.queries.ranks import NodeHistogram
from prolate.sources import open_source

NEIGHBORS = ("replace", "add-remove")
HARD = [0.0, -0.0, 1.0, -1.0, 0.5, 7.0, 1e9, -1e9, 1e308, -1e308, 5e-324]
HARD += [math.nan, math.inf, -math.inf]


def hard_rows(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    easy = rng.standard_normal((n, d))
    return np.where(rng.random((n, d)) < 0.4, rng.choice(HARD, (n, d)), easy)


def neighbor_of(rng: np.random.Generator, rows: np.ndarray, neighbors: str) -> np.ndarray:
    place = rng.integers(rows.shape[0])
    if neighbors == "add-remove":
        return np.delete(rows, place, axis=0)
    other = rows.copy()
    other[place] = hard_rows(rng, 1, rows.shape[1])
    return other


def curator(rows: np.ndarray, rho: float = 1.0, **more: object) -> Curator:
    seed = more.pop("seed", 1)
    zcdp = more.pop("zcdp", False)
    budget = Budget(rho=rho)
    return Curator(open_source(rows), budget.for_zcdp() if zcdp else budget, seed=seed, **more)


# --- queries of rotated, positive and measured rows


def mapped(d: int, length: int) -> dict[str, object]:
    rng = np.random.default_rng(d)
    signs, missing = rng.choice([-1.0, 1.0], length), rng.standard_normal(d)
    center, gain = rng.standard_normal(length), np.exp(rng.standard_normal(length))
    tree = Ranks(np.full(d, -4.0), np.full(d, 4.0), 0.5)
    part = Ranks(np.zeros(1), np.full(1, 9.0), 0.9, lambda q: Norms(q, center[:d], gain[:d]))
    return {
        "rotated count": Rotated(CountBelow(center), signs, missing),
        "rotated sum": Rotated(ClippedSum(center, 1 / gain, 2.0), signs, missing),
        "rotated norms": Rotated(Norms(CountBelow(np.ones(1)), center, gain), signs, missing),
        "magnitudes": Magnitudes(CountBelow(np.abs(center[:d]))),
        "norms": Norms(CountBelow(np.full(1, 1.5)), center[:d], gain[:d]),
        "roots": tree.histogram(range(d), [(0, 0)] * d),
        "deeper": tree.histogram([0, d - 1], [(1, FAN // 2), (2, FAN * FAN // 2)]),
        "norms in a tree": part.histogram([0], [(0, 0)]),
    }


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("name", list(mapped(3, 4)))
def test_a_neighbor_moves_a_mapped_query_by_no_more_than_its_sensitivity(name, neighbors):
    rng = np.random.default_rng(7)
    worst = 0.0
    for d, length in ((3, 4), (5, 8), (1, 1)):
        query = mapped(d, length)[name]
        bound = query.sensitivity_squared(neighbors)
        for _ in range(150):
            rows = hard_rows(rng, int(rng.integers(1, 6)), d)
            other = neighbor_of(rng, rows, neighbors)
            moved = [int(x) for x in query(rows) - query(other)]
            distance = sum(x * x for x in moved)
            assert distance <= bound
            worst = max(worst, distance / bound)
    assert worst > 0.2  # the bound is of the right size


def test_a_rotation_keeps_norms_and_is_undone():
    rng = np.random.default_rng(1)
    rows, signs = rng.standard_normal((7, 5)), rng.choice([-1.0, 1.0], 8)
    rotated = Rotated(CountBelow(np.zeros(8)), signs, np.zeros(5)).map(rows)
    assert rotated.shape == (7, 8)
    np.testing.assert_allclose(np.linalg.norm(rotated, axis=1), np.linalg.norm(rows, axis=1))
    for row, turned in zip(rows, rotated, strict=True):
        np.testing.assert_allclose(rotate_back(turned, signs, 5), row, atol=1e-14)
    # One row of a skewed table spreads over all coordinates evenly.
    spike = Rotated(CountBelow(np.zeros(8)), signs, np.zeros(5)).map(np.eye(5)[:1])
    np.testing.assert_allclose(np.abs(spike), 1 / math.sqrt(8))


def test_a_row_is_rotated_alike_wherever_it_stands():
    rows = np.random.default_rng(2).standard_normal((300, 100))
    query = Rotated(CountBelow(np.zeros(128)), np.ones(128), np.zeros(100))
    np.testing.assert_array_equal(query.map(rows)[123:124], query.map(rows[123:124]))
    np.testing.assert_array_equal(query(rows), query(rows[:151]) + query(rows[151:]))


def test_a_missing_value_is_rotated_as_its_stand_in():
    signs, missing = np.array([1.0, -1.0, 1.0, 1.0]), np.array([3.0, 4.0, 5.0])
    query = Rotated(CountBelow(np.zeros(4)), signs, missing)
    holes = np.array([[1.0, math.nan, math.inf]])
    np.testing.assert_array_equal(query.map(holes), query.map(np.array([[1.0, 4.0, 5.0]])))


@pytest.mark.parametrize(("length", "d"), [(3, 3), (4, 5), (4, 0)])
def test_a_rotation_needs_a_power_of_two(length, d):
    with pytest.raises(InputError, match="power of two"):
        Rotated(CountBelow(np.zeros(length)), np.ones(length), np.zeros(d))


# --- the exponential mechanism


@pytest.mark.parametrize("fall", ["0.003", "0.1", "1", "7", "60"])
def test_weights_fall_by_no_more_than_they_may(fall):
    squared = Fraction(fall) ** 2
    weights = [int(w) for w in falling_weights(squared)]
    with mpmath.workdps(60):
        least = mpmath.exp(-mpmath.mpf(fall))
        for here, following in pairwise(weights[:2000]):
            assert mpmath.mpf(following) >= least * here
            assert following <= here
        # and they do fall: the first step by nearly all that is allowed
        assert weights[1] <= weights[0] * least * (1 + mpmath.mpf(10) ** -20) + 2
    assert weights[-1] < weights[0] * 2.0**-80


def test_a_fall_of_almost_nothing_gives_equal_weights():
    assert falling_weights(Fraction(1, 2**250)).tolist() == [2**96]


def cells_of(rows: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Rows below, and up to, each of some cells of [0, 1), missing ones left out."""
    finite = rows[np.isfinite(rows)]
    with np.errstate(over="ignore"):
        place = np.clip(np.floor(finite * cells), 0, cells - 1).astype(int)
    counts = np.bincount(place, minlength=cells)
    upto = np.cumsum(counts)
    return upto - counts, upto, finite.size


QUANTILES = (0.0, 0.03, 0.25, 0.5, 0.9, 1.0)


def distances(rows: np.ndarray, quantile: float, neighbors: str, cells: int = 30) -> np.ndarray:
    ranks = Ranks(np.zeros(1), np.ones(1), quantile)
    return ranks.distance(*cells_of(rows, cells), neighbors)


def some_rows(rng: np.random.Generator) -> np.ndarray:
    rows = rng.random((int(rng.integers(1, 12)), 1)) ** rng.integers(1, 6)
    rows[rng.random(rows.shape) < 0.2] = rng.choice([math.nan, 1e308, -math.inf, 0.0, 0.5])
    return rows


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("quantile", QUANTILES)
def test_a_neighbor_moves_every_distance_by_at_most_one(quantile, neighbors):
    rng = np.random.default_rng(11)
    worst = 0
    for _ in range(300):
        rows = some_rows(rng)
        other = neighbor_of(rng, rows, neighbors)
        if neighbors == "replace" and rng.random() < 0.7:
            other = rows.copy()
            other[rng.integers(len(rows))] = rng.random()
        moved = np.abs(distances(rows, quantile, neighbors) - distances(other, quantile, neighbors))
        worst = max(worst, int(moved.max()))
    assert worst == 1


def test_the_sensitivity_of_the_published_plan_is_too_small_for_replace():
    """Its max(q, 1 - q) is that of add-remove: under replace a median's rank moves by 2 of it."""
    rows = np.full((8, 1), 0.1)
    rows[4:] = 0.9
    other = rows.copy()
    other[0] = 0.9
    with_mistake = distances(rows, 0.5, "add-remove") - distances(other, 0.5, "add-remove")
    assert np.abs(with_mistake).max() == 2


def renyi(p: np.ndarray, q: np.ndarray, order: float) -> float:
    terms = order * np.log(p) - (order - 1) * np.log(q)
    return float(np.logaddexp.reduce(terms) / (order - 1))


def law(rows: np.ndarray, squared: Fraction, neighbors: str, mistaken: bool = False) -> np.ndarray:
    """Exact probabilities of 30 cells for a median."""
    far = distances(rows, 0.5, "add-remove" if mistaken else neighbors)
    weights = falling_weights(squared)
    chosen = weights[np.minimum(far, len(weights) - 1)]
    return np.array([float(Fraction(w, int(chosen.sum()))) for w in chosen])


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_a_choice_is_private_as_claimed(neighbors):
    """Renyi divergences of the exact laws of neighbors stay below order * fall**2 / 2."""
    rng = np.random.default_rng(5)
    worst, worst_mistaken = 0.0, 0.0
    for squared in (Fraction(1, 100), Fraction(1, 2), Fraction(4)):
        for _ in range(60):
            rows = some_rows(rng)
            other = neighbor_of(rng, rows, neighbors)
            for order in (1.001, 2.0, 8.0, 64.0):
                bound = order * float(squared) / 2
                pair = (law(rows, squared, neighbors), law(other, squared, neighbors))
                worst = max(worst, renyi(*pair, order) / bound)
                pair = (
                    law(rows, squared, neighbors, mistaken=True),
                    law(other, squared, neighbors, mistaken=True),
                )
                worst_mistaken = max(worst_mistaken, renyi(*pair, order) / bound)
    assert 0.1 < worst <= 1 + 1e-9
    if neighbors == "replace":
        assert worst_mistaken > 1.2  # the published sensitivity spends more than it says


def draws(rows: np.ndarray, squared: Fraction, count: int, fan: int, levels: int) -> list[int]:
    """Draw cells of [0, 1) as the curator does, from a small tree."""
    ranks = Ranks(np.zeros(1), np.ones(1), 0.5)
    place = np.clip(np.floor(rows * fan**levels), 0, fan**levels - 1).astype(int)

    def ask(numbers, nodes):
        answers = []
        for level, node in nodes:
            part = place // fan ** (levels - 1 - level) - node * fan
            answers.append(np.bincount(part[(part >= 0) & (part < fan)], minlength=fan))
        return np.array(answers)

    def distance(below, upto, n):
        return ranks.distance(below, upto, n, "replace")

    bits, weights = random_bits(3), falling_weights(squared)
    searches = [choose_cell(weights, distance, bits, levels=levels) for _ in range(count)]
    return choose_cells(searches, ask)


def chi_square(found: np.ndarray, expected: np.ndarray) -> float:
    """p-value, cells expected less than 10 times put together."""
    from scipy.stats import chisquare

    rare = expected < 10
    pooled = [np.append(x[~rare], x[rare].sum()) for x in (found, expected)]
    keep = pooled[1] > 0
    return float(chisquare(pooled[0][keep], pooled[1][keep]).pvalue)


@pytest.mark.parametrize("kind", ["spread", "constant", "two lumps"])
def test_cells_are_drawn_with_exactly_their_probabilities(kind):
    rng = np.random.default_rng(8)
    rows = {
        "spread": rng.random(12),
        "constant": np.full(9, 0.3),
        "two lumps": np.repeat([0.1, 0.101, 0.8], 4),
    }[kind]
    squared, count, fan, levels = Fraction(9, 25), 8000, 4, 3
    below, upto, n = cells_of(rows, fan**levels)
    far = Ranks(np.zeros(1), np.ones(1), 0.5).distance(below, upto, n, "replace")
    weights = falling_weights(squared)[far].astype(float)
    expected = count * weights / weights.sum()
    found = np.bincount(draws(rows, squared, count, fan, levels), minlength=fan**levels)
    assert chi_square(found, expected) > 1e-6
    # Without giving up where finer cells fall short, whole nodes would be drawn by their bounds.
    below, upto, n = cells_of(rows, fan)
    coarse = Ranks(np.zeros(1), np.ones(1), 0.5).distance(below, upto, n, "replace")
    bounds = np.repeat(falling_weights(squared)[coarse].astype(float), fan ** (levels - 1))
    assert chi_square(found, count * bounds / bounds.sum()) < 1e-12


def test_select_finds_the_quantiles_of_all_columns():
    rows = np.random.default_rng(1).random((2001, 3)) * [1.0, 1e-3, 100.0] + [0.0, 5.0, -300.0]
    ranks = Ranks(np.full(3, -1e6), np.full(3, 1e6), 0.25)
    asked = curator(rows, 8.0, zcdp=True)
    found = asked.select(ranks, share=0.5, label="q")
    far = np.abs((rows <= found.values).mean(axis=0) - 0.25)
    assert far.max() < 0.02
    assert asked.receipt[0] is found
    assert found.mu == pytest.approx(math.sqrt(0.5) * Budget(rho=8).mu)
    assert "not Gaussian" in found.query
    assert asked.remaining == 0.5


def test_missing_values_have_no_rank():
    rows = np.full((900, 2), math.nan)
    rows[:300] = np.linspace(10, 20, 300)[:, np.newaxis]
    rows[300:600] = math.inf
    ranks = Ranks(np.full(2, -100.0), np.full(2, 100.0), 0.5)
    found = curator(rows, 20.0, zcdp=True).select(ranks, share=1.0, label="median")
    assert np.abs(found.values - 15).max() < 1
    nothing = curator(rows * math.nan, zcdp=True).select(ranks, share=1.0, label="median")
    assert np.all(np.abs(nothing.values) <= 100)


def test_select_sees_values_cut_to_the_bounds():
    rows = np.linspace(0, 100, 501)[:, np.newaxis]
    bounds = (np.zeros(1), np.full(1, 30.0))
    ranks = Ranks(np.full(1, -1e3), np.full(1, 1e3), 0.9)
    found = curator(rows, 8.0, zcdp=True, bounds=bounds).select(ranks, share=1.0, label="q")
    assert abs(found.values[0] - 30) < 0.5


def test_select_wants_a_budget_in_zcdp_and_a_share_that_is_left():
    rows, ranks = np.zeros((10, 1)), Ranks(np.zeros(1), np.ones(1), 0.5)
    with pytest.raises(BudgetError, match="for_zcdp"):
        curator(rows).select(ranks, share=0.5, label="q")
    asked = curator(rows, zcdp=True)
    for share in (0.0, -1.0, 1.5, math.nan):
        with pytest.raises(BudgetError, match="share"):
            asked.select(ranks, share=share, label="q")
    asked.select(ranks, share=0.75, label="q")
    with pytest.raises(BudgetError, match=r"only 0\.25 is left"):
        asked.select(ranks, share=0.5, label="q")


def test_select_charges_before_it_reads():
    class Unreadable:
        columns = ("x0",)
        n_rows = 5

        def collect(self, *_: object) -> None:
            raise OSError("no rows today")

    charged = []
    asked = Curator(
        Unreadable(), Budget(rho=1).for_zcdp(), seed=1, charge=lambda: charged.append(1)
    )
    with pytest.raises(OSError, match="no rows"):
        asked.select(Ranks(np.zeros(1), np.ones(1), 0.5), share=0.5, label="q")
    assert charged == [1]
    assert asked.remaining == 0.5


def test_ranks_of_pairs_are_refused_where_pairs_have_no_sensitivity():
    ranks = Ranks(np.zeros(1), np.ones(1), 0.5, Pairs)
    asked = curator(np.zeros((10, 1)), zcdp=True, neighbors="add-remove")
    with pytest.raises(InputError, match="add-remove"):
        asked.select(ranks, share=1.0, label="q")
    assert asked.remaining == 1.0


def test_ranks_of_what_a_row_enters_twice_are_refused():
    class Twice(Pairs):
        def sensitivity_squared(self, neighbors):
            return 4 * self.query.sensitivity_squared(neighbors)

    ranks = Ranks(np.zeros(1), np.ones(1), 0.5, Twice)
    with pytest.raises(InputError, match="only once"):
        curator(np.zeros((10, 1)), zcdp=True).select(ranks, share=1.0, label="q")


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, 1.0), (0.0, math.inf), (math.nan, 1)])
def test_ranks_need_finite_ends(low, high):
    with pytest.raises(InputError, match="low < high"):
        Ranks(np.array([low]), np.array([high]), 0.5)


def test_the_tree_of_cells_covers_everything_once():
    edge = 1.0 + 2.0**-52
    rows = np.array([[-1e308], [-1.0], [0.0], [0.5], [edge], [1e308], [math.nan]])
    ranks = Ranks(np.zeros(1), np.ones(1), 0.5)
    root = ranks.histogram([0], [(0, 0)])(rows)
    assert root.sum() == 6
    assert (root[0], root[FAN // 2], root[-1]) == (3, 1, 2)
    inner = ranks.histogram([0], [(1, FAN // 2)])(rows)
    assert inner.sum() == 1
    last = NodeHistogram(np.zeros(1), np.full(1, FAN**-LEVELS), np.zeros(1, int), [(3, FAN**3 - 1)])
    assert last(rows)[-1] == 2


# --- the methods


def gaussian_rows(n: int = 2000, d: int = 6, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return 5.0 + np.geomspace(1, 4, d) * rng.standard_normal((n, d))


ZCDP = ("plan exponential", "plan exponential, no scale")
METHODS = {
    "plan": lambda c: rivals.plan(c, universe_size=200.0),
    "plan, p = 1": lambda c: rivals.plan(c, error_norm=1.0),
    "plan, no scale": lambda c: rivals.plan(c, scaling=False, universe_size=200.0),
    "plan, oracle": lambda c: rivals.plan(c, std=np.geomspace(1, 4, c.dimension)),
    "plan exponential": lambda c: rivals.plan(c, search="exponential"),
    "plan exponential, no scale": lambda c: rivals.plan(c, search="exponential", scaling=False),
    "iome": lambda c: rivals.iome(c, longest=500.0),
    "iome, 10 steps": lambda c: rivals.iome(
        c, longest=99.0, steps=10, radius_share=0.25, offset=2.0
    ),
    "clipped gaussian": lambda c: rivals.clipped_gaussian(
        c, radius=18.0, center=np.full(c.dimension, 5.0)
    ),
    "clipped gaussian, shaped": lambda c: rivals.clipped_gaussian(
        c, radius=8.0, center=np.full(c.dimension, 5.0), scale=np.geomspace(1, 2, c.dimension)
    ),
    **{
        f"coinpress, t = {t}": lambda c, t=t: rivals.coinpress(c, sigma=4.0, radius=99.0, steps=t)
        for t in (1, 2, 3, 4, 10)
    },
}
BINARY = {
    "binary": rivals.plan_binary,
    "binary, no scale": lambda c: rivals.plan_binary(c, scaling=False),
    "binary, oracle": lambda c: rivals.plan_binary(c, std=np.full(c.dimension, 0.4)),
    "binary, table 1": lambda c: rivals.plan_binary(c, preprocessing=0.25),
}


@pytest.mark.parametrize("spent", [0.0, 0.4])
@pytest.mark.parametrize("name", [*METHODS, *BINARY])
def test_a_method_spends_exactly_what_is_left(name, spent):
    rows = gaussian_rows() if name in METHODS else gaussian_rows() > 5
    asked = curator(rows, 2.0, zcdp=name in ZCDP)
    if spent:
        asked.measure(CountBelow(np.zeros(rows.shape[1])), share=spent, label="before")
    found = {**METHODS, **BINARY}[name](asked)
    assert asked.remaining < 1e-15
    mu_squared = math.fsum(m.mu**2 for m in asked.receipt)
    assert mu_squared == pytest.approx(Budget(rho=2.0).mu ** 2, rel=1e-12)
    for m in asked.receipt:
        assert m.mu == pytest.approx(m.sensitivity / m.std, rel=1e-6)
    not_gaussian = [m.label for m in asked.receipt if "exponential" in m.query]
    assert bool(not_gaussian) == (name in ZCDP)
    assert found.value.shape == found.noise_std.shape == (6,)
    assert np.all(np.isfinite(found.value))
    assert np.all(found.noise_std > 0)


@pytest.mark.parametrize("name", list(METHODS))
def test_a_method_is_near_the_mean(name):
    """Noise of every method is far below 0.5 on these rows; 1.5 is many times that."""
    rows = gaussian_rows(20000)
    found = METHODS[name](curator(rows, 2.0, zcdp=name in ZCDP))
    assert np.abs(found.value - rows.mean(axis=0)).max() < 0.3
    assert np.all(found.noise_std < 0.1)


@pytest.mark.parametrize("name", list(BINARY))
def test_binary_plan_is_near_the_mean(name):
    q = np.array([0.5, 0.5, 0.1, 0.02, 0.9, 0.0])
    rows = np.random.default_rng(3).random((20000, 6)) < q
    found = BINARY[name](curator(rows, 1.0))
    # The method clips the longest rows, here those of nearly all items.
    assert np.abs(found.value - rows.mean(axis=0)).max() < 0.05


@pytest.mark.parametrize("name", [*METHODS, *BINARY])
def test_a_method_refuses_add_remove_before_it_spends(name):
    asked = curator(gaussian_rows(50), neighbors="add-remove", zcdp=name in ZCDP)
    with pytest.raises(InputError, match="neighbors='replace'"):
        {**METHODS, **BINARY}[name](asked)
    assert asked.remaining == 1.0


@pytest.mark.parametrize("name", [*METHODS, *BINARY])
def test_a_method_survives_any_rows(name):
    rng = np.random.default_rng(4)
    for rows in (hard_rows(rng, 300, 3), np.zeros((5, 3)), np.full((1, 1), math.nan)):
        found = {**METHODS, **BINARY}[name](curator(rows, zcdp=name in ZCDP))
        assert np.all(np.isfinite(found.noise_std))
        assert np.all(np.isfinite(found.value))


def test_the_receipt_splits_the_budget_as_the_papers_do():
    def shares(name):
        asked = curator(gaussian_rows(), 1.0, zcdp=name in ZCDP)
        METHODS[name](asked)
        total = {}
        for m in asked.receipt:
            part = m.label.split()[0]
            total[part] = total.get(part, 0.0) + m.share
        return {part: round(share, 6) for part, share in total.items()}

    plan = {"center": 0.0625, "scale": 0.1875, "radius": 0.1875, "mean": 0.5625}
    assert shares("plan") == shares("plan exponential") == plan
    assert shares("plan, oracle") == {"center": 0.25, "radius": 0.1875, "mean": 0.5625}
    assert shares("iome") == {"center": 0.25, "radius": 0.0075, "mean": 0.7425}
    asked = curator(gaussian_rows())
    rivals.coinpress(asked, sigma=4.0, radius=99.0, steps=4)
    assert [round(m.share, 6) for m in asked.receipt] == [0.083333] * 3 + [0.75]


def test_a_rotation_is_public_and_repeatable():
    rows = gaussian_rows()
    first, again, other = (
        rivals.iome(curator(rows), rotation=rotation).value for rotation in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: rivals.plan(c, universe_size=-1.0), "universe must be positive"),
        (lambda c: rivals.iome(c, longest=math.inf), "longest must be positive"),
        (lambda c: rivals.plan(c, std=np.zeros(6)), "6 positive numbers"),
        (lambda c: rivals.plan_binary(c, std=np.ones(5)), "6 positive numbers"),
        (lambda c: rivals.plan_binary(c, preprocessing=1.0), "between 0 and 1"),
        (rivals.coinpress, "bounds on every column"),
        (lambda c: rivals.coinpress(c, sigma=1.0), "bounds on every column"),
        (lambda c: rivals.coinpress(c, sigma=1.0, radius=1.0, steps=0), "at least 1"),
        (lambda c: rivals.coinpress(c, sigma=-1.0, radius=1.0), "must be positive"),
        (lambda c: rivals.clipped_gaussian(c, radius=0.0), "radius must be positive"),
        (lambda c: rivals.clipped_gaussian(c, radius=1.0, center=np.ones(2)), "6 numbers each"),
    ],
)
def test_bad_arguments_are_answered_before_anything_is_spent(call, message):
    asked = curator(gaussian_rows(50))
    with pytest.raises(InputError, match=message):
        call(asked)
    assert asked.remaining == 1.0


# --- the public face


@pytest.mark.parametrize("method", ["plan-exponential", "iome", "coinpress"])
def test_rivals_by_name(method):
    rows = gaussian_rows(20000)
    bounds = (-60.0, 70.0) if method == "coinpress" else None
    budget = Budget(epsilon=2, delta=1e-6)
    r = prolate.mean(rows, budget=budget, method=method, bounds=bounds, seed=1)
    assert np.abs(r.estimate - rows.mean(axis=0)).max() < 0.5
    assert r.method == method
    assert prolate.Release.from_json(r.to_json()) == r
    zcdp = method == "plan-exponential"
    assert r.budget == (budget.for_zcdp() if zcdp else budget)
    assert r.budget.epsilon_at(delta=1e-6) == pytest.approx(2, rel=1e-6)
    assert math.fsum(e.mu**2 for e in r.receipt) == pytest.approx(r.budget.mu**2, rel=1e-9)
    assert (
        "zero-concentrated"
        in prolate.mean(rows, budget=budget, method=method, bounds=bounds).guarantee
    ) == zcdp


def test_coinpress_by_name_needs_bounds():
    with pytest.raises(InputError, match="needs the bounds"):
        prolate.mean(gaussian_rows(50), budget=Budget(rho=1), method="coinpress")


def test_a_ledger_books_the_exponential_mechanism_in_rho(tmp_path):
    from prolate.ledger import Ledger

    path = tmp_path / "x.ledger"
    book = Ledger.create(path, limit=Budget(epsilon=3, delta=1e-6))
    budget = Budget(epsilon=1, delta=1e-6)
    prolate.mean(gaussian_rows(), budget=budget, method="plan-exponential", ledger=book)
    (entry,) = book.entries()
    assert entry.composition == "zcdp"
    assert entry.mu == budget.for_zcdp().mu


@pytest.mark.parametrize("method", ["plan", "plan-noscale", "plan-exponential", "iome"])
@pytest.mark.parametrize("bound", [5e-324, 1e-300, 1e-60, 1e140])
def test_what_is_paid_for_is_released_within_any_bounds(method: str, bound: float) -> None:
    """Bounds so near each other that their squares vanish ended in errors after the charge."""
    draw = np.random.default_rng(0)
    for rows in (draw.random((200, 2)), np.full((200, 2), np.nan), np.full((200, 2), 1e-310)):
        for seed in range(3):
            made = prolate.mean(
                rows, bounds=(0, bound), method=method, budget=Budget(mu=1), seed=seed
            )
            assert np.all(np.isfinite(made.estimate))
