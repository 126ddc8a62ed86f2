"""The door: what it charges, when, what it adds, and that nothing else comes out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prolate.budget import Budget
from prolate.curator import Curator, Measurement
from prolate.curator import curator as door
from prolate.errors import BudgetError, InputError, LedgerError
from prolate.noise import MAX_SCALE, PARTS
from prolate.queries import (
    RADIUS,
    ClippedSum,
    Count,
    CountBelow,
    Histogram,
    LinearGrid,
    Pairs,
    Query,
    Ranks,
)
from prolate.sources import open_source
from prolate.sources.arrays import ArraySource
from prolate.sources.choosing import Wanted
from prolate.sources.source import Source

ROWS = np.random.default_rng(1).normal(size=(1000, 3))


class Recording(Source):
    """A source that writes down when its rows are read."""

    def __init__(self, rows: np.ndarray, events: list[str], *, counted: bool = True) -> None:
        columns = tuple(f"x{j}" for j in range(rows.shape[1]))
        super().__init__(columns, len(rows) if counted else None, 1 << 20)
        self.rows, self.events = rows, events

    def blocks(self) -> Iterator[np.ndarray]:
        self.events.append("read")
        yield self.rows[:300]
        yield self.rows[300:]


def curator(rows: np.ndarray = ROWS, *, mu: float = 1.0, **options: object) -> Curator:
    return Curator(open_source(rows, None), Budget(mu=mu), **{"seed": 3, **options})


COUNT = CountBelow(np.zeros(3))


def shares_of(one: Curator) -> Fraction:
    return sum((Fraction(entry.share) for entry in one.receipt), Fraction(0))


# The budget.


@settings(max_examples=100)
@given(shares=st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=12))
def test_the_shares_never_exceed_one(shares) -> None:
    one = curator(ROWS[:4])
    for share in shares:
        before = shares_of(one)
        if before + Fraction(share) > 1:
            with pytest.raises(BudgetError, match="of the budget and only"):
                one.measure(COUNT, share=share, label="x")
            assert shares_of(one) == before
        else:
            one.measure(COUNT, share=share, label="x")
    left = one.remaining
    assert Fraction(left) <= 1 - shares_of(one) <= Fraction(math.nextafter(left, 2.0))
    if left > 0.0:
        one.measure(COUNT, share=left, label="rest")
    assert shares_of(one) <= 1
    if one.remaining == 0.0:
        with pytest.raises(BudgetError):
            one.measure(COUNT, share=1e-300, label="more")


def test_thirds_do_not_add_up_to_more_than_one() -> None:
    """0.1 ten times is one in floating point, and more than one as fractions."""
    one = curator(ROWS[:4])
    for _ in range(9):
        one.measure(COUNT, share=0.1, label="x")
    assert Fraction(0.1) * 10 > 1
    with pytest.raises(BudgetError, match=r"wants 0\.1 of the budget and only 0\.1 is left"):
        one.measure(COUNT, share=0.1, label="x")
    one.measure(COUNT, share=one.remaining, label="x")


@pytest.mark.parametrize("share", [0.0, -0.1, 1.0000001, math.nan, math.inf])
def test_shares_that_are_refused(share) -> None:
    one = curator()
    with pytest.raises(BudgetError, match=r"A share must lie in \(0, 1\]"):
        one.measure(COUNT, share=share, label="x")
    assert one.remaining == 1.0
    assert one.receipt == ()


def test_a_share_too_small_to_measure_anything() -> None:
    one = curator(mu=1e-6)
    with pytest.raises(BudgetError, match="too small to measure anything"):
        one.measure(ClippedSum(np.zeros(3), np.ones(3), 1.0), share=1e-12, label="x")
    assert one.remaining == 1.0


# The noise.

SENSITIVITIES = st.one_of(
    st.integers(0, 10),
    st.integers(1, 10**6),
    st.just(4 * RADIUS**2),
    st.integers(0, 30).map(lambda k: 2 * 4**k),
)
LOGS = st.floats(math.log(1.1e-6), math.log(9e3))


@settings(max_examples=400)
@given(squared=SENSITIVITIES, share=st.floats(1e-12, 1.0), log_mu=LOGS)
def test_the_noise_is_the_least_that_its_share_allows(squared, share, log_mu) -> None:
    """scale**2 share mu**2 >= D**2, as fractions, and no smaller scale would do."""
    one = curator(ROWS[:2], mu=math.exp(log_mu))
    exact_mu = Fraction(one.budget.mu)
    try:
        scale, shift = one._noise_scale(squared, share)
    except BudgetError:
        # Only where even whole steps are too fine to be counted.
        assert squared / (Fraction(share) * exact_mu**2) > (MAX_SCALE - 1) ** 2
        return
    assert 1 <= scale <= MAX_SCALE
    assert shift >= 0
    step = Fraction(1, 2**shift)
    assert (scale * step) ** 2 * Fraction(share) * exact_mu**2 >= squared
    if scale > 1:
        assert ((scale - 1) * step) ** 2 * Fraction(share) * exact_mu**2 < squared
    if squared:
        # A fine grid: steps of at most 2**-33, or noise of at least 2**32 steps.
        assert shift >= 33 or scale >= 2**32


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize(
    "query",
    [COUNT, Histogram(LinearGrid(np.zeros(3), np.ones(3), 5)), ClippedSum(*np.ones((2, 3)), 2.0)],
)
def test_what_the_receipt_says_is_what_was_done(neighbors, query, monkeypatch) -> None:
    used = []
    honest = door.rounded_gaussian

    def spy(scale: int, size: int, bits: object, **options: int) -> np.ndarray:
        used.append((scale, size))
        return honest(scale, size, bits, **options)

    monkeypatch.setattr(door, "rounded_gaussian", spy)
    one = curator(mu=0.7, neighbors=neighbors)
    measured = one.measure(query, share=0.3, label="what for")
    assert one.receipt == (measured,)
    ((scale, size),) = used
    squared = query.sensitivity_squared(neighbors)
    _, shift = one._noise_scale(squared, 0.3)
    assert size == query.size == measured.values.size
    assert Fraction(measured.std) == Fraction(scale, 2**shift)
    assert Fraction(measured.std) ** 2 * Fraction(0.3) * Fraction(0.7) ** 2 >= squared
    assert measured.sensitivity == pytest.approx(math.sqrt(squared), rel=1e-15)
    assert measured.mu == pytest.approx(measured.sensitivity / measured.std, rel=1e-9)
    assert (measured.label, measured.share) == ("what for", 0.3)
    assert measured.query == query.describe()


class Constant(Query):
    """A query with a total of our choice, and a sensitivity of our choice."""

    def __init__(self, total: np.ndarray, squared: int) -> None:
        self.total, self.squared = np.asarray(total, dtype=np.int64), squared

    @property
    def columns(self) -> int:
        return 1

    @property
    def size(self) -> int:
        return self.total.size

    def sensitivity_squared(self, neighbors: str) -> int:
        return self.squared

    def add(self, rows: np.ndarray, total: np.ndarray) -> None:
        total += self.total

    def describe(self) -> str:
        return "a constant"


@settings(max_examples=300)
@given(data=st.data())
def test_the_values_are_the_exact_sum_of_total_and_noise(data) -> None:
    """With planted noise: the value is the rational total + noise / 2**shift, rounded."""
    squared = data.draw(SENSITIVITIES)
    one = curator(np.zeros((1, 1)), mu=data.draw(st.sampled_from([1e-3, 0.3, 1.0, 50.0])))
    scale, shift = one._noise_scale(squared, 1.0)
    totals = data.draw(st.lists(st.integers(-(2**61), 2**61), min_size=1, max_size=6))
    planted = [
        data.draw(
            st.one_of(
                st.integers(-64 * scale, 64 * scale),
                st.sampled_from([0, 1, -1, 2**shift, -(2**shift), 2**shift - 1, -(2**shift) - 1]),
                # Noise that takes the total back to near nothing.
                st.integers(-9, 9).map(lambda k, t=total: k - (t << shift)),
            )
        )
        for total in totals
    ]
    planted = [min(max(noise, -(2**62)), 2**62) for noise in planted]
    with pytest.MonkeyPatch.context() as patch:
        planted_noise = np.array(planted, dtype=np.int64)
        patch.setattr(door, "rounded_gaussian", lambda *_, **__: planted_noise)
        values = one.measure(Constant(np.array(totals), squared), share=1.0, label="x").values
    for value, total, noise in zip(values.tolist(), totals, planted, strict=True):
        exact = total + Fraction(noise, 2**shift)
        whole = total + (noise >> shift)
        if abs(whole) < 2**53:
            # One rounding of the exact value.
            assert value == float(exact)
        else:
            assert abs(Fraction(value) - exact) <= abs(exact) / 2**52


def test_noise_of_the_stated_size_is_added() -> None:
    query = Constant(np.full(200_000, 10**6), 7)
    one = curator(np.zeros((1, 1)), mu=2.0, seed=None)
    measured = one.measure(query, share=0.25, label="x")
    z = (measured.values - 10**6) / (math.sqrt(7) / 1.0)
    # 7 standard deviations of the mean and of the variance: 1e-11.
    assert abs(z.mean()) < 7.0 / math.sqrt(z.size)
    assert abs(z.var() - 1.0) < 7.0 * math.sqrt(2.0 / z.size)
    assert one.private
    again = curator(np.zeros((1, 1)), mu=2.0, seed=None).measure(query, share=0.25, label="x")
    assert not np.intersect1d(measured.values, again.values).size > 10


# The order of things.


def test_the_charge_comes_before_any_row_is_read_and_once() -> None:
    events: list[str] = []
    source = Recording(ROWS, events)
    one = Curator(source, Budget(mu=1), charge=lambda: events.append("charge"), seed=1)
    one.measure(COUNT, share=0.5, label="first")
    assert events == ["charge", "read"]
    one.measure(COUNT, share=0.5, label="second")
    assert events == ["charge", "read", "read"]


def test_a_failing_charge_releases_nothing() -> None:
    events: list[str] = []

    def refuse() -> None:
        events.append("refused")
        raise LedgerError("full")

    one = Curator(Recording(ROWS, events), Budget(mu=1), charge=refuse, seed=1)
    for _ in range(2):
        with pytest.raises(LedgerError):
            one.measure(COUNT, share=0.25, label="x")
    # Asked again, it is charged again: a refusal does not open the door.
    assert events == ["refused", "refused"]
    assert one.receipt == ()
    assert one.remaining <= 0.75


def test_what_is_wrong_with_a_query_is_said_before_anything_is_charged() -> None:
    events: list[str] = []
    one = Curator(
        Recording(ROWS, events),
        Budget(mu=1),
        neighbors="add-remove",
        charge=lambda: events.append("charge"),
    )
    with pytest.raises(InputError, match="made for 2 columns; the data has 3"):
        one.measure(CountBelow(np.zeros(2)), share=0.5, label="x")
    with pytest.raises(InputError, match="no bounded sensitivity"):
        one.measure(Pairs(COUNT), share=0.5, label="x")
    with pytest.raises(BudgetError):
        one.measure(COUNT, share=2.0, label="x")
    assert events == []
    assert one.remaining == 1.0


def test_a_crash_while_reading_wastes_budget_and_hides_none() -> None:
    class Broken(Recording):
        def blocks(self) -> Iterator[np.ndarray]:
            yield self.rows[:10]
            raise KeyboardInterrupt

    charged: list[int] = []
    one = Curator(Broken(ROWS, []), Budget(mu=1), charge=lambda: charged.append(1))
    with pytest.raises(KeyboardInterrupt):
        one.measure(COUNT, share=0.75, label="x")
    assert charged == [1]
    assert one.remaining == 0.25
    assert one.receipt == ()
    with pytest.raises(BudgetError):
        one.measure(COUNT, share=0.5, label="x")


# What is public.


def test_the_number_of_rows_is_public_under_replace_only() -> None:
    assert curator().public_rows() == 1000
    events: list[str] = []
    uncounted = Curator(Recording(ROWS, events, counted=False), Budget(mu=1))
    assert uncounted.public_rows() == 1000
    assert uncounted.public_rows() == 1000
    assert events == ["read"]
    assert uncounted.remaining == 1.0
    with pytest.raises(InputError, match="number of these rows is private"):
        curator(neighbors="add-remove").public_rows()


def test_nothing_under_add_remove_shows_the_number_of_rows() -> None:
    one = curator(neighbors="add-remove")
    measured = one.measure(Count(3), share=1.0, label="rows")
    assert measured.values[0] != 1000.0
    assert measured.std >= 1.0
    # Two data sets of different length give the same receipt, save the values.
    two = curator(ROWS[:-1], neighbors="add-remove")
    other = two.measure(Count(3), share=1.0, label="rows")

    def public(entry: Measurement) -> tuple[object, ...]:
        return (entry.std, entry.label, entry.query, entry.share, entry.mu, entry.sensitivity)

    assert public(measured) == public(other)
    assert measured.values[0] - other.values[0] == 1.0  # the same seed: the same noise


def test_no_rows() -> None:
    one = curator(ROWS[:0], neighbors="add-remove")
    assert np.all(np.isfinite(one.measure(COUNT, share=1.0, label="x").values))
    assert curator(ROWS[:0]).public_rows() == 0


def test_unknown_neighbors() -> None:
    with pytest.raises(InputError, match="neighbors must be 'replace' or 'add-remove'; got 'x'"):
        curator(neighbors="x")


def test_bounds_are_applied_to_every_query() -> None:
    bounds = (np.full(3, -0.5), np.full(3, 0.5))
    inside = np.where(np.abs(ROWS) < 0.5, ROWS, np.sign(ROWS) * 0.5)
    query = ClippedSum(np.zeros(3), np.ones(3), 3.0)
    cut = curator(bounds=bounds).measure(query, share=1.0, label="x")
    assert np.array_equal(cut.values, curator(inside).measure(query, share=1.0, label="x").values)
    assert "cut to public bounds" in cut.query


# Seeds, blocks, progress.


@pytest.mark.parametrize("block_bytes", [64, 1000, 1 << 20])
@pytest.mark.parametrize("seed", [0, 7])
def test_the_same_seed_gives_the_same_bits_for_blocks_of_any_size(block_bytes, seed) -> None:
    def run(size: int) -> list[np.ndarray]:
        one = Curator(ArraySource(ROWS, Wanted(), size), Budget(mu=1), seed=seed)
        queries = [COUNT, ClippedSum(np.zeros(3), np.ones(3), 1.0), Pairs(COUNT)]
        return [one.measure(query, share=0.25, label="x").values for query in queries]

    for one, other in zip(run(block_bytes), run(24_000), strict=True):
        assert np.array_equal(one, other)
    assert not curator(seed=seed).private
    assert curator(seed=None).private


def test_noise_is_fresh_in_every_measurement() -> None:
    one = curator(seed=5)
    first, second = (one.measure(COUNT, share=0.25, label="x").values for _ in range(2))
    assert not np.any(first == second)


def test_progress_is_told() -> None:
    calls: list[tuple[str, int, int | None]] = []
    one = Curator(
        Recording(ROWS, []), Budget(mu=1), progress=lambda *call: calls.append(call), seed=1
    )
    one.measure(COUNT, share=0.5, label="center")
    assert calls == [("center", 0, 1000), ("center", 300, 1000), ("center", 1000, 1000)]


def test_columns() -> None:
    one = curator()
    assert one.columns == ("x0", "x1", "x2")
    assert one.dimension == 3
    assert one.mu_of(0.25) == 0.5


# The exponential mechanism.


def test_selecting_wants_a_budget_in_rho() -> None:
    ranks = Ranks(np.full(3, -8.0), np.full(3, 8.0), 0.5)
    with pytest.raises(BudgetError, match=r"budget\.for_zcdp"):
        curator().select(ranks, share=0.5, label="x")
    one = Curator(open_source(ROWS, None), Budget(rho=50).for_zcdp(), seed=1)
    measured = one.select(ranks, share=0.5, label="median")
    assert np.all(np.abs(measured.values) < 0.3)
    assert one.remaining == 0.5
    assert one.receipt == (measured,)
    with pytest.raises(BudgetError, match=r"only 0\.5 is left"):
        one.select(ranks, share=0.75, label="x")
    # Ranks of something that a row enters more than once would cost more than they say.
    twice = Ranks(np.full(3, -8.0), np.full(3, 8.0), 0.5, of=Twice)
    with pytest.raises(InputError, match="that one row enters only once"):
        one.select(twice, share=0.25, label="x")
    assert one.remaining == 0.5


class Twice(Query):
    """Every row, counted twice."""

    def __init__(self, query: Query) -> None:
        self.query = query

    @property
    def columns(self) -> int:
        return self.query.columns

    @property
    def size(self) -> int:
        return self.query.size

    def sensitivity_squared(self, neighbors: str) -> int:
        return 4 * self.query.sensitivity_squared(neighbors)

    def add(self, rows: np.ndarray, total: np.ndarray) -> None:
        self.query.add(rows, total)
        self.query.add(rows, total)

    def describe(self) -> str:
        return "twice"


def test_measured_together_is_as_measured_one_by_one() -> None:
    query = ClippedSum(np.zeros(3), np.ones(3), 2.0)
    both = curator().measure_together([(COUNT, 0.25, "a"), (query, 0.5, "b")])
    one = curator()
    alone = (one.measure(COUNT, share=0.25, label="a"), one.measure(query, share=0.5, label="b"))
    for here, there in zip(both, alone, strict=True):
        assert np.array_equal(here.values, there.values)
        assert (here.std, here.label, here.query, here.share) == (
            there.std,
            there.label,
            there.query,
            there.share,
        )


def test_together_reads_once_and_never_overspends() -> None:
    events: list[str] = []
    door = Curator(Recording(ROWS, events), Budget(mu=1.0), charge=lambda: events.append("charge"))
    with pytest.raises(BudgetError, match=r"wants 1\.2 of the budget"):
        door.measure_together([(COUNT, 0.6, "a"), (COUNT, 0.6, "b")])
    assert (events, door.receipt, door.remaining) == ([], (), 1.0)
    door.measure_together([(COUNT, 0.6, "a"), (COUNT, 0.4, "b")])
    assert events == ["charge", "read"]
    assert door.remaining == 0.0


def test_a_sample_is_charged_first_and_shares_the_account() -> None:
    events: list[str] = []
    door = Curator(
        Recording(ROWS, events), Budget(mu=1.0), seed=1, charge=lambda: events.append("charge")
    )
    sample = door.sampled(200, 1000)
    assert events == ["charge", "read"]
    assert sample.fraction == math.ceil(0.2 * PARTS) / PARTS
    sample.measure(COUNT, share=0.5, label="on the sample")
    assert events == ["charge", "read"]  # the sample is held in memory
    assert door.remaining == sample.remaining == 0.5
    assert "of a random sample of 20 % of the rows" in door.receipt[0].query
    door.measure(COUNT, share=0.5, label="on all rows")
    with pytest.raises(BudgetError):
        sample.measure(COUNT, share=0.1, label="too much")


def test_a_sample_is_fair_and_does_not_depend_on_blocks() -> None:
    rows = np.arange(40_000.0).reshape(-1, 1)
    source = open_source(rows)
    source.rows_per_block = 997

    def kept(one: Curator) -> np.ndarray:
        return np.concatenate([np.array(block) for block in one._rows.source.blocks()])[:, 0]

    first = kept(Curator(source, Budget(mu=1.0), seed=5).sampled(10_000, 40_000))
    again = kept(curator(rows, seed=5).sampled(10_000, 40_000))
    assert np.array_equal(first, again)
    # 10,000 expected, standard deviation 87: false alarm below 1e-9 at 6.2 of them.
    assert abs(first.size - 10_000) < 540
    assert abs(np.mean(first < 20_000) - 0.5) < 6.2 * 0.5 / math.sqrt(first.size)
    other = kept(curator(rows, seed=None).sampled(10_000, 40_000))
    assert not np.array_equal(first, other)


def test_few_rows_are_not_sampled() -> None:
    door = curator()
    assert door.sampled(501, 1000) is door
    assert door.sampled(1e9, 1000) is door
    assert door.sampled(math.inf, 1000) is door


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_samples_of_neighbors_are_neighbors(neighbors) -> None:
    """With the same bits a replaced row is in both samples or in none."""
    rows, other = np.arange(4000.0).reshape(-1, 2), np.arange(4000.0).reshape(-1, 2)
    other[777] = [-1e9, 1e9]
    here = curator(rows, neighbors=neighbors, seed=2).sampled(400, 2000)
    there = curator(other, neighbors=neighbors, seed=2).sampled(400, 2000)
    first = np.concatenate(list(here._rows.source.blocks()))
    second = np.concatenate(list(there._rows.source.blocks()))
    assert first.shape == second.shape
    assert np.count_nonzero(np.any(first != second, axis=1)) <= 1


def leading(rows: np.ndarray, neighbors="add-remove", size: float = 30) -> Curator:
    source = open_source(rows)
    source.rows_per_block = 8
    door = Curator(source, Budget(mu=1.0), neighbors=neighbors, seed=2, exchangeable=True)
    return door.sampled(size, 100)


def test_the_first_rows_are_the_sample_of_exchangeable_ones() -> None:
    rows = np.arange(200.0).reshape(-1, 2)
    sample = leading(rows, "replace")
    assert np.array_equal(np.concatenate(list(sample._rows.source.blocks())), rows[:30])
    assert sample.fraction == 0.3
    sample.measure(Count(2), share=0.5, label="rows")
    assert sample.receipt[0].query.endswith("of the first 30 % of the rows")
    with pytest.raises(InputError, match="private"):
        sample.public_rows()


def test_no_block_is_read_beyond_the_first_rows() -> None:
    reported: list[int] = []
    door = Curator(
        open_source(np.zeros((100_000, 2))),
        Budget(mu=1.0),
        progress=lambda label, done, rows: reported.append(done),
        exchangeable=True,
    )
    door._rows.source.rows_per_block = 1000
    door.sampled(2500, 100_000)
    assert reported == [0, 1000, 2000, 3000]


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("n", [20, 30, 31, 100])
def test_a_neighbor_of_the_first_rows_stays_within_the_sensitivity(neighbors, n) -> None:
    """Under add-remove a row that goes lets another one in, or none where there is none."""
    rows = np.random.default_rng(n).normal(0.0, 10.0, (n, 2))
    query = ClippedSum(np.zeros(2), np.ones(2), 1.0)

    def answer(data: np.ndarray) -> tuple[np.ndarray, int]:
        sample = leading(data, neighbors)._rows
        return sample.sum(query, ""), sample.sensitivity_squared(query)

    here, square = answer(rows)
    farthest = 0.0
    for k in range(n):
        other = np.delete(rows, k, axis=0)
        if neighbors == "replace":
            other = rows.copy()
            other[k] = -100.0 * np.sign(rows[k])
        change = (answer(other)[0] - here).astype(float)
        farthest = max(farthest, float(change @ change))
    assert 0.0 < farthest <= square
    assert farthest > 0.2 * square  # a quarter of it where a row only goes
