"""The interval that a skewed column is clipped to: tails by noisy counts, and what they cost."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.special import ndtr

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.lengths import (
    curves,
    interval,
    likely_shapes,
    side_tail,
    sides,
    unseen,
)
from prolate.estimators.lengths.beyond import Beyond
from prolate.estimators.lengths.curves import how_many
from prolate.estimators.lengths.norms import MeasuredNorms
from prolate.estimators.lengths.one_column import ANYWHERE, OneColumn
from prolate.estimators.lengths.side_tail import fit_tail
from prolate.estimators.search import magnitudes
from prolate.sources import open_source

EDGES = sides.EDGES
N = 20_000
DRAWS = {
    "normal": lambda rng: rng.standard_normal(N),
    "exponential": lambda rng: rng.exponential(1.0, N) - 1.0,
    "log-normal": lambda rng: (rng.lognormal(size=N) - np.exp(0.5)) / 2.16,
    "power": lambda rng: (rng.pareto(3, N) - 0.5) / np.sqrt(0.75),
    "uniform": lambda rng: rng.uniform(-1.7, 1.7, N),
    "counts": lambda rng: (rng.poisson(0.3, N) - 0.3) / np.sqrt(0.3),
    "flags": lambda rng: ((rng.random(N) < 0.05) - 0.05) / np.sqrt(0.05 * 0.95),
}

REACH = {"power": 30.0, "log-normal": 12.0}  # of as many rows as noise hides, in spreads


def right_side(values: np.ndarray, noise: float, seed: int = 0) -> np.ndarray:
    """Counts between the edges, and beyond the last, with normal noise."""
    counts = np.histogram(values, np.append(EDGES, np.inf))[0].astype(float)
    return counts + np.random.default_rng(seed).normal(0.0, noise, counts.size)


def lost(values: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """What clipping at each distance takes off the mean."""
    return np.array([np.mean(np.maximum(values - each, 0.0)) for each in reach])


@pytest.mark.parametrize("noise", [3.0, 10.0, 40.0])
@pytest.mark.parametrize("kind", DRAWS)
def test_what_is_lost_is_known_about_as_well_as_it_says(kind, noise):
    for seed in range(8):
        values = DRAWS[kind](np.random.default_rng(seed))
        tail = fit_tail(EDGES, right_side(values, noise, seed), noise, N, apart=N)
        off = np.abs(tail.lost - lost(values, tail.reach))
        hidden = noise / N * REACH.get(kind, 6.0)
        assert np.all(off <= 5.0 * np.sqrt(tail.doubt) + hidden)
        assert np.all(np.diff(tail.lost) <= 0.0)
        assert np.all(np.diff(tail.doubt) <= 0.0)


@pytest.mark.parametrize("kind", ["exponential", "log-normal"])
def test_tails_that_are_well_seen_are_well_known(kind):
    values = DRAWS[kind](np.random.default_rng(1))
    tail = fit_tail(EDGES, right_side(values, 2.0), 2.0, N, apart=N)
    true = lost(values, tail.reach)
    seen = true > 0.002
    assert seen.any()
    np.testing.assert_allclose(tail.lost[seen], true[seen], rtol=0.3)


def test_where_many_values_are_the_same_no_curve_is_laid_through_them(monkeypatch):
    """One value in five is 1.1, one in fifty 3: a curve from 1.1 on would miss those."""
    values = np.repeat([-0.3, 1.1, 3.0], [N * 39 // 50, N // 5, N // 50])
    counts = right_side(values, 9.0)
    tail = fit_tail(EDGES, counts, 9.0, N, apart=N)
    true = lost(values, tail.reach)
    assert np.all(np.abs(tail.lost - true) <= 5.0 * np.sqrt(tail.doubt) + 0.001)
    # The same test fails for this fault.
    monkeypatch.setattr(side_tail, "joined_cells", lambda *_: None)
    monkeypatch.setattr(curves, "_MISFIT", np.inf)
    monkeypatch.setattr(curves, "_MISFIT_NEAR", np.inf)
    blind = fit_tail(EDGES, counts, 9.0, N, apart=N)
    true = lost(values, blind.reach)
    assert np.any(np.abs(blind.lost - true) > 5.0 * np.sqrt(blind.doubt) + 0.001)


def test_a_tail_of_few_rows_begins_where_a_tenth_of_them_are_farther_out():
    """97 % are zeros: no curve from the first edge on tells how long the others' tail is."""
    rng = np.random.default_rng(3)
    values = np.where(rng.random(N) < 0.97, 0.0, rng.gamma(2.0, 1.0, N)) / 0.42
    counts = right_side(values, 9.0)
    tail, blind = (fit_tail(EDGES, counts, 9.0, N, apart=apart) for apart in (0.03 * N, N))
    assert blind.reach[0] < 1.0 < tail.reach[0]
    off, blindly = (np.interp(12.0, t.reach, t.lost - lost(values, t.reach)) for t in (tail, blind))
    assert abs(off) < 0.5 * abs(blindly)


def test_a_curve_that_no_cell_sees_says_nothing() -> None:
    many, unsure = how_many(np.array([[0.5, 0.5], [0.0, 0.0]]), np.array([2.0, 1.0]), 0.1, 5.0)
    assert np.all(np.isfinite(many))
    assert np.all(np.isfinite(unsure))


def test_cells_where_a_curve_has_no_rows_do_not_say_how_many_follow_it(monkeypatch):
    """A hundred rows at a distance, nothing beyond, and twenty cells of noise."""
    values = np.repeat([0.0, 2.1], [9900, 100])

    def varies() -> float:
        counts = [right_side(values, 9.0, seed) for seed in range(200)]
        tails = [fit_tail(EDGES, each, 9.0, 10_000, apart=10_000) for each in counts]
        return float(np.std([10_000 * tail.beyond[0] for tail in tails]))

    assert varies() < 30.0
    monkeypatch.setattr(curves, "_ROUGH", np.inf)  # the same test fails for this fault
    assert varies() > 40.0


def labels(values: np.ndarray, seed: int = 1, **options) -> list[str]:
    release = prolate.mean(values.reshape(-1, 1), budget=Budget(rho=0.5), seed=seed, **options)
    return [measurement.label for measurement in release.receipt]


def test_only_single_skewed_columns_are_clipped_to_an_interval(monkeypatch):
    """Sides of a single column are counted once, whatever they show."""
    clipped, rng = [], np.random.default_rng(3)
    plan = interval.IntervalPlan.of
    monkeypatch.setattr(
        interval.IntervalPlan, "of", lambda *a, **k: (clipped.append(1), plan(*a, **k))[1]
    )
    skewed, normal = DRAWS["exponential"](rng), DRAWS["normal"](rng)
    assert labels(normal).count("sides") == 1
    assert labels(skewed, clip=0.01).count("sides") == 0
    both = np.column_stack([skewed, skewed])
    release = prolate.mean(both, budget=Budget(rho=0.5), seed=1)
    assert "sides" not in [measurement.label for measurement in release.receipt]
    assert not clipped
    assert labels(skewed).count("sides") == 1
    assert clipped


def test_missing_values_count_as_the_center(monkeypatch):
    """Half of them are missing: the middle of the interval is some eight spreads away."""
    values = np.random.default_rng(6).exponential(2.0, N) + 100.0
    true = values[::2].mean()
    values[1::2] = np.nan

    def off() -> float:
        release = prolate.mean(values.reshape(-1, 1), budget=Budget(rho=0.5), seed=1)
        assert "sides" in [measurement.label for measurement in release.receipt]
        return abs(release.estimate[0] - true) / 2.0

    assert off() < 0.15
    # The same test fails for this fault, if what is there is not counted.
    none = None, np.zeros(1, dtype=bool)
    monkeypatch.setattr(magnitudes, "find_present", lambda *_: none)
    assert off() < 0.15
    query = interval.ClippedSum
    fault = partial(query, missing=np.zeros(1))
    monkeypatch.setattr(interval, "ClippedSum", lambda *args, **_: fault(*args))
    assert off() > 0.5


def test_values_that_are_farther_out_than_is_counted_are_clipped_as_others_are():
    """One in fifty is a thousand times as far out: the last cell would be all of the tail."""
    rng = np.random.default_rng(5)
    values = rng.exponential(1.0, N) * np.where(rng.random(N) < 0.02, 1000.0, 1.0)
    found = [labels(values, seed) for seed in range(10)]
    assert sum("tilt" in each for each in found) >= 6
    assert not any({"tilt", "sides"} <= set(each) for each in found)


def test_where_rows_are_many_a_tail_is_counted_far_out(monkeypatch):
    """Of two million Pareto rows, of which a sample is searched."""
    values = np.random.default_rng(7).pareto(3.0, 2_500_000)

    def counted() -> int:
        return sum("sides" in labels(values, seed) for seed in range(8))

    assert counted() == 8
    monkeypatch.setattr(interval, "SEEN_WITHIN", 10.0)  # the same test fails for this fault
    assert counted() <= 5


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_interval_is_longer_on_the_side_of_the_tail(sign, neighbors):
    """Noise of an interval of 1 to the one side and some 8 to the other, not of twice 8.

    One row more or less moves the sum by 8 at most, which is about as much: it is around the mean,
    since the number of rows is private, and a sum around the interval's middle would be off by it.
    """
    values = sign * np.random.default_rng(4).exponential(2.0, N) + 100.0
    release = prolate.mean(
        values.reshape(-1, 1), budget=Budget(rho=0.5), neighbors=neighbors, seed=1
    )
    assert 4.0 * 2.0 < release.noise_std[0] * N < 16.0 * 2.0
    assert abs(release.estimate[0] - values.mean()) < 4.0 * np.hypot(
        release.noise_std[0], release.clipping_std[0]
    )


@pytest.mark.long
@pytest.mark.parametrize("kind", ["exponential", "flags"])
def test_a_private_number_of_rows_does_not_spoil_an_interval(kind: str) -> None:
    """Errors of forty releases are what they state: they were twice to four times that.

    Of a sum around the interval's middle, some four spreads from the mean, the private number of
    rows is wrong by 10 in 20,000. Seeds are fixed, so that nothing fails by chance.
    """
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        values = rng.exponential(2.0, N) + 100.0
        if kind == "flags":
            values = (rng.random(N) < 0.05).astype(float)
        made = prolate.mean(
            values.reshape(-1, 1), budget=Budget(rho=0.5), neighbors="add-remove", seed=seed
        )
        stated = np.hypot(made.noise_std[0], made.clipping_std[0])
        found.append((made.estimate[0] - values.mean()) / stated)
    print("errors over what is stated:", np.std(found))
    assert np.sqrt(np.mean(np.square(found))) < 1.6


def test_amounts_that_most_rows_lack_may_well_be_heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of the rows has a log-normal amount: what clipping takes of it is not left out."""
    edges = np.append(0.0, 200.0 * 2.0 ** (np.arange(37) / 4.0))
    fine = np.exp(np.linspace(5.0, 16.0, 20_001))
    present, rows, noise = 4_000.0, 20_000.0, 15.0

    def beyond(reach):
        return present * ndtr((7.0 - np.log(np.maximum(reach, 1e-9))) / 1.2)

    counts = np.append(beyond(edges[:-1]) - beyond(edges[1:]), beyond(edges[-1]))
    counts[0] = 0.0

    def off() -> float:
        """Return by how many times its doubt what is lost is larger than it seems."""
        tail = fit_tail(edges, counts, noise, rows, apart=present, rare=True)
        at = int(np.argmin(np.abs(tail.reach - 18_000.0)))
        lost = np.trapezoid(np.where(fine >= tail.reach[at], beyond(fine) / rows, 0.0), fine)
        return float((lost - tail.lost[at]) / np.sqrt(tail.doubt[at]))

    assert 0.0 < off() < 1.5
    usual = replace(curves.curves(), rare_odds=curves.curves().odds)
    monkeypatch.setattr(curves, "curves", lambda: usual)  # a planted fault
    assert off() > 2.5


def test_counts_of_events_state_what_their_farthest_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 0, 1, 2 and 3, twenty rows are at 3 and none is between: noise may hide them."""

    def off() -> float:
        found = []
        for seed in range(12):
            values = np.random.default_rng(seed).poisson(0.3, (8_000, 1)).astype(float)
            made = prolate.mean(values, budget=Budget(rho=0.5), seed=seed)
            stated = np.hypot(made.noise_std[0], made.clipping_std[0])
            found.append((made.estimate[0] - values.mean()) / stated)
        return float(np.sqrt(np.mean(np.square(found))))

    assert off() < 0.7  # a shape fits
    monkeypatch.setattr(likely_shapes, "_MISFIT", -np.inf)
    sound = off()
    assert sound < 1.1
    monkeypatch.setattr(side_tail, "_SIZES", side_tail._HIDDEN)  # a planted fault
    assert off() > 1.2 * sound


def test_values_at_two_places_are_not_all_taken_to_be_beyond_the_interval() -> None:
    """Lengths are counted in cells that are large far out; sides in finer ones."""
    allowed = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        places = np.where(rng.random(50_000) < 0.7, -74.0, -118.2)
        rows = (places + rng.normal(0.0, 0.3, 50_000))[:, np.newaxis]
        release = prolate.mean(rows, budget=Budget(rho=0.2), seed=seed)
        assert abs(release.estimate[0] - rows.mean()) < 0.005 * rows.std()
        allowed.append(release.clipping_std[0] / rows.std())
    print("allowed for, in standard deviations", np.round(allowed, 3))
    assert max(allowed) < 0.02  # .17 by lengths alone


def test_a_tail_that_noise_may_have_made_is_doubtful() -> None:
    counts = right_side(np.random.default_rng(3).exponential(1.0, 20_000), 1.0)
    sure = fit_tail(EDGES, counts, 15.0, 20_000, apart=20_000)
    assert not sure.doubtful
    counts[-8] += 4.5 * 15.0
    fooled = fit_tail(EDGES, counts, 15.0, 20_000, apart=20_000)
    assert fooled.doubtful
    assert fooled.reach[0] > 2.5 * sure.reach[0]
    # Counted again, it must stand out by more, since it was looked at for standing out.
    again = fit_tail(EDGES, counts, 15.0 * 1.1, 20_000, apart=20_000, again=True)
    assert again.reach[0] == sure.reach[0]


def test_sides_that_may_be_noise_are_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(5).exponential(1.0, 20_000)
    assert labels(values).count("sides") == 1
    monkeypatch.setattr(interval, "FAR_SPREADS", 0.5)
    assert labels(values).count("sides") == 2


@pytest.mark.parametrize(
    ("most", "shares"), [(0.0, [0.05]), (0.02, [0.05, 0.02]), (1.0, [0.05, 0.1])]
)
def test_sides_are_counted_again_for_no_more_than_that_may_cost(most, shares) -> None:
    """It was half of what is left of the whole budget, though other columns were to have that."""
    values = DRAWS["exponential"](np.random.default_rng(0))[:, np.newaxis]
    curator = Curator(open_source(values), Budget(mu=1), neighbors="replace", seed=1)
    column = OneColumn(curator, N, np.zeros(1), np.ones(1))
    sides.measure_sides(column, share=0.05, most=most, far=lambda _: True)
    assert [entry.share for entry in curator.receipt] == pytest.approx(shares)


def test_an_interval_reaches_as_far_as_lengths_show_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row in a hundred is far out: hidden by noise in each cell of a side, not in all."""

    def worst() -> float:
        off = []
        for seed in range(8):
            rng = np.random.default_rng(seed)
            values = rng.normal(size=(12_000, 1))
            values[:120, 0] += 10.0 * rng.exponential(size=120)
            release = prolate.mean(values, budget=Budget(mu=1), seed=seed)
            off.append(abs(release.estimate[0] - values.mean()))
        return max(off)

    assert worst() < 0.035
    monkeypatch.setattr(unseen, "_FEARED", 0.0)  # the same test fails for this fault
    monkeypatch.setattr(unseen, "_COUNTED", 0.0)
    assert worst() > 0.045


def test_no_interval_reaches_beyond_public_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be lost there: what might have been was stated."""
    x = np.random.default_rng(3).lognormal(size=(8000, 1)).clip(0, 15)
    given = {"budget": Budget(rho=0.5), "bounds": (0, 15), "seed": 4}
    queries = []
    measure = Curator.measure
    monkeypatch.setattr(
        Curator,
        "measure",
        lambda self, query, **kw: (
            queries.append((query, kw["label"])) or measure(self, query, **kw)
        ),
    )
    found = prolate.mean(x, **given)
    query = next(query for query, label in queries if label == "mean")
    reach = query.radius * query.scale[0]
    assert query.center[0] - reach == pytest.approx(0.0, abs=1e-9)
    monkeypatch.setattr(interval, "measure_sides", anywhere(sides.measure_sides))
    other = prolate.mean(x, **given)
    assert found.clipping_std[0] < 0.5 * other.clipping_std[0]


def anywhere(measure):
    """Measure sides as if there were no bounds."""
    return lambda column, **given: measure(replace(column, rooms=ANYWHERE), **given)


def test_rows_that_lengths_surely_show_are_not_hidden_beyond_an_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 10,000 ratios, thirty are far out: each of the sides' cells holds too few to be seen."""
    edges = np.array([0.5, 1.0, 2.0, 3.2, 4.5, 7.0, 12.0, 40.0])
    counts = np.array([4000, 3000, 2600, 180, 130, 60, 6, 32, -3], dtype=float)
    tail = Beyond.of(MeasuredNorms(edges, counts, 6.0, 1.0), 10_000.0)

    def hidden(most: float, others: float = 0.0) -> float:
        return unseen.Unseen(tail, 1.0, others).beyond(15.0, most, noise=0.005)

    found = hidden(0.005), hidden(0.0), hidden(0.005, 2.0)
    monkeypatch.setattr(unseen, "_COUNTED", 0.0)
    away = 32 / 10_000 * (np.sqrt(12.0 * 40.0) - 15.0)
    assert np.sqrt(found[0] ** 2 - hidden(0.005) ** 2) == pytest.approx(0.7 * away)
    assert found[1:] == (hidden(0.0), hidden(0.005, 2.0))  # no room; or other columns' rows
