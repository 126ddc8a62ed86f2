"""Separate parts of the rows: who is in which, what questions to them cost, what is said."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse

import prolate
from prolate.budget import Budget
from prolate.curator import Curator
from prolate.curator.account import Account
from prolate.errors import BudgetError, InputError, ReleaseError
from prolate.estimators.search import own_rows
from prolate.noise import PARTS, NumberedBits, SeededBits
from prolate.queries import (
    ClippedSum,
    Count,
    CountBelow,
    EdgesGrid,
    FarthestHistogram,
    Histogram,
    LinearGrid,
    MagnitudeGrid,
    NormHistogram,
    Pairs,
    PooledHistogram,
    Query,
    Selected,
    kernels,
)
from prolate.release import ReceiptEntry, Release
from prolate.sources import Dealing, columns_in_place, kept, open_source
from prolate.sources.chosen import ChosenRows
from prolate.terminal import print_receipt

BITS = NumberedBits.from_bits(SeededBits(0))
ROWS = np.random.default_rng(1).normal(size=(1000, 3))
COUNT = CountBelow(np.zeros(3))


def curator(rows: np.ndarray = ROWS, **options: object) -> Curator:
    return Curator(open_source(rows, None), Budget(mu=1.0), **{"seed": 3, **options})


# Who is in which.


def test_numbers_are_dealt() -> None:
    """Each part has as many as the others, and the same ones wherever one starts.

    Counts within 6.5 standard deviations, which chance exceeds once in 10**10.
    """
    chosen, which = BITS.dealt(0, 1_000_000, 12_345, 8)
    expected = 1_000_000 * 12_345 / PARTS
    assert abs(chosen.size - expected) < 6.5 * math.sqrt(expected)
    counts = np.bincount(which, minlength=8)
    assert counts.size == 8
    assert np.all(np.abs(counts - chosen.size / 8) < 6.5 * math.sqrt(chosen.size / 8))
    same = np.count_nonzero(which[1:] == which[:-1])  # neighbors no more often than others
    assert abs(same - chosen.size / 8) < 6.5 * math.sqrt(chosen.size / 8)
    for start, count in ((0, 1), (262_140, 9), (5, 700_000), (999_990, 10)):
        some, parts = BITS.dealt(start, count, 12_345, 8)
        here = (chosen >= start) & (chosen < start + count)
        assert np.array_equal(some, chosen[here])
        assert np.array_equal(parts, which[here])
    assert not np.array_equal(which, NumberedBits(b"k" * 32).dealt(0, 1_000_000, 12_345, 8)[1])


def files(rows: np.ndarray, folder: object) -> str:
    pq.write_table(
        pa.table({f"x{j}": rows[:, j] for j in range(rows.shape[1])}),
        f"{folder}/rows.parquet",
        row_group_size=70,
    )
    return f"{folder}/rows.parquet"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("columns", "part"), [(3, PARTS // 2), (70, PARTS // 2), (70, PARTS // 5)])
def test_parts_are_the_same_rows_of_every_source(
    monkeypatch, dtype, columns, part, tmp_path
) -> None:
    monkeypatch.setattr(kept, "_CHOICES", 50)
    rows = np.random.default_rng(0).normal(size=(333, columns)).astype(dtype)
    rows[np.random.default_rng(2).random(rows.shape) < 0.1] = 0.0
    deal, seen = Dealing(BITS, part, 4), []
    numbers, which = deal.both(0, 333)
    assert deal.each == part / PARTS / 4
    ask = ClippedSum(np.zeros(columns), np.ones(columns), 2.0)
    tables = [rows, np.asfortranarray(rows), np.ma.array(rows), np.repeat(rows, 2, 1)[:, ::2]]
    tables += [rows.astype(np.longdouble), rows.astype(rows.dtype.newbyteorder())]
    tables += [
        scipy.sparse.csr_array(rows),
        pa.table({f"x{j}": rows[:, j] for j in range(columns)}),
        pa.concat_tables(
            [
                pa.table({f"x{j}": some[:, j] for j in range(columns)})
                for some in (rows[:5], rows[5:])
            ]
        ),
    ]
    backwards = list(range(columns))[::-1]
    chosen = [(rows[:, ::-1].copy(), backwards), (np.ma.array(rows[:, ::-1]), backwards)]
    every = [(data, None) for data in (*tables, files(rows, tmp_path))]
    for data, names in every + chosen:
        source = open_source(data, names)
        source.rows_per_block = 40
        of = source.dealt(deal, seen.append)
        assert seen[-1] == 333
        for parts in ([0], [3, 1], [0, 1, 2, 3], [2, 2]):
            mine = rows[numbers[np.isin(which, parts)]]
            some = of(parts)
            assert some.n_rows == len(mine)
            assert some.columns == source.columns
            if names is not None:
                assert some._array is source._array  # no rows are copied, until they are read
            assert np.array_equal(np.concatenate([np.array(b) for b in some.blocks()]), mine)
            assert some.collect(ask, columns).tolist() == ask(mine).tolist()
            alone = some.collect(lambda block: np.array([len(block)]), 1)  # that reads blocks only
            assert alone.tolist() == [len(mine)]
    assert open_source(np.ones((20, 3))).dealt(Dealing(BITS, 0, 2))([0]).n_rows == 0


def asked(d: int) -> list[Query]:
    zeros, ones, first = np.zeros(d), np.ones(d), np.full(d, 1000)
    grid = MagnitudeGrid(zeros, first, 60, 51)
    edges = np.sort(np.random.default_rng(1).normal(size=(d, 5)), axis=1)
    clip = ClippedSum(zeros, ones, 5.0)
    return [
        clip,
        ClippedSum(zeros, ones, 5.0, tilt=(2.0, 6.0)),
        ClippedSum(zeros, ones, 5.0, about=ones),
        ClippedSum(zeros, ones, 5.0, lower=-ones, upper=ones, beyond=True),
        clip.within(-ones, ones) or clip,
        Histogram(grid),
        Histogram(LinearGrid(-2.0 * ones, 0.5 * ones, 8)),
        Histogram(LinearGrid(-2.0 * ones, 0.01 * ones, 400), missing=True),
        Histogram(EdgesGrid(edges)),
        PooledHistogram(grid),
        FarthestHistogram(zeros, ones, 4),
        NormHistogram(zeros, ones, np.linspace(5.0, 12.0, 9)),
        NormHistogram(zeros, ones, np.sqrt(np.arange(40.0, 90.0))),
        CountBelow(zeros),
        Count(d),
        Selected(Pairs(ClippedSum(zeros[:2], 0.1 * ones[:2], 1.0)), np.array([1, 0]), d),
        Selected(ClippedSum(zeros[:2], ones[:2], 1.0), np.array([d - 1, 0]), d),
        Selected(Histogram(EdgesGrid(edges[:2])), np.array([d - 1, 0]), d),
    ]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
@pytest.mark.parametrize("d", [5, 64, 130, 700])
@pytest.mark.parametrize("by", ["numba", "numpy"])
def test_rows_are_read_where_they_lie_as_in_a_block_of_their_own(by, dtype, d, monkeypatch) -> None:
    if by == "numpy":
        monkeypatch.setattr(kernels, "_loaded", lambda _: None)
    rng = np.random.default_rng(d)
    rows = rng.normal(size=(900, d))
    if dtype != np.int16:
        rows[rng.random(rows.shape) < 0.002] = np.nan
        rows[3] = np.inf
    rows = rows.astype(dtype)
    for index in (np.flatnonzero(rng.random(900) < 0.4), np.array([899]), np.array([7, 3, 3])):
        for query in asked(d):
            chosen, mine = np.zeros(query.size, np.int64), ChosenRows(rows, index)
            query.add_block(mine, chosen)
            assert chosen.tolist() == query(rows[index]).tolist(), query.describe()
    none = ChosenRows(rows, np.zeros(0, np.int64))
    for query in asked(d):
        nothing = np.zeros(query.size, np.int64)
        query.add_block(none, nothing)
        assert not nothing.any()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [2, 5, 130, 700])
@pytest.mark.parametrize("by", ["numba", "numpy"])
def test_columns_are_read_where_they_lie_as_in_a_block_of_their_own(
    by, dtype, d, monkeypatch
) -> None:
    if by == "numpy":
        monkeypatch.setattr(kernels, "_loaded", lambda _: None)
        monkeypatch.setattr(columns_in_place, "_loops", lambda: None)
    rng = np.random.default_rng(d)
    rows = rng.normal(size=(900, d)).astype(dtype)
    rows[rng.random(rows.shape) < 0.002] = np.nan
    rows[3] = np.inf
    places = rng.permutation(d)  # columns need not lie in order
    apart = [column.copy() for column in rows.T[places]]
    alone = columns_in_place.columns_in_place([apart[j] for j in np.argsort(places)])
    whole = columns_in_place.columns_of(np.asfortranarray(rows))
    assert whole is not None
    some = np.array([0, 7, 8, 400, 899])
    for mine in (alone, whole):
        assert (mine.shape, mine.size, len(mine)) == ((900, d), 900 * d, 900)
        pieces = [
            (mine, rows),
            (mine[4:601], rows[4:601]),
            (mine[4:601][595:], rows[599:601]),
            (mine[900:], rows[900:]),
            (mine.at(some), rows[some]),
            (mine.at(some)[1:3], rows[some[1:3]]),
            (mine.at(some[:0]), rows[:0]),
        ]
        for piece, block in pieces:
            assert np.array_equal(piece, block, equal_nan=True)
            for query in asked(d):
                found = np.zeros(query.size, np.int64)
                query.add_block(piece, found)
                assert found.tolist() == query(block).tolist(), query.describe()
    few = alone.columns(np.array([d - 1, 0, 0]))
    assert np.array_equal(few, rows[:, [d - 1, 0, 0]], equal_nan=True)


# What questions to them cost.


def test_parts_cost_what_the_dearest_one_does() -> None:
    account = Account(None)
    dealt = account.deal(4)
    assert account.remaining == 1.0
    assert account.spend_apart(dealt, 1, 0.125) == (0,)
    assert account.remaining == 0.875
    assert account.spend_apart(dealt, 2, 0.0625, 0.0625) == (1, 2)
    assert account.remaining == 0.875
    assert account.spend_apart(dealt, 2, 0.25) == (0, 3)
    eighths = [Fraction(k, 8) for k in (3, 1, 1, 2)]
    assert (account.apart[0].spent, account.apart[0].most) == (eighths, Fraction(3, 8))
    account.spend(0.5)
    assert account.remaining == 0.125
    other = account.deal(2)
    assert account.spend_apart(other, 1, 0.125) == (0,)
    assert account.remaining == 0.0
    assert account.spend_apart(other, 1, 0.125) == (1,)
    assert account.spend_apart(dealt, 1, 0.25) == (1,)
    before = [list(each.spent) for each in account.apart]
    with pytest.raises(BudgetError, match=r"wants 0\.26"):
        account.spend_apart(dealt, 1, 0.26)
    with pytest.raises(BudgetError):
        account.spend(1e-9)
    assert [each.spent for each in account.apart] == before


def test_a_curator_of_parts_charges_first_and_shares_the_account() -> None:
    events: list[str] = []
    door = curator(charge=lambda: events.append("charge"))
    parts = door.apart(800, 1000, 8)
    assert events == ["charge"]
    assert parts.fraction == pytest.approx(0.1, rel=1e-3)
    first = parts.measure(COUNT, share=0.25, label="first")
    second = parts.some(3).measure(COUNT, share=0.25, label="second")
    assert door.remaining == parts.remaining == 0.75
    assert [one.place.parts for one in (first, second)] == [(0,), (1, 2, 3)]
    assert second.fraction == pytest.approx(0.3, rel=1e-3)
    assert "of a random sample of 30 % of the rows" in second.query
    assert door.receipt == (first, second)
    door.measure(COUNT, share=0.75, label="all")
    parts.some(4).measure(COUNT, share=0.25, label="third")
    assert door.remaining == 0.0
    with pytest.raises(BudgetError):
        parts.measure(COUNT, share=0.1, label="too much")
    for wrong in (
        lambda: parts.sampled(10, 1000),
        lambda: parts.apart(10, 1000, 2),
        parts.public_rows,
        parts.whole,
        lambda: door.some(2),
        lambda: curator(exchangeable=True).apart(100, 1000, 2),
        lambda: curator().apart(100, 1000, 3),
        lambda: curator().apart(100, 1000, 512),
        lambda: curator().apart(0, 1000, 2),
        lambda: parts.some(0),
        lambda: parts.some(9),
    ):
        with pytest.raises(InputError):
            wrong()


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_row_is_in_one_part_at_most(neighbors) -> None:
    """Whichever row it is, at most one part's answer moves, with the same bits."""
    rows = np.arange(600.0).reshape(-1, 2)
    sums = ClippedSum(np.zeros(2), np.ones(2), 2e9)
    moved = []
    for place in range(0, 300, 7):
        other = rows.copy()
        other[place] = [-1e9, 1e9]
        answers = []
        for table in (rows, other):
            parts = curator(table, neighbors=neighbors, seed=2).apart(250, 300, 4)
            every = [parts._parts.rows([part]) for part in range(4)]
            answers.append([each.sum(sums, "sum").tolist() for each in every])
        moved.append(sum(here != there for here, there in zip(*answers, strict=True)))
    assert set(moved) == {0, 1}


# What is said of it.


def entry(label: str, mu: float, *parts: int) -> ReceiptEntry:
    return ReceiptEntry(label, "a sum", 2, mu**2, mu, 1.0, 1.0 / mu, parts=parts)


def test_questions_to_parts_are_one_line_of_the_receipt() -> None:
    line = ReceiptEntry.apart([entry("a", 0.3, 0), entry("b", 0.4, 0, 1), entry("c", 0.2, 2)])
    assert (line.mu, line.share) == (pytest.approx(0.5), pytest.approx(0.25))
    assert (line.size, line.noise_std, line.sensitivity) == (6, 1.0, line.mu)
    assert line.query.startswith("3 measurements of 3 separate random parts of the rows")
    assert ReceiptEntry.from_dict(json.loads(json.dumps(line.to_dict())), "receipt[0]") == line
    plain = entry("a", 0.3)
    assert set(plain.to_dict()) == {
        "label", "query", "size", "share", "mu", "sensitivity", "noise_std"
    }  # fmt: skip
    cheaper = line.to_dict() | {"mu": 0.49}
    with pytest.raises(ReleaseError, match="one part of the rows"):
        ReceiptEntry.from_dict(cheaper, "receipt[0]")
    first, *others = line.to_dict()["questions"]
    for wrong in (
        {name: value for name, value in first.items() if name != "parts"},
        first | {"parts": [-1]},
        first | {"questions": others},
        first | {"mu": 1e200},
    ):
        with pytest.raises(ReleaseError):
            ReceiptEntry.from_dict(line.to_dict() | {"questions": [wrong, *others]}, "receipt[0]")


@pytest.fixture(scope="module")
def wide() -> np.ndarray:
    return np.random.default_rng(0).normal(3.0, 2.0, size=(50_000, 400)).astype(np.float32)


@pytest.fixture(scope="module")
def release(wide) -> Release:
    return prolate.mean(wide, budget=Budget(mu=1.0), seed=0)


def test_a_release_of_many_wide_rows(release, wide, tmp_path) -> None:
    searches, *_, mean = release.receipt
    assert (searches.label, mean.label) == ("searches", "mean")
    assert len(searches.questions) > 8
    assert 0.03 < searches.share < 0.1
    spent = math.fsum(one.mu**2 for one in release.receipt)
    assert 0.999 < spent <= 1.0 + 1e-12
    release.to_json(tmp_path / "r.json")
    again = Release.from_json(tmp_path / "r.json")
    assert again.receipt == release.receipt
    assert again.to_json() == release.to_json()
    error = np.linalg.norm(release.estimate - wide.mean(axis=0))
    stated = np.linalg.norm(release.noise_std)
    assert 0.5 * stated < error < 1.5 * stated


def test_parts_make_no_difference_to_the_bits(release, wide, monkeypatch) -> None:
    monkeypatch.setenv("PROLATE_NUM_THREADS", "3")
    again = prolate.mean(np.asfortranarray(wide), budget=Budget(mu=1.0), seed=0)
    assert np.array_equal(again.estimate, release.estimate)
    assert again.receipt == release.receipt


def test_few_rows_or_narrow_ones_or_the_first_have_no_rows_of_their_own(wide) -> None:
    for rows, options in (
        (wide[:30_000], {}),
        (wide[:, :100], {}),
        (wide, {"exchangeable": True}),
    ):
        found = prolate.mean(rows, budget=Budget(mu=1.0), seed=0, **options)
        assert not any(one.questions for one in found.receipt)


def test_an_answer_of_few_rows_seems_one_of_a_sample() -> None:
    rows = np.ones((40_000, 3))
    door = curator(rows)
    sample = own_rows._OwnRows(door.apart(36_000, 40_000, own_rows._PARTS), 0.25, 0.06)
    for share in (0.0001, 0.001, 0.01, 0.05):
        found = sample.measure(Count(3), share=share, label="rows")
        # 10,000 rows of a sample, and a standard deviation of about 500 if an eighth is asked.
        assert abs(found.values[0] - 10_000) < 6.5 * 600
        assert found.fraction == sample.fraction == 0.25
        counts = sample.measure(CountBelow(np.zeros(3)), share=share, label="counts")
        asked = door.receipt[-1]
        assert counts.std == pytest.approx(math.sqrt(3.0 / share), rel=0.001)
        assert asked.share <= max(0.06, share / own_rows._LEAST**2) * 1.05
    assert door.remaining > 0.7


def test_a_receipt_in_print_has_the_questions_below_their_line(release, capsys) -> None:
    print_receipt(release)
    shown = capsys.readouterr().out
    assert "searches" in shown
    assert "  first mean" in shown
    assert "cost what the dearest part does" in " ".join(shown.split())


def test_a_forecast_of_many_wide_rows_says_what_their_parts_cost() -> None:
    forecast = prolate.expected_error(n=700_000_000, d=400, budget=Budget(mu=1.0))
    assert forecast.noise < 1e-5
    assert 0.01 < forecast.shares["searches"] < 0.1
    assert 0.9 < sum(forecast.shares.values()) <= 1.0 + 1e-9
