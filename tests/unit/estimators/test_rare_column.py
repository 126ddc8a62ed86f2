"""One column of values that are nearly all the same: found, on the right side, and summed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.lengths import curves, likely_shapes
from prolate.estimators.lengths.likely_shapes import LikelyShapes
from prolate.estimators.lengths.side_tail import SideTail, fit_tail
from prolate.estimators.search import deviations, magnitudes, rare_column, rare_sides, unknown
from prolate.estimators.search.rare_column import gap_of_one
from prolate.sources import open_source

EDGES = 2.0 ** (np.arange(12) - 4.5)
DRAWS = {
    "flags": lambda rng, n: np.ones(n),
    "amounts": lambda rng, n: rng.gamma(2.0, 1.0, n),
    "log-normal": lambda rng, n: np.exp(rng.standard_normal(n)),
    "alike": lambda rng, n: 3.0 + 0.6 * rng.standard_normal(n),
}


def rows(kind: str, count: int, part: float, seed: int) -> np.ndarray:
    """Return a column of zeros, and a part of other values."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(count) < part, DRAWS[kind](rng, count), 0.0)[:, np.newaxis]


def off(kind: str, count: int, part: float, *, rho: float = 0.25, runs: int = 40) -> np.ndarray:
    """Return by what parts of themselves means are off."""
    found = []
    for seed in range(runs):
        values = rows(kind, count, part, seed)
        release = prolate.mean(values, budget=Budget(rho=rho), seed=seed)
        found.append(abs(release.estimate[0] / values.mean() - 1.0))
    return np.array(found)


def sides(kind: str, many: tuple[int, int], noise: float, seed: int, sizes=(1.0, 1.0)):
    """Return noisy counts of few values on either side, and these values."""
    rng = np.random.default_rng(seed)
    values = [DRAWS[kind](rng, n) * size for n, size in zip(many, sizes, strict=True)]
    ends = np.append(EDGES, np.inf)
    counts = [np.histogram(v, ends)[0] + noise * rng.standard_normal(EDGES.size) for v in values]
    return tuple(counts), values


def tails(counts, noise: float, apart: float, rows: float = 1000.0):
    return likely(counts, noise, apart, rows).sides


def likely(counts, noise: float, apart: float, rows: float = 1000.0) -> LikelyShapes:
    scales = float(EDGES[0]), float(EDGES[-3])
    return likely_shapes.likely_shapes(EDGES, counts, noise, rows, scales=scales, apart=apart)


@pytest.mark.long
def test_flags_and_amounts_of_few_rows_are_found(monkeypatch) -> None:
    def lost() -> int:
        return sum(int(np.sum(off(kind, 600, 0.05) > 0.5)) for kind in ("flags", "amounts"))

    assert lost() <= 16
    monkeypatch.setattr(deviations, "_LOOKS", (0.007,))  # the same test fails for this fault
    assert lost() > 40


def test_looks_end_when_some_are_seen() -> None:
    def labels(count: int, part: float) -> list[str]:
        release = prolate.mean(rows("flags", count, part, 0), budget=Budget(rho=0.25), seed=0)
        return [measurement.label for measurement in release.receipt]

    assert labels(8000, 0.1).count("farthest rare value") == 1
    assert labels(600, 0.06).count("farthest rare value") > 3
    assert labels(600, 0.06).count("sides") == labels(600, 0.06).count("mean") == 1


@pytest.mark.parametrize("kind", list(DRAWS))
def test_what_clipping_takes_of_few_values_is_known_about_as_well_as_it_says(kind, monkeypatch):
    """Hardly ever, for any end of the interval, off by more than three standard deviations."""
    limit = 0.2 if kind == "log-normal" else 0.07

    def wrong() -> float:
        missed = []
        for seed in range(60):
            counts, (_, high) = sides(kind, (0, 60), 3.0, seed)
            tail = tails(counts, 3.0, 60.0)[1]
            true = np.maximum(high - tail.reach[:, np.newaxis], 0.0).sum(axis=1) / 1000.0
            allowed = 3.0 * np.sqrt(tail.doubt) + tail.guessed + 1e-4
            missed.append(np.any(np.abs(tail.lost - true) > allowed))
        return float(np.mean(missed))

    assert wrong() < limit
    if kind == "amounts":  # the same test fails where all values are taken to be alike
        shapes = likely_shapes._shapes.__wrapped__
        monkeypatch.setattr(likely_shapes, "_LUMP", 1e6)
        monkeypatch.setattr(likely_shapes, "_shapes", shapes)  # none that are stored
        assert wrong() > limit


def test_the_side_where_none_are_is_left_out(monkeypatch) -> None:
    def left() -> float:
        found = []
        for seed in range(30):
            low, high = tails(sides("flags", (0, 40), 4.0, seed)[0], 4.0, 40.0)
            found.append(low.lost[0] / high.lost[0])
        return float(np.median(found))

    assert left() < 0.03
    side = likely_shapes._side

    def always(*asked):
        """A planted fault: there are values on every side."""
        found = side(*asked)
        return replace(found, any=np.ones_like(found.any))

    monkeypatch.setattr(likely_shapes, "_side", always)
    assert left() > 0.03


def test_values_of_two_sizes_on_two_sides_are_told_apart(monkeypatch) -> None:
    """Forty ones below the bulk, forty sixteens above it."""
    counts, _ = sides("flags", (40, 40), 3.0, 0, sizes=(1.0, 16.0))

    def means() -> tuple[float, float]:
        low, high = tails(counts, 3.0, 80.0)
        return 1000.0 * low.mean / 40.0, 1000.0 * high.mean / 40.0

    low, high = means()
    assert 0.6 < low < 1.6
    assert 10.0 < high < 25.0
    monkeypatch.setattr(likely_shapes, "_OWN", np.inf)  # the same test fails for this fault
    low, high = means()
    assert not (0.6 < low < 1.6 and 10.0 < high < 25.0)


def test_values_that_are_likely_beyond_none_are_no_part_of_the_mean(monkeypatch) -> None:
    """A dozen values: heavy tails would add what none of them has."""

    def too_much() -> float:
        found = []
        for seed in range(40):
            counts, (_, high) = sides("amounts", (0, 16), 3.0, seed)
            tail = tails(counts, 3.0, 16.0)[1]
            found.append(1000.0 * tail.lost[0] / high.sum())
        return float(np.mean(found))

    few = too_much()
    shapes = likely_shapes._shapes
    monkeypatch.setattr(likely_shapes, "_shapes", lambda beyond: shapes(0.0))  # a planted fault
    assert too_much() > 1.25 * few


def test_variances_of_few_values(monkeypatch) -> None:
    def wrong() -> float:
        found = []
        for seed in range(20):
            values = rows("amounts", 20_000, 0.1, seed)
            release = prolate.variance(values, budget=Budget(rho=0.25), seed=seed)
            found.append(abs(release.estimate[0] / values.var() - 1.0))
        return float(np.median(found))

    assert wrong() < 0.05

    def nothing_lost(*asked, **more):
        """A planted fault: what clipping takes off squares is not given back."""
        found = likely_shapes.likely_shapes(*asked, **more)
        zeros = np.zeros(found.sides[0].reach.size)
        low, high = (replace(each, lost_square=zeros, doubt_square=zeros) for each in found.sides)
        return replace(found, sides=(low, high))

    monkeypatch.setattr(rare_sides, "likely_shapes", nothing_lost)
    assert wrong() > 0.05


@pytest.mark.parametrize(("kind", "most"), [("counts", 0.15), ("flags", 0.008)])
def test_variances_of_values_of_a_few_sizes(kind, most, monkeypatch) -> None:
    """No curve fits these, and so heavy tails seem likely, whose squares are large."""

    def wrong() -> float:
        found = []
        for seed in range(16):
            draw = np.random.default_rng(seed)
            values = draw.poisson(0.3, 20_000) if kind == "counts" else draw.random(20_000) < 0.2
            release = prolate.variance(
                values.astype(float)[:, np.newaxis], budget=Budget(rho=0.02), seed=seed
            )
            found.append(release.estimate[0] / values.var() - 1.0)
        return float(np.sqrt(np.mean(np.square(found))))

    assert wrong() < most
    # Planted faults: no shape fits, and curves are as of columns with few values alike.
    monkeypatch.setattr(rare_sides, "_FEW", 0.0)
    monkeypatch.setattr(likely_shapes, "_MISFIT", -np.inf)
    as_if_many = partial(fit_tail, rare=False)

    def taken_for_many(*asked, rare, **more):
        return as_if_many(*asked, **more)

    monkeypatch.setattr(rare_sides, "fit_tail", taken_for_many)
    assert wrong() > most


def test_a_few_whole_numbers_do_not_seem_heavy_tailed(monkeypatch) -> None:
    """They begin at once, as no tail does but a power."""

    def wrong() -> float:
        found = []
        for seed in range(16):
            values = np.random.default_rng(seed).geometric(0.7, (3000, 1)) - 1.0
            release = prolate.variance(values, budget=Budget(rho=0.05), seed=seed)
            found.append(release.estimate[0] / values.var() - 1.0)
        return float(np.sqrt(np.mean(np.square(found))))

    assert wrong() < 0.3
    shapes = likely_shapes._shapes.__wrapped__
    monkeypatch.setattr(likely_shapes, "_COUNTS", ((0.2, 1e-300),))  # a planted fault
    monkeypatch.setattr(likely_shapes, "_shapes", shapes)  # none that are stored
    assert wrong() > 0.5


def test_variances_of_flags_hold_what_they_say() -> None:
    held = []
    for seed in range(40):
        values = rows("flags", 3000, 0.04, seed)
        release = prolate.variance(values, budget=Budget(rho=0.25), seed=seed)
        error = np.hypot(release.noise_std[0], release.clipping_std[0])
        held.append(abs(release.estimate[0] - values.var()) < 2.0 * error)
    assert np.mean(held) > 0.85


@pytest.mark.parametrize("count", [2000, 20_000])
def test_missing_values_change_neither_mean_nor_variance(count, monkeypatch) -> None:
    """A fifth of the values is missing: each counts as what the others are on average."""
    values = rows("amounts", count, 0.1, 0)
    values[np.random.default_rng(1).random(count) < 0.2] = np.nan

    def wrong() -> np.ndarray:
        found = []
        for seed in range(10):
            means = prolate.mean(values, budget=Budget(rho=1), seed=seed)
            variances = prolate.variance(values, budget=Budget(rho=1), seed=seed)
            found.append([means.estimate[0], variances.estimate[0]])
        return np.abs(np.median(found, axis=0) / [np.nanmean(values), np.nanvar(values)] - 1.0)

    assert np.all(wrong() < 0.1)
    # The same test fails if what is there is not counted, and they count as the bulk.
    none = None, np.zeros(1, dtype=bool)
    monkeypatch.setattr(magnitudes, "find_present", lambda *_: none)
    for name in ("mean", "square"):
        bulk = property(lambda column, name=name: column.center if name == "mean" else 0.0)
        monkeypatch.setattr(rare_column.RareColumn, name, bulk)
    assert np.all(wrong() > 0.1)


def test_bounds_lower_the_price(monkeypatch) -> None:
    def off_with(bounds) -> float:
        values, found = rows("flags", 2000, 0.05, 0), []
        for seed in range(30):
            release = prolate.mean(values, budget=Budget(rho=0.25), bounds=bounds, seed=seed)
            found.append(release.estimate[0] - values.mean())
        return float(np.std(found))

    without = off_with(None)
    assert off_with((0, 1)) < 0.8 * without
    within = SideTail.within  # the same test fails for this fault
    monkeypatch.setattr(
        SideTail, "within", lambda tail, _, least: within(tail, np.inf, least=least)
    )
    assert off_with((0, 1)) > 0.8 * without


@pytest.mark.parametrize("part", [0.05, 0.1, 0.9])
@pytest.mark.parametrize("bounds", [(0, 1), (-1, 1), (0, 5)])
def test_variances_within_bounds_that_leave_one_side_no_room(part, bounds) -> None:
    """Such a variance was charged, and then ended by an error."""
    values = rows("flags", 20_000, part, 0)
    release = prolate.variance(values, budget=Budget(rho=0.25), bounds=bounds, seed=0)
    assert abs(release.estimate[0] - values.var()) < 6.0 * release.noise_std[0]
    assert release.noise_std[0] < 0.02


# Columns that are next to nothing, and not exactly 0.

N = 20_000
RNG = np.random.default_rng(0)


def curator_of(values: np.ndarray, mu: float = 1.0, seed: int = 0) -> Curator:
    return Curator(open_source(values), Budget(mu=mu), seed=seed)


@pytest.mark.parametrize("tiny", [1e-3, 1e-6, 1e-11])
def test_a_gap_of_a_single_column_is_seen(tiny) -> None:
    bulk = tiny * RNG.standard_normal(N)
    values = np.where(RNG.random(N) < 0.03, RNG.exponential(1.0, N), bulk)[:, np.newaxis]
    gap = tiny * gap_of_one(curator_of(values), N, np.zeros(1), np.full(1, tiny))
    assert 8.0 * tiny < gap < 0.1


@pytest.mark.parametrize(("surely", "seen"), [(4.5, False), (7.0, True)])
def test_noise_is_no_gap(surely: float, seen: bool, monkeypatch) -> None:
    """Of a thousand columns, one would be searched for values that are a million spreads away."""

    def measured(self, query, *, share: float, label: str) -> SimpleNamespace:
        std, counts = 30.0, np.zeros(11)
        counts[0], counts[5] = N, -surely * std * np.sqrt(6.0)  # so many seem to be beyond
        return SimpleNamespace(values=counts, std=std)

    monkeypatch.setattr(Curator, "measure", measured)
    curator = curator_of(np.zeros((N, 1)))
    gap = gap_of_one(curator, N, np.zeros(1), np.ones(1))
    assert (gap > 0.0) == seen


def test_tails_have_no_gap() -> None:
    """Noise makes one in ten million such looks; most of these draws have one in thousands."""
    draws = (
        RNG.standard_normal,
        RNG.exponential,
        lambda size: RNG.pareto(1.2, size),
        lambda size: np.exp(2.0 * RNG.standard_normal(size)),
    )
    one, wrong = np.ones(1), 0
    for draw in draws:
        values = draw(size=(N, 1))
        spread = 1.5 * np.median(np.abs(values)) * one
        for seed in range(100):
            curator = curator_of(values, mu=0.3, seed=seed)
            wrong += gap_of_one(curator, N, np.median(values) * one, spread) > 0.0
    assert wrong <= 4  # five of 400 are less likely than 1e-6


@pytest.mark.parametrize("tiny", [1e-4, 1e-9])
def test_a_column_beyond_a_gap_is_one_of_rare_values(tiny, monkeypatch) -> None:
    def far_off() -> float:
        found = []
        for seed in range(20):
            draw = np.random.default_rng(seed)
            bulk = tiny * draw.standard_normal((2_000, 1))
            values = np.where(
                draw.random(bulk.shape) < 0.05, draw.exponential(1.0, bulk.shape), bulk
            )
            release = prolate.mean(values, budget=Budget(rho=0.5), seed=seed)
            found.append(abs(release.estimate[0] / values.mean() - 1.0))
        return float(np.quantile(found, 0.8))

    found = far_off()
    monkeypatch.setattr(unknown, "gap_of_one", lambda *_: 0.0)  # a planted fault
    without = far_off()
    print("off:", found, "without:", without)
    assert found < 0.15
    assert without > 0.25


def test_a_private_number_of_rows_does_not_spoil_a_variance() -> None:
    """Squares are summed about their mean, not half of the largest: that times ten rows is much."""
    off = []
    for seed in range(8):
        rows = 49.0 + 10.0 * (np.random.default_rng(seed).random((8_000, 1)) < 0.1)
        made = prolate.variance(
            rows, budget=prolate.Budget(rho=0.5), neighbors="add-remove", seed=seed
        )
        off.append(abs(made.estimate[0] / rows.var() - 1.0))
    print("off by", np.round(off, 3))
    assert max(off) < 0.2  # around half of the largest: 1.4


@pytest.mark.parametrize("far", [2023.0, 1e6])
def test_a_private_number_of_rows_does_not_spoil_a_variance_far_from_0(far: float) -> None:
    """Bounds are those of values: bounds of squares made all squares alike, 5 to 16 times true."""
    for seed in range(3):
        values = far + rows("flags", 20_000, 0.3, seed)
        release = prolate.variance(
            values, budget=Budget(rho=0.5), neighbors="add-remove", seed=seed
        )
        assert release.estimate[0] == pytest.approx(values.var(), rel=0.02)


def test_costs_that_most_do_not_have_are_known_by_their_shape(monkeypatch) -> None:
    """A log-normal cost of a fifth of 20,000 rows: curves had 1.5 times the error."""

    def wrong() -> float:
        found = []
        for seed in range(24):
            rng = np.random.default_rng(seed)
            costs = np.where(rng.random((20_000, 1)) < 0.8, 0.0, rng.lognormal(7, 1.2, (20_000, 1)))
            release = prolate.mean(costs, budget=Budget(epsilon=1, delta=1e-6), seed=seed)
            found.append((release.estimate[0] - costs.mean()) / costs.std())
        return float(np.sqrt(np.mean(np.square(found))))

    assert wrong() < 0.0072
    monkeypatch.setattr(likely_shapes, "_MISFIT", -np.inf)  # a planted fault
    assert wrong() > 0.0072


@pytest.mark.parametrize(
    ("kind", "fit", "alike"),
    [("flags", True, True), ("amounts", True, False), ("prices", False, False)],
)
def test_many_values_say_whether_a_shape_fits(kind: str, *, fit: bool, alike: bool) -> None:
    rng, noise = np.random.default_rng(0), 20.0
    values = {
        "flags": np.full(8_000, 5.0),
        "amounts": rng.exponential(5.0, 8_000),
        "prices": rng.choice([1.0, 2.0, 5.0, 40.0], 8_000, p=[0.4, 0.3, 0.2, 0.1]),
    }[kind]
    high = np.histogram(values, np.append(EDGES, np.inf))[0] + noise * rng.normal(size=EDGES.size)
    low = noise * rng.normal(size=EDGES.size)
    found = likely((low, high), noise, 8_000.0, rows=20_000.0)
    assert (found.fit, found.alike) == (fit, alike)


def test_alike_values_are_counted_in_finer_cells() -> None:
    def sides_of(kind: str) -> int:
        rng = np.random.default_rng(0)
        values = {
            "flags": 5.0 * (rng.random(20_000) < 0.1),
            "amounts": np.where(rng.random(20_000) < 0.1, rng.exponential(5.0, 20_000), 0.0),
        }[kind]
        made = prolate.mean(values[:, np.newaxis], budget=Budget(rho=0.1), seed=1)
        return [measurement.label for measurement in made.receipt].count("sides")

    assert (sides_of("flags"), sides_of("amounts")) == (2, 1)


def test_prices_of_a_few_sizes_that_may_be_noise_are_counted_again(monkeypatch) -> None:
    """One in fifty that are paid is five times the next: not counted again, it is lost."""

    def wrong() -> float:
        found = []
        for seed in range(24):
            rng = np.random.default_rng(seed)
            prices = rng.choice(
                [10.0, 20.0, 50.0, 100.0, 500.0], 20_000, p=[0.4, 0.3, 0.2, 0.08, 0.02]
            )
            paid = np.where(rng.random(20_000) < 0.15, prices, 0.0)[:, np.newaxis]
            release = prolate.mean(paid, budget=Budget(epsilon=1, delta=1e-6), seed=seed)
            found.append(release.estimate[0] / paid.mean() - 1.0)
        return float(np.sqrt(np.mean(np.square(found))))

    sound = wrong()
    monkeypatch.setattr(curves, "_RARE_MAYBE", np.inf)  # a planted fault
    assert wrong() > 1.3 * sound
