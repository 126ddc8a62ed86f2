"""Releases for groups: one per key, one budget, keys that are given or found."""

from __future__ import annotations

import copy
import json
import pickle
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse, stats

import prolate
from prolate import Budget, GroupedRelease, Ledger
from prolate.api import groups, remarks, splitting, terms
from prolate.api.group_columns import check_keys
from prolate.api.terms import Terms
from prolate.curator import Curator
from prolate.errors import BudgetError, InputError, LedgerError, ReleaseError
from prolate.measurement import Measurement
from prolate.queries import Count
from prolate.release.unit import Unit
from prolate.sources import open_source

B = Budget(mu=30)
D = Budget(epsilon=200, delta=1e-3)
rng = np.random.default_rng(4)
N = 12_000
WARDS = rng.choice(["north", "south", "east"], N, p=[0.5, 0.3, 0.2])
TABLE = pd.DataFrame(
    {
        "ward": WARDS,
        "who": [f"p{i}" for i in rng.integers(0, 2000, N)],
        "x": rng.normal(0, 1, N) + np.where(WARDS == "north", 10.0, 20.0),
        "y": rng.normal(5, 2, N),
    }
)
PLAIN = TABLE.drop(columns="who")
KEYS = ["north", "south"]


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("keys", [KEYS, None])
@pytest.mark.parametrize(
    ("make", "truth"),
    [
        (prolate.mean, lambda g: g.mean()),
        (prolate.variance, lambda g: g.var()),
        (prolate.covariance, lambda g: g.cov()),
        (lambda d, **o: prolate.quantile(d, 0.5, **o), lambda g: g.median()),
        (lambda d, **o: prolate.sum(d, bounds=(-50, 50), **o), lambda g: g.sum()),
    ],
)
def test_each_group_is_released(make: Any, truth: Any, keys: Any, neighbors: Any) -> None:
    budget = B if keys else D
    g = make(PLAIN, by="ward", keys=keys, budget=budget, neighbors=neighbors, seed=1)
    assert list(g.groups) == (keys or ["east", "north", "south"])
    for key, r in g.groups.items():
        rows = PLAIN[PLAIN["ward"] == key][["x", "y"]]
        np.testing.assert_allclose(r.estimate, truth(rows), rtol=0.05, atol=0.2)
        assert r.n == pytest.approx(len(rows), abs=20)
        assert r.n_is_noisy
        assert r.budget == g.budget
        assert 0.99 < np.sqrt(sum(e.mu**2 for e in r.receipt)) / g.budget.mu <= 1.0 + 1e-12
        noise = [entry.noise_std for entry in r.receipt]
        assert all(np.isfinite(noise))
    assert (g.keys_delta is None) == (keys is not None)


LINES = PLAIN.assign(cost=PLAIN["x"] * np.where(WARDS == "north", 3.0, -1.0) + 2 * PLAIN["y"])


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("given", [{"keys": KEYS}, {}, {"unit": "who", "keys": KEYS}])
def test_each_group_has_a_line(given: Any, neighbors: Any, tmp_path: Path) -> None:
    table = LINES.assign(who=TABLE["who"]) if "unit" in given else LINES
    budget = B if "keys" in given else D
    g = prolate.regress(
        table, "cost", features=["x", "y"], by="ward", budget=budget, neighbors=neighbors, seed=1,
        **given,
    )  # fmt: skip
    assert list(g.groups) == given.get("keys", ["east", "north", "south"])
    assert g.columns == ("x", "y", "intercept")
    for key, r in g.groups.items():
        slopes = [3.0 if key == "north" else -1.0, 2.0]
        np.testing.assert_allclose(r.estimate[:2], slopes, atol=0.15)
        assert (r.details["target"], r.details["group"]["key"]) == ("cost", key)
        assert 0.99 < np.sqrt(sum(e.mu**2 for e in r.receipt)) / g.budget.mu <= 1.0 + 1e-12
        assert r.error_covariance is not None
    assert "regression of cost on 2 features by ward" in repr(g)
    assert GroupedRelease.from_json(g.to_json()) == g


def test_a_line_for_all_is_the_one_of_the_estimator() -> None:
    one = prolate.regress(LINES, "cost", features="x", budget=B, seed=1)
    model = prolate.LinearRegression(None, None, mu=30, seed=1).fit(LINES, "cost", features="x")
    assert one == model.release_


def test_a_group_without_a_line_is_shown_beside_others() -> None:
    g = prolate.regress(
        LINES, "cost", features=["x", "y"], by="ward", keys=["none", *KEYS], budget=B, seed=1
    )
    assert not g["none"].has_intervals
    assert set(g.interval()) == set(KEYS)
    for ask in (g["none"].table, replace(g, groups={"none": g["none"]}).interval):
        with pytest.raises(InputError, match="level must lie strictly between 0 and 1"):
            ask(95)
    assert any(warning.startswith("none: ") for warning in g.warnings)
    header, rows = g.cells()
    assert header[-1] == "95% interval"
    assert {len(row) for row in rows} == {len(header)}
    assert rows[0][-1] == ""
    assert g.to_frame()["lower"].isna().tolist() == [True] * 3 + [False] * 6


@pytest.mark.parametrize("mu", [0.3, 3.0, 300.0])
def test_no_line_is_drawn_through_nothing(mu: float) -> None:
    for seed in range(5):
        given: dict[str, Any] = {"by": "ward", "keys": ["none"], "seed": seed}
        one = prolate.regress(LINES, "cost", budget=Budget(mu=mu), **given)["none"]
        assert not one.has_intervals
        assert not one.estimate[:2].any()
        assert any("too few" in warning for warning in one.warnings)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"method": "ssp", "fit_intercept": False}, "intercept"),
        ({"method": "adassp", "accounting": "basic"}, "joint"),
        ({"target": "costs"}, "Did you mean 'cost'"),
        ({"features": ["x", "cost"]}, "cannot be one of the features"),
        ({"bounds": {"ward": (0, 1)}}, "not used"),
    ],
)
def test_lines_that_cannot_be_cost_nothing(given: Any, words: str, tmp_path: Path) -> None:
    book = prolate.Ledger.create(tmp_path / "l.ledger", limit=Budget(mu=50))
    given = {"target": "cost", **given}
    with pytest.raises(InputError, match=words):
        prolate.regress(LINES, by="ward", keys=KEYS, budget=B, ledger=book, **given)
    assert book.spent is None


def test_groups_of_persons() -> None:
    homes = TABLE.groupby("who", sort=False)["ward"].first()
    own = TABLE[TABLE["ward"].to_numpy() == homes[TABLE["who"]].to_numpy()]
    g = prolate.mean(TABLE, by="ward", unit="who", keys=KEYS, budget=B, seed=1)
    for key, r in g.groups.items():
        rows = own[own["ward"] == key].groupby("who")[["x", "y"]].mean()
        assert r.n == pytest.approx(len(rows), abs=5)
        np.testing.assert_allclose(r.estimate, rows.mean(), rtol=0.02)


def test_rows_of_persons_count_in_whatever_group_they_are() -> None:
    budget, wards = Budget(mu=300), ["north", "south", "east"]
    given: dict[str, Any] = {"by": "ward", "unit": "who", "contribution": "rows", "keys": wards}
    every = prolate.count(TABLE, max_rows=40, budget=budget, seed=1, **given)  # nobody has more
    two = prolate.count(TABLE, max_rows=2, budget=budget, seed=1, **given)
    for key in wards:
        assert every[key].estimate[0] == pytest.approx((key == WARDS).sum(), abs=2)
        assert two[key].estimate[0] == pytest.approx((key == WARDS).sum() / 3, rel=0.1)
    kept = sum(two[key].estimate[0] for key in wards)
    assert kept == pytest.approx(TABLE.groupby("who").size().clip(upper=2).sum(), abs=2)


def test_counts() -> None:
    g = prolate.count(TABLE, by="ward", keys=["north", "west", 7], budget=B, seed=1)
    truth = {"north": np.sum(WARDS == "north"), "west": 0, "7": 0}
    for key, r in g.groups.items():
        assert r.estimate[0] == pytest.approx(truth[key], abs=5 * r.noise_std[0])
    assert g[7] is g[7.0] is g["7"] is g[" 7"]
    assert None not in g
    assert g["north"].columns == ("rows",)
    assert g["north"].noise_std[0] == pytest.approx(2 / 30, rel=1e-6)
    exact = prolate.count(PLAIN, columns="x", budget=B)
    assert (exact.estimate[0], exact.noise_std[0], exact.receipt) == (N, 0.0, ())
    assert "also those where a column has no value" in exact.warnings[0]
    assert not prolate.count(PLAIN, budget=B).warnings
    assert [warning[:25] for warning in g["north"].warnings] == ["This is a weak guarantee:"]
    noisy = prolate.count(PLAIN, columns="x", budget=Budget(mu=0.1), neighbors="add-remove", seed=1)
    assert noisy.noise_std[0] == pytest.approx(10.0, rel=1e-6)
    assert noisy.estimate[0] == pytest.approx(N, abs=60)
    persons = prolate.count(TABLE, unit="who", budget=B)
    assert persons.estimate[0] == TABLE["who"].nunique()
    assert "count of" not in repr(persons)


@pytest.mark.parametrize("make", [prolate.mean, prolate.variance, prolate.covariance])
def test_a_key_that_is_not_there_is_no_error(make: Any) -> None:
    g = make(PLAIN, by="ward", keys=["north", "none"], budget=Budget(mu=1), seed=1)
    assert not g["north"].warnings
    assert any(warning.startswith("none: ") for warning in g.warnings)


def test_where_rows_are_kept_makes_no_difference(tmp_path: Path) -> None:
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    TABLE.to_parquet(tmp_path / "t.parquet")
    given: dict[str, Any] = {"by": "ward", "keys": KEYS, "columns": ["x", "y"], "seed": 2}
    expected = prolate.mean(TABLE, budget=B, **given)
    for data in (tmp_path / "t.parquet", pa.Table.from_pandas(TABLE)):
        assert prolate.mean(data, budget=B, **given) == expected
    of_text = prolate.mean(tmp_path / "t.csv", budget=B, **given)
    assert of_text.table() == expected.table()  # it says what counts as missing in text
    numbered = np.column_stack([TABLE[["x", "y"]], pd.factorize(TABLE["ward"])[0]])
    g = prolate.mean(numbered, by=2, keys=[0, 1], budget=B)
    assert (g.by, list(g.groups), g.columns) == ("x2", ["0", "1"], ("x0", "x1"))


def test_noise_of_groups_is_their_own() -> None:
    twice = pd.concat([TABLE.assign(ward="a"), TABLE.assign(ward="b")])
    for seed in (None, 1):
        g = prolate.mean(twice, by="ward", keys=["a", "b"], columns="x", budget=B, seed=seed)
        assert g["a"].estimate[0] != g["b"].estimate[0]


def test_the_order_of_rows_does_not_show() -> None:
    given: dict[str, Any] = {"by": "ward", "columns": "x", "budget": D}
    found = [list(prolate.mean(t, **given).groups) for t in (TABLE, TABLE[::-1])]
    assert found[0] == found[1] == ["east", "north", "south"]


# --- several columns ----------------------------------------------------------------------------

PAIRS = TABLE.assign(sex=np.where(np.arange(N) % 3 > 0, "f", "m"), both="")
PAIRS["both"] = PAIRS["ward"] + "+" + PAIRS["sex"]


@pytest.mark.parametrize(
    "given",
    [{}, {"unit": "who"}, {"unit": "who", "contribution": "rows", "max_rows": 2}],
)
@pytest.mark.parametrize("found", [False, True])
def test_two_columns_are_one_of_pairs(given: Any, found: bool) -> None:
    """The very same releases, and so the same guarantee."""
    wards, sexes = ["east", "north", "south"], ["f", "m"]
    pairs = [(ward, sex) for ward in wards for sex in sexes]
    made = []
    for by, keys in (("both", ["+".join(pair) for pair in pairs]), (["ward", "sex"], pairs)):
        given = {**given, "by": by, "columns": ["x", "y"], "budget": D if found else B, "seed": 3}
        made.append(prolate.mean(PAIRS, **given, **({} if found else {"keys": keys})))
    one, two = made
    assert (two.by, list(two.groups)) == (("ward", "sex"), pairs)
    for pair in pairs:
        np.testing.assert_array_equal(two[pair].estimate, one["+".join(pair)].estimate)
        assert two[pair].receipt == one["+".join(pair)].receipt
    assert two.budget == one.budget


@pytest.mark.parametrize("kind", ["pandas", "arrow", "parquet", "array", "sparse"])
def test_numbers_are_no_keys_of_booleans(kind: str, tmp_path: Path) -> None:
    """They found nothing, and the releases said that the groups may be too small."""
    frame = pd.DataFrame({"sick": [True, False] * 500, "x": [True, True, False, False] * 250})
    frame.to_parquet(tmp_path / "rows.parquet")
    table, by = {
        "pandas": (frame, "sick"),
        "arrow": (pa.table(frame), "sick"),
        "parquet": (tmp_path / "rows.parquet", "sick"),
        "array": (frame.to_numpy(), 0),
        "sparse": (sparse.csr_array(frame.to_numpy()), 0),
    }[kind]
    ledger = Ledger.create(tmp_path / "book", limit=Budget(mu=1e4))
    for column, keys in ((by, [1, 0]), ([by, 1 if by == 0 else "x"], [(True, False), (1, 0)])):
        with pytest.raises(InputError, match="True and False, so no group can have the key '1'"):
            prolate.count(table, by=column, keys=keys, budget=Budget(mu=1), ledger=ledger)
    assert not ledger.entries()
    found = prolate.count(table, by=by, keys=[True, "False"], budget=Budget(mu=1e3), seed=1)
    assert [round(one.n) for one in found.groups.values()] == [500, 500]


def test_a_group_that_is_not_there_is_said_to_be_none() -> None:
    g = prolate.count(TABLE, by="ward", keys=["north", "south"], budget=B)
    for key, says in (("nort", "no group 'nort' .* Did you mean 'north'"), (7, "no group 7 in")):
        with pytest.raises(KeyError, match=says):
            g[key]
    pairs = prolate.count(TABLE, by=["ward", "who"], keys=[("north", "p1")], budget=B)
    with pytest.raises(KeyError, match=r"no group \('north', 'p2'\) in"):
        pairs["north", "p2"]


def test_what_each_group_has_is_looked_for_there() -> None:
    table = pa.table({"ward": ["North"] * 40, "sex": ["f"] * 40, "age": np.arange(40.0)})
    one = prolate.mean(table, by="ward", keys=["North", "South"], columns=["age"], budget=B)
    two = prolate.count(table, by=["ward", "sex"], keys=[("North", "f")], budget=B)
    for release, name, where in (
        (one, "estimate", "release['North'].estimate"),
        (one, "receipt", "release['North'].receipt"),
        (one, "noise_std", "release['North'].noise_std"),
        (two, "estimate", "release[('North', 'f')].estimate"),
    ):
        with pytest.raises(
            AttributeError, match=re.escape(f"such as {where}, and release.items()")
        ):
            getattr(release, name)
        assert not hasattr(release, name)
    with pytest.raises(AttributeError, match="there are no groups in this one"):
        replace(one, groups={}).estimate  # noqa: B018 (it raises)
    for name in ("estimates", "_repr_latex_", "__array__"):
        with pytest.raises(
            AttributeError, match=f"'GroupedRelease' object has no attribute '{name}'"
        ):
            getattr(one, name)
    assert pickle.loads(pickle.dumps(one)).to_dict() == copy.deepcopy(one).to_dict()


def test_keys_of_each_column_stand_for_all_pairs(tmp_path: Path) -> None:
    PAIRS.to_csv(tmp_path / "t.csv", index=False)
    keys = {"sex": ["m"], "ward": ["north", "nobody", 7]}  # in whatever order
    for data in (PAIRS, tmp_path / "t.csv", pa.Table.from_pandas(PAIRS)):
        g = prolate.count(data, by=["ward", "sex"], keys=keys, budget=B, seed=1)
        assert list(g.groups) == [("north", "m"), ("nobody", "m"), ("7", "m")]
        truth = np.sum((PAIRS["ward"] == "north") & (PAIRS["sex"] == "m"))
        assert g["north", "m"].estimate[0] == pytest.approx(truth, abs=1)
        assert g["nobody", "m"].estimate[0] == pytest.approx(0, abs=1)
    numbered = np.column_stack([PAIRS["x"], pd.factorize(WARDS)[0], np.arange(N) % 3])
    for keys in ([(0, 0), (0, 2)], {1: [0], 2: [0, 2]}):
        g = prolate.mean(numbered, by=[1, 2], keys=keys, budget=B)
        assert (g.by, list(g.groups)) == (("x1", "x2"), [("0", "0"), ("0", "2")])
        assert g.columns == ("x0",)
    lines = prolate.regress(
        LINES.assign(sex=PAIRS["sex"]), "cost", features=["x", "y"], by=["ward", "sex"],
        keys=[("north", "f")], budget=B, seed=1,
    )  # fmt: skip
    assert lines["north", "f"].estimate[0] == pytest.approx(3, abs=0.2)


def test_a_pair_with_a_missing_label_is_no_group() -> None:
    frame = pd.DataFrame({"a": ["x", None, "x", ""] * 1000, "b": ["y", "y", None, "y"] * 1000})
    assert list(prolate.count(frame, by=["a", "b"], budget=D).groups) == [("x", "y")]


@pytest.mark.usefixtures("any_delta")
def test_a_pair_of_one_person_is_shown_no_more_often_than_stated() -> None:
    """As for single keys; one column says little, so that only the pairs are small."""
    keys = [f"key {i:05d}" for i in range(1000)]
    frame = pd.DataFrame({"key": keys, "half": np.arange(1000) % 2})
    budget = Budget(epsilon=1, delta=0.2)
    g = prolate.count(frame, by=["half", "key"], budget=budget, seed=11)
    assert 40 < len(g) <= stats.binom.isf(1e-7, 1000, 0.1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"keys": ["north"]}, "a key is a tuple of 2 labels"),
        ({"keys": [("north",)]}, "a key is a tuple of 2 labels"),
        ({"keys": [("north", None)]}, "missing"),
        ({"keys": [("a", "b"), ["a", " b"]]}, "twice"),
        ({"keys": {"ward": ["a"]}}, "a list for each column of by, 'ward', 'sex'"),
        ({"keys": {"ward": "a", "sex": ["f"]}}, "must be a list"),
        ({"keys": {"ward": [], "sex": ["f"]}}, "no group"),
        ({"keys": [("a", "b")], "by": []}, "by must be the name of a column, or a list"),
        ({"keys": [("a", "b")], "by": {"ward"}}, "or a list of several.*got an object of type set"),
        ({"keys": {"ward": ["a"]}, "by": [["ward"], "sex"]}, "got an object of type list"),
        ({"keys": ["a"], "by": PAIRS["ward"]}, "got an object of type Series"),  # no value of it
        ({"keys": [("a", "b")], "by": ["ward", "ward"]}, "by names 'ward' twice"),
        ({"keys": [("a", "b")], "by": ["ward", "sexx"]}, "Did you mean 'sex'"),
        ({"keys": [("a", "b")], "unit": "sex"}, "both 'sex'"),
    ],
)
def test_what_cannot_be_of_two_columns_is_said(given: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        prolate.count(PAIRS, budget=B, **{"by": ["ward", "sex"], **given})


def test_views_of_pairs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    keys = [("north", "f"), ("a, b", '"m"')]
    g = prolate.mean(
        PAIRS, columns=["x", "y"], by=["ward", "sex"], keys=keys, budget=Budget(mu=1), seed=1
    )
    assert list(g.to_frame().columns[:4]) == ["ward", "sex", "n", "column"]
    assert g.to_arrow()["sex"].to_pylist() == ["f", "f", '"m"', '"m"']
    assert repr(g).splitlines()[0].startswith("NOT PRIVATE (seeded) mean of 2 columns by ward, sex")
    assert repr(g).splitlines()[2].split()[:4] == ["ward", "sex", "n", "column"]
    assert any(warning.startswith('a, b, "m": ') for warning in g.warnings)
    assert set(g.interval()) == set(keys)
    g.to_json(tmp_path / "g.json")
    assert GroupedRelease.from_json(tmp_path / "g.json") == g
    axes = g.plot()
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["north, f", 'a, b, "m"']
    plt.close(axes[0].figure)
    page = g.to_html()
    assert page.count('scope="row"') >= 4
    assert "2 of ward, sex; the keys were given" in page
    other = {**g.to_dict(), "by": "ward"}
    with pytest.raises(ReleaseError, match="is not one of these groups"):
        GroupedRelease.from_dict(other)
    named = prolate.count(
        PAIRS.rename(columns={"sex": "n"}), by=["ward", "n"], keys=[("north", "f")], budget=B
    )
    assert named.to_frame().columns.tolist()[:3] == ["ward", "group n", "n"]


@pytest.mark.parametrize("keys", [[("north", "f"), ("Bonn, west", '"m"')], None])
def test_what_the_page_says_makes_the_pairs_again(
    keys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shlex

    from prolate.cli import main
    from prolate.report import repeat

    monkeypatch.chdir(tmp_path)
    PAIRS.drop(columns=["both", "who"]).to_parquet("data.parquet")
    made = prolate.mean(
        "data.parquet", columns=["x", "y"], by=["ward", "sex"], keys=keys,
        budget=Budget(epsilon=9, delta=1e-6),
    )  # fmt: skip
    first = made.first
    assert first is not None
    exec(compile(repeat.as_python(first, list(made.groups)), "repeated", "exec"), {})
    again = [GroupedRelease.from_json("release.json")]
    Path("release.json").unlink()
    words = shlex.split(repeat.as_command(first, list(made.groups)).replace("\\\n", " "))
    assert main(words[1:]) == 0
    again.append(GroupedRelease.from_json("release.json"))
    for one in again:
        assert (one.by, one.budget, one.columns) == (made.by, made.budget, made.columns)
        assert list(one.groups) == list(made.groups)


# --- private keys -------------------------------------------------------------------------------


def alone(count: int, rows: int = 1) -> pd.DataFrame:
    keys = np.repeat([f"key {i:05d}" for i in range(count)], rows)
    return pd.DataFrame({"key": keys, "who": keys})


@pytest.fixture
def any_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    """So large a delta is refused, but what is rare cannot be counted."""
    monkeypatch.setattr(remarks, "MOST_DELTA", 1.0)


def shown(frame: pd.DataFrame, budget: Budget, **given: Any) -> int:
    return len(prolate.count(frame, by="key", budget=budget, **given))


@pytest.mark.parametrize(
    "given",
    [{}, {"unit": "who", "contribution": "rows", "max_rows": 3}, {"neighbors": "add-remove"}],
)
@pytest.mark.parametrize("epsilon", [1.0, 40.0])
@pytest.mark.usefixtures("any_delta")
def test_a_person_alone_is_shown_no_more_often_than_stated(epsilon: float, given: Any) -> None:
    """In 1000 keys of one person each; false alarm 1e-7. Not blind: about as often as allowed."""
    frame = alone(1000, 5 if "unit" in given else 1)
    budget = Budget(epsilon=epsilon, delta=0.2)
    found = shown(frame, budget, seed=11, **given)
    rate = 0.1 / (5 if "unit" in given else 1)  # it comes and goes with 3 rows: 6 steps
    assert found <= stats.binom.isf(1e-7, 1000, rate)
    if epsilon == 1.0:
        assert found > 400 * rate


@pytest.mark.usefixtures("any_delta")
def test_a_person_with_several_groups_is_shown_no_more_often() -> None:
    """In 1000 persons of 3 groups each, which stay or not with all of them."""
    keys = np.array([f"key {i:05d}" for i in range(3000)])
    frame = pd.DataFrame({"key": keys, "who": np.repeat(keys[::3], 3)})
    given: dict[str, Any] = {"unit": "who", "contribution": "rows", "max_rows": 3}
    budget = Budget(epsilon=1, delta=0.2)
    g = prolate.count(frame, by="key", budget=budget, seed=11, **given)
    owner = dict(zip(frame["key"], frame["who"], strict=True))
    found = len({owner[key] for key in g.groups})
    assert found <= stats.binom.isf(1e-7, 1000, 3 * 0.1 / 5)
    assert found > 5


@pytest.mark.usefixtures("any_delta")
def test_a_threshold_that_forgets_the_person_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = terms.threshold_of
    monkeypatch.setattr(terms, "threshold_of", lambda q, std, rows: honest(q, std, rows) - rows)
    found = shown(alone(1000, 5), Budget(epsilon=40, delta=0.2), seed=11)
    assert found > stats.binom.isf(1e-7, 1000, 0.1)


def many_labels(count: int) -> pd.DataFrame:
    """One person's rows, each with a label of its own, and a crowd's."""
    crowd = [f"p{i}" for i in range(50)]
    return pd.DataFrame(
        {
            "key": ["here"] * 50 + [f"key {i}" for i in range(count)],
            "who": crowd + ["p0"] * count,
        }
    )


@pytest.mark.parametrize("given", [{}, {"contribution": "rows", "max_rows": 3}])
@pytest.mark.usefixtures("any_delta")
def test_rows_that_do_not_count_make_no_group(given: Any) -> None:
    """Each of 2,000 would be shown with a probability of about .05, were it a group."""
    frame, budget = many_labels(2000), Budget(epsilon=1, delta=0.2)
    assert shown(frame, budget, seed=1) > 50  # where rows are their own, not persons'
    g = prolate.count(frame, by="key", unit="who", budget=budget, seed=1, **given)
    assert set(g.groups) <= {"here"}


def test_the_threshold_is_far_enough_out() -> None:
    for delta in (1e-3, 1e-9, 1e-15):
        for std in (0.3, 1.0, 77.7):
            for rows in (1, 4):
                above = terms.threshold_of(stats.norm.isf(delta), std, rows) - rows
                assert stats.norm.sf(above / std) <= delta
                assert above < std * stats.norm.isf(delta) + 1.001
    counts = np.array([9.0, 3.0])
    row, rows = (Terms(B, "replace", unit, True) for unit in (None, Unit("who", "rows", 8)))
    assert terms.passes(counts, 1.0, row, 1e-3).tolist() == [True, False]
    assert not terms.passes(counts, 1.0, row, 1e-20).any()
    assert not terms.passes(counts, 1.0, rows, 1e-3).any()


def counts_of(found: dict[int, Measurement]) -> np.ndarray:
    return np.array([one.values.item() for one in found.values()])  # noqa: PD011


def test_counts_of_all_groups_have_the_noise_that_each_has_by_itself() -> None:
    """Exact Gaussian noise, of the same scale, another for each; false alarm 1e-9 in each look."""
    promise, sizes = Terms(Budget(mu=1), "replace", grouped=True), [200, 300, 400] * 5000
    budget = promise.budget(terms.FOR_COUNT)
    found = groups._large_enough(sizes, budget, promise, 1e-3, seed=3)
    assert list(found) == list(range(len(sizes)))  # none is small
    lone = Curator(open_source(np.zeros((9, 1))), budget, neighbors="add-remove", seed=1)
    own = lone.measure(Count(1), share=1.0, label="is the group there")
    for one in found.values():
        same = (one.std, one.mu, one.sensitivity, one.share, one.query, one.label)
        assert same == (own.std, own.mu, own.sensitivity, own.share, own.query, own.label)
    noise = counts_of(found) - sizes
    assert stats.kstest(noise / own.std, "norm").pvalue > 1e-9
    assert 1e-9 < stats.chi2.cdf(np.sum(noise**2) / own.std**2, noise.size) < 1.0 - 1e-9
    assert stats.pearsonr(noise[1:], noise[:-1]).pvalue > 1e-9
    assert np.unique(noise).size > 0.99 * noise.size


def test_a_row_moves_the_count_of_its_group_by_one_and_no_other() -> None:
    promise, sizes = Terms(Budget(mu=1), "add-remove", grouped=True), [100, 90, 80, 110]
    here, there = (
        groups._large_enough(each, promise.budget(terms.FOR_COUNT), promise, 1e-3, seed=5)
        for each in (sizes, [100, 90, 81, 110])
    )
    moved = counts_of(there) - counts_of(here)
    np.testing.assert_allclose(moved, [0.0, 0.0, 1.0, 0.0], atol=1e-9)
    assert groups._large_enough([], promise.budget(), promise, 1e-3, seed=5) == {}


def test_how_many_groups_were_looked_at_shows_nowhere() -> None:
    shown = [
        prolate.mean(pd.concat([PLAIN, few]), by="ward", columns="x", budget=D).to_dict()
        for few in (PLAIN[:0], PLAIN[:777].assign(ward=[f"w{i}" for i in range(777)]))
    ]
    for one in shown:
        entries = [group["release"]["receipt"][0] for group in one["groups"]]
        assert [entry["size"] for entry in entries] == [1] * 3
        assert {entry["query"] for entry in entries} == {"number of rows"}
        assert not re.search(r"\b(777|780|782)\b", json.dumps(entries))


def test_fifty_thousand_labels_take_no_curator_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """They took ten seconds."""
    made, honest = [], Curator.__init__
    monkeypatch.setattr(Curator, "__init__", lambda *a, **b: (made.append(1), honest(*a, **b))[1])
    assert shown(alone(50_000), Budget(epsilon=1, delta=1e-9)) == 0
    assert len(made) == 1


def test_small_keys_appear_nowhere() -> None:
    frame = pd.concat([TABLE, TABLE[:3].assign(ward="secret-4711")])
    g = prolate.mean(frame, by="ward", columns="x", budget=Budget(epsilon=1, delta=1e-9))
    assert "secret" not in g.to_json()
    assert len(g) == 3
    assert g.keys_delta == 5e-10
    assert g.budget.mu < Budget(epsilon=1, delta=1e-9).mu
    assert g.budget.mu <= Budget(epsilon=1, delta=5e-10).mu
    assert g["north"].receipt[0].label == "is the group there"
    assert "5e-10 is for showing which groups there are" in g.guarantee
    assert "5e-10" in g["north"].guarantee


def test_no_group_is_large_enough() -> None:
    g = prolate.mean(TABLE[:3], by="ward", columns="x", budget=Budget(epsilon=1, delta=1e-9))
    assert len(g) == 0
    assert g.table() == []
    assert GroupedRelease.from_json(g.to_json()) == g
    assert "0 groups" in repr(g)
    for shown in (
        repr(g),
        g.to_html().replace("&#39;", "'"),
        g._repr_html_().replace("&#39;", "'"),
    ):
        assert "No group is surely large enough not to be one person's" in shown


def test_groups_that_only_pandas_or_polars_know() -> None:
    ages = np.arange(4000) % 90
    months = pd.to_datetime(np.where(ages < 40, "2024-01-31", "2024-02-01"))
    frame = pd.DataFrame({"band": pd.cut(ages, [-1, 39, 90]), "month": months.to_period("M")})
    frame["day"] = months
    frame.loc[0] = None
    found = {"band": ["(-1, 39]", "(39, 90]"], "month": ["2024-01", "2024-02"]}
    found["day"] = ["2024-01-31", "2024-02-01"]
    given: dict[str, list[Any]] = {"band": list(frame["band"].cat.categories)}
    given |= {name: list(frame[name].dropna().unique()) for name in ("month", "day")}
    for name, keys in found.items():
        assert list(prolate.count(frame, by=name, budget=D).groups) == keys
        counts = prolate.count(frame, by=name, keys=given[name], budget=Budget(mu=1000), seed=1)
        assert [round(float(counts[key].estimate[0])) for key in keys] == [1799, 2200]
    words = pl.DataFrame({"ward": pl.Series(["n", "s"] * 2000).cast(pl.Categorical)})
    assert list(prolate.count(words, by="ward", budget=D).groups) == ["n", "s"]


def test_a_hundred_thousand_keys_are_looked_at_once() -> None:
    keys = [str(i) for i in range(100_000)]
    assert check_keys(["ward"], keys) == keys
    with pytest.raises(InputError, match="keys has '7' twice"):
        check_keys(["ward"], [*keys, 7])


def test_labels_that_are_missing_or_no_text_are_no_keys() -> None:
    wards = pa.array([b"a", b"\xff", b"", None], pa.binary()).take(pa.array(np.arange(4000) % 4))
    table = pa.table({"ward": wards, "x": np.ones(4000)})
    for rows in (table, table.to_pandas()):
        assert list(prolate.count(rows, by="ward", budget=D).groups) == ["a"]


@pytest.mark.parametrize(
    "odd", [b"\xff", "\ud800", Decimal("sNaN"), pd.NaT, 10**400, [1], object()]
)
def test_no_object_of_a_data_frame_is_an_error(odd: Any) -> None:
    wards = pd.Series(["a", odd, None, 7, float("nan"), "a"], dtype=object)
    counts = prolate.count(
        pd.DataFrame({"ward": wards}), by="ward", keys=["a", "7"], budget=Budget(mu=1000), seed=1
    )
    assert [round(float(r.estimate[0])) for r in counts.groups.values()] == [2, 1]


# --- errors, the ledger, views ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"keys": ["a"]}, InputError, "by="),
        ({"by": "ward", "keys": []}, InputError, "no group"),
        ({"by": "ward", "keys": "north"}, InputError, "list"),
        ({"by": "ward", "keys": ["a", " a"]}, InputError, "twice"),
        ({"by": "ward", "keys": [None]}, InputError, "missing"),
        ({"by": "ward", "keys": [b"\xff"]}, InputError, "text or a number"),
        ({"by": "ward"}, BudgetError, "delta"),
        ({"by": "wart", "keys": ["a"]}, InputError, "Did you mean 'ward'"),
        ({"by": "ward", "keys": ["a"], "method": "plan"}, InputError, "places"),
        ({"by": "ward", "keys": ["a"], "exchangeable": True}, InputError, "places"),
        ({"by": "ward", "keys": ["a"], "bounds": {"ward": (0, 1)}}, InputError, "not used"),
    ],
)
def test_what_cannot_be_is_said(given: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        prolate.mean(PLAIN, budget=B, **given)


def test_the_ledger_is_charged_once(tmp_path: Path) -> None:
    book = prolate.Ledger.create(tmp_path / "l.ledger", limit=Budget(mu=50))
    prolate.mean(PLAIN, by="ward", keys=KEYS, budget=B, ledger=book)
    [entry] = book.entries()
    assert (entry.mu, entry.label) == (30.0, "mean of x, y by ward")
    with pytest.raises(LedgerError):
        prolate.mean(PLAIN, by="ward", keys=KEYS, budget=Budget(mu=45), ledger=book)
    with pytest.raises(LedgerError, match="give the groups: keys="):
        prolate.mean(PLAIN, by="ward", budget=D, ledger=book)
    assert len(book.entries()) == 1


@pytest.mark.parametrize(
    ("given", "steps"),
    [
        ({}, 2),
        ({"neighbors": "add-remove"}, 1),
        ({"unit": "who", "contribution": "rows", "max_rows": 3}, 6),
        ({"unit": "who", "contribution": "rows", "max_rows": 3, "neighbors": "add-remove"}, 3),
    ],
)
def test_finding_keys_is_charged_before_a_row_is_read(
    given: Any, steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = Budget(epsilon=2, delta=1e-6)
    book = prolate.Ledger.create(tmp_path / "l.ledger", limit=limit, keys_delta=5e-7)
    budget = Budget(epsilon=0.5, delta=1e-7)

    def ask(budget: Budget = budget) -> GroupedRelease:
        return prolate.count(TABLE, by="ward", budget=budget, ledger=book, **given)

    g = ask()
    [entry] = book.entries()
    assert entry.mu == g.budget.mu == budget.with_delta(5e-8).mu
    assert g.keys_delta == 5e-8
    # No group is one person's alone, or as many as neighbors are steps apart; see terms.
    assert entry.delta == pytest.approx(5e-8 * steps / max(1, steps - 1), rel=1e-12)
    assert entry.delta >= 5e-8 / max(1, steps - 1) * steps * (1 - 1e-15)
    with pytest.raises(LedgerError, match="Use a budget with a smaller delta"):
        ask(Budget(epsilon=0.5, delta=2e-6))
    with pytest.raises(LedgerError, match="exceeds the budget"):
        ask(Budget(epsilon=3, delta=1e-7))
    assert len(book.entries()) == 1

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(splitting, "Split", stopped)
    with pytest.raises(KeyboardInterrupt):
        ask()
    assert len(book.entries()) == 2


# --- progress ---------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [["north", "none"], None])
@pytest.mark.parametrize("make", [prolate.mean, prolate.count])
def test_progress_counts_rows_and_then_groups_that_are_public(make: Any, keys: Any) -> None:
    seen: list[tuple[str, int, int | None]] = []
    make(PLAIN, by="ward", keys=keys, budget=D, seed=1, progress=lambda *step: seen.append(step))
    rows = [step for step in seen if step[0] == "rows of all groups"]
    rest = seen[len(rows) :]
    assert rows[-1] == ("rows of all groups", N, N)
    assert [done for _, done, _ in rows] == sorted(done for _, done, _ in rows)
    expected = [("groups", 0, 2), ("groups", 1, 2), ("groups", 2, 2)]
    assert rest == (expected if keys else [("groups", 0, None)])  # not once for each
    assert rest


PERSONS: dict[str, Any] = {"unit": "who", "contribution": "rows", "max_rows": 2}


@pytest.mark.parametrize("wrong", [{"neighbors": "both"}, {"seed": -1}, {"seed": "1"}])
@pytest.mark.parametrize("given", [{}, PERSONS, {"by": "ward", "keys": KEYS}])
def test_what_cannot_be_costs_nothing(given: Any, wrong: Any, tmp_path: Path) -> None:
    book = prolate.Ledger.create(tmp_path / "l.ledger", limit=Budget(mu=50))
    with pytest.raises(InputError, match=f"{next(iter(wrong))} must be"):
        prolate.mean(TABLE, columns=["x", "y"], budget=B, ledger=book, **given, **wrong)
    assert not book.entries()


@pytest.mark.parametrize("labels", [[None, None], ["a", None]])
def test_a_budget_that_is_too_small_does_not_tell_of_a_group(labels: Any, tmp_path: Path) -> None:
    """It is said whether or not there is one, and before the ledger is charged."""
    book = prolate.Ledger.create(tmp_path / "l.ledger", limit=D)
    table = pd.DataFrame({"x": [1.0, 2.0], "g": labels})
    with pytest.raises(BudgetError, match="too little for any answer"):
        prolate.mean(table, by="g", budget=Budget(epsilon=1e-9, delta=1e-6), ledger=book)
    assert not book.entries()


@pytest.mark.parametrize("given", [{}, {"by": "ward", "keys": KEYS}])
def test_a_number_of_threads_that_is_none_costs_nothing(
    given: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = prolate.Ledger.create(tmp_path / "l.ledger", limit=Budget(mu=50))
    monkeypatch.setenv("PROLATE_NUM_THREADS", "many")
    with pytest.raises(InputError, match="PROLATE_NUM_THREADS"):
        prolate.mean(PLAIN, columns=["x", "y"], budget=B, ledger=book, **given)
    assert not book.entries()


G = prolate.mean(PLAIN, by="ward", keys=KEYS, budget=B, seed=1)


@pytest.mark.parametrize(
    "make",
    [
        prolate.mean,
        prolate.count,
        prolate.covariance,
        lambda d, **o: prolate.quantile(d, [0.25, 0.5], **o),
    ],
)
def test_frames_of_every_kind_hold_the_same(make: Any) -> None:
    pytest.importorskip("polars")
    given = {} if make is prolate.count else {"columns": ["x", "y"]}
    g = make(PLAIN, by="ward", keys=KEYS, budget=B, seed=1, **given)
    arrow, polars, frame = g.to_arrow(0.9), g.to_polars(0.9), g.to_frame(0.9)
    assert arrow.to_pylist() == polars.to_dicts() == g.table(0.9)
    assert list(frame.columns) == arrow.column_names == polars.columns
    assert frame["estimate"].tolist() == arrow["estimate"].to_pylist()
    assert str(arrow.schema.field("n").type) == "double"
    assert len(g.to_csv().splitlines()) == 1 + len(frame)
    none = GroupedRelease.from_dict({**g.to_dict(), "groups": []})
    assert none.to_csv().startswith('"group","n","column"')
    assert none.to_arrow().num_rows == len(none.to_frame()) == none.to_polars().height == 0
    assert none.to_arrow().column_names[:3] == ["group", "n", "column"]


def test_a_picture_of_groups() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    axes = G.plot()
    assert [ax.get_xlabel() for ax in axes] == ["x", "y"]
    assert [label.get_text() for label in axes[0].get_yticklabels()] == KEYS
    drawn = axes[0].lines[0].get_xdata()
    np.testing.assert_array_equal(drawn, [r.estimate[0] for r in G.groups.values()])
    assert "NOT PRIVATE" in axes[0].figure.get_suptitle()
    plt.close(axes[0].figure)
    one = prolate.mean(PLAIN, by="ward", keys=["north", "none"], budget=Budget(mu=1), seed=1)
    axes = one.plot()
    assert np.isnan(axes[0].lines[0].get_xdata()).tolist() == [False, True]
    plt.close(axes[0].figure)
    assert [row[3] for row in one.cells()[1][2:]] == ["unknown"] * 2
    assert "unknown" in one.to_html()
    assert "unknown" in repr(one)
    matrix = prolate.covariance(PLAIN, by="ward", keys=KEYS, budget=B, seed=1)
    axes = matrix.plot()
    assert [ax.get_xlabel() for ax in axes] == ["x with x", "x with y", "y with y"]
    plt.close(axes[0].figure)
    with pytest.raises(ReleaseError, match="no group"):
        GroupedRelease.from_dict({**G.to_dict(), "groups": []}).plot()
    alone = prolate.covariance(
        pa.table({"x": [1.0, 2.0], "g": ["a", "b"]}),
        by="g",
        keys=["a"],
        correlation=True,
        budget=prolate.Budget(mu=1),
    )
    with pytest.raises(ReleaseError, match="nothing to draw"):
        alone.plot()


def test_views(tmp_path: Path) -> None:
    frame = G.to_frame(0.9)
    assert list(frame["group"]) == ["north", "north", "south", "south"]
    assert list(frame.columns[:3]) == ["group", "n", "column"]
    assert set(G.interval()) == {"north", "south"}
    assert repr(G).splitlines()[0].startswith("NOT PRIVATE (seeded) mean of 2 columns by ward")
    assert "NOT PRIVATE" in repr(G).splitlines()[1]
    path = tmp_path / "g.json"
    G.to_json(path)
    assert GroupedRelease.from_json(path) == G
    assert pickle.loads(pickle.dumps(G)) == G
    assert "one row" in prolate.mean(PLAIN, by="ward", keys=KEYS, budget=B).guarantee


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "prolate.release"},
        {"schema_version": 2},
        {"statistic": "sum"},
        {"statistic": "other"},
        {"neighbors": "other"},
        {"private": True},
        {"more": 1},
        {"budget": Budget(mu=31).to_dict()},
        {"groups": [*G.to_dict()["groups"], G.to_dict()["groups"][0]]},
        {"groups": [{"key": "a"}]},
        {"unit": {"column": "who", "contribution": "mean"}},
    ],
)
def test_what_was_changed_by_hand_is_refused(change: Any) -> None:
    with pytest.raises(ReleaseError):
        GroupedRelease.from_dict({**G.to_dict(), **change})


def test_a_grouped_release_is_read_as_a_mapping() -> None:
    made = prolate.mean(
        pd.DataFrame({"x": np.arange(200.0), "g": ["u", "v"] * 100}),
        columns="x",
        by="g",
        keys=["u", "v"],
        budget=prolate.Budget(rho=1),
        seed=1,
    )
    assert list(made) == list(made.keys()) == ["u", "v"]
    assert "u" in made
    assert "w" not in made
    assert made.get("u") is made["u"]
    assert made.get("w") is None
    assert dict(made) == dict(made.items()) == dict(zip(made.keys(), made.values(), strict=True))


def test_a_release_of_groups_says_what_reads_it() -> None:
    with pytest.raises(ReleaseError, match=r"of groups, so read it with prolate\.GroupedRelease"):
        prolate.Release.from_dict(G.to_dict())


def test_budgets_of_groups_that_were_found_claim_nothing_at_smaller_deltas() -> None:
    """They claimed what measurements alone would have cost."""
    g = prolate.count(PLAIN, by="ward", budget=Budget(epsilon=1, delta=1e-6), seed=1)
    for stated in (g, *g.values()):
        budget = stated.budget
        assert budget.epsilon_at(1e-6) == pytest.approx(1.0, rel=1e-9)
        assert budget.delta_at(1.0) == pytest.approx(1e-6, rel=1e-8)
        for delta in (1e-9, 9.9e-7):
            with pytest.raises(BudgetError, match="Nothing is guaranteed at a delta"):
                budget.epsilon_at(delta)
    assert "(mu = " not in repr(g)
    again = GroupedRelease.from_json(g.to_json())
    assert again.to_json() == g.to_json()
    given = prolate.count(PLAIN, by="ward", keys=KEYS, budget=Budget(epsilon=1, delta=1e-6))
    assert given.budget.epsilon_at(1e-9) > 1.0


def test_stored_groups_of_earlier_versions_claim_no_more() -> None:
    g = prolate.count(PLAIN, by="ward", budget=Budget(epsilon=1, delta=1e-6), seed=1)
    fields = json.loads(g.to_json())
    budgets = [fields["budget"], *(one["release"]["budget"] for one in fields["groups"])]
    assert {budget.pop("keys_delta") for budget in budgets} == {5e-7}
    again = GroupedRelease.from_dict(fields)
    assert again.budget == g.budget
    assert again["north"].budget == g["north"].budget
    for wrong in (0.7, -1.0, 6e-7):
        with pytest.raises(ReleaseError, match="keys_delta"):
            GroupedRelease.from_dict(fields | {"keys_delta": wrong})
