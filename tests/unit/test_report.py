"""The report of a release: every statistic, every odd name, and nothing but what is true."""

from __future__ import annotations

import math
import shlex
import subprocess
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import prolate
from prolate import Budget, GroupedRelease, Release, ReleaseError
from prolate.digits import rounded_up
from prolate.release import ReceiptEntry
from prolate.release.unit import Unit
from prolate.report import drawing, repeat, words
from prolate.report.rows import group_tables, make_table

ODD = (
    "<script>alert(1)</script>",
    "a\"b'c&d",
    "line\nbreak",
    "left\u202eright\u200f",
    "שלום",
    "x" * 300,
    "a$b$c",
)
VOID = {"meta", "path", "rect", "br", "link"}


class Reader(HTMLParser):
    """Reads a page: what is nested how, its texts, ids, headings and links."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.outside: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("h1", "h2", "h3"):
            self.headings.append(int(tag[1]))
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag == "a":
            self.links.append(str(given["href"]))
        for name, value in attrs:
            if name in ("src", "srcset", "action") or (name == "href" and value[:1] != "#"):  # type: ignore[index]
                self.outside.append(str(value))
            assert not name.startswith("on")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())


def release(**changes: Any) -> Release:
    fields: dict[str, Any] = {
        "statistic": "mean",
        "estimate": [2.5, 30_000.0],
        "columns": ("age", "income"),
        "noise_std": [0.1, 40.0],
        "sampling_std": [0.2, 20.0],
        "n": 20190,
        "budget": Budget(epsilon=1, delta=1e-6),
        "neighbors": "replace",
        "method": "auto",
        "receipt": [ReceiptEntry("mean", "sum of <rows>", 2, 0.5, 0.1, 1.0, 10.0)],
    }
    return Release(**(fields | changes))


def matrix(d: int, statistic: str = "covariance") -> Release:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, d))
    value = np.corrcoef(rows.T) if statistic == "correlation" else np.cov(rows.T)
    noise = np.full((d, d), 0.01)
    if statistic == "correlation":
        np.fill_diagonal(noise, 0.0)
    return release(
        statistic=statistic,
        estimate=value,
        columns=[f"c{j}" for j in range(d)],
        noise_std=noise,
        sampling_std=noise * 2.0,
    )


def wide(d: int) -> Release:
    rng = np.random.default_rng(0)
    return release(
        estimate=rng.normal(size=d),
        columns=[f"c{j}" for j in range(d)],
        noise_std=rng.lognormal(size=d),
        sampling_std=None,
    )


def regression(**changes: Any) -> Release:
    fields: dict[str, Any] = {
        "statistic": "regression",
        "columns": ("age", "intercept"),
        "error_covariance": np.eye(2),
        "details": {"target": "cost", "fit_intercept": True},
    }
    return release(**(fields | changes))


QUANTILES = {
    "statistic": "quantile",
    "estimate": [[1.0, 2.0], [3.0, 4.0]],
    "noise_std": np.ones((2, 2)),
    "sampling_std": None,
    "details": {"q": [0.25, 0.75]},
}
HUGE = 1.7e308
RELEASES = {
    "mean": release(),
    "one column": release(estimate=[1.0], columns=["age"], noise_std=[1.0], sampling_std=[0.5]),
    "no sampling": release(sampling_std=None),
    "no noise": release(noise_std=[0.0, 0.0], sampling_std=[0.0, 0.0]),
    "sum": release(statistic="sum", sampling_std=None, details={"bounds": [0.0, 120.0]}),
    "variance": release(statistic="variance"),
    "quantile": release(statistic="quantile", details={"q": [0.5]}),
    "quantiles": release(**QUANTILES),
    "covariance": matrix(5),
    "wide covariance": matrix(90),
    "one covariance": release(
        statistic="covariance", estimate=[[2.0]], columns=["a"], noise_std=[[1.0]],
        sampling_std=None),
    "correlation": matrix(5, "correlation"),
    "regression": regression(),
    "regression without errors": regression(
        noise_std=None, sampling_std=None, error_covariance=None, method="ssp"),
    "seeded": release(private=False),
    "wide": wide(1000),
    "huge": release(estimate=[-HUGE, HUGE], noise_std=[HUGE, HUGE], sampling_std=[HUGE, 1.0]),
    "tiny": release(estimate=[0.0, 1e-300], noise_std=[5e-324, 1e-310], sampling_std=[0.0, 0.0]),
    "odd names": release(
        estimate=np.ones(7), columns=ODD, noise_std=np.ones(7), sampling_std=None,
        warnings=["<b>bad</b>"], details={"<i>": "<u>"}),
    "zcdp": release(budget=Budget(epsilon=1, delta=1e-6).for_zcdp(), neighbors="add-remove"),
    "no receipt": release(receipt=()),
}  # fmt: skip


def groups(
    keys: tuple[str, ...], *, keys_delta: float | None = None, **changes: Any
) -> GroupedRelease:
    """Return releases of groups, each a little larger than the one before."""
    marks = {"by": "<ward>"} if keys_delta is None else {"by": "<ward>", "keys_delta": keys_delta}
    if keys_delta is not None:
        changes = {"budget": Budget(epsilon=1, delta=1e-6).with_delta(1e-6 - keys_delta)} | changes
    found = {}
    for i, key in enumerate(keys):
        details = {**changes.get("details", {}), "group": {**marks, "key": key}}
        one = release(**{**changes, "details": details})
        fields = one.to_dict() | {"estimate": (one.estimate * (1.0 + 0.01 * i)).tolist()}
        found[key] = Release.from_dict(fields)
    first = release(**changes)
    return GroupedRelease(
        statistic=first.statistic,
        by="<ward>",
        groups=found,
        columns=first.columns,
        budget=first.budget,
        neighbors=first.neighbors,
        unit=first.unit,
        keys_delta=keys_delta,
        private=first.private,
    )


ONE_COLUMN = {"estimate": [9.0], "columns": ["age"], "noise_std": [1.0], "sampling_std": [0.5]}
GROUPS = {
    "groups": groups(("north", "south")),
    "groups found": groups(("north", "south"), keys_delta=5e-7),
    "many groups": groups(tuple(f"town {i}" for i in range(60)), **ONE_COLUMN),
    "groups with odd names": groups(ODD),
    "groups of quantiles": groups(("north", "south"), **QUANTILES),
    "no group": groups((), keys_delta=5e-7),
    "seeded groups": groups(("north", "south"), private=False),
    "groups of persons": groups(("north", "south"), unit=Unit("who"), neighbors="add-remove"),
}


@pytest.mark.parametrize("name", [*RELEASES, *GROUPS])
def test_every_release_has_a_whole_page(name: str) -> None:
    found = (RELEASES | GROUPS)[name]
    page = found.to_html()
    read = Reader(page)
    assert read.outside == []
    assert not {"script", "img", "iframe", "link", "object"} & set(read.tags)
    assert len(set(read.ids)) == len(read.ids)
    assert {link[1:] for link in read.links} <= set(read.ids)
    assert read.headings[0] == 1
    assert read.headings.count(1) == 1
    assert all(b <= a + 1 for a, b in zip(read.headings, read.headings[1:], strict=False))
    assert read.tags.count("table") == read.tags.count("caption")
    for tag in ("main", "header", "footer", "nav"):
        assert read.tags.count(tag) == 1
    assert "nan" not in page.split("</style>")[1]
    assert ("inf<" in page) == (name == "huge")  # where an interval leaves what floats can hold
    assert Reader(found._repr_html_()).outside == []


def test_the_page_of_groups_says_what_was_released() -> None:
    text = Reader(GROUPS["groups"].to_html(level=0.9)).text.replace("\\ ", "")
    for part in ("Private mean of 2 columns by <ward>", "Of 2 groups;", "90% interval", "north",
                 "20,190", "in all groups together", "each has the whole budget",
                 "--by '<ward>' --key north --key south", "keys=['north', 'south']",
                 "the keys were given"):  # fmt: skip
        assert part in text, part
    assert "μ = 0.2368" in text
    text = Reader(GROUPS["groups found"].to_html()).text
    assert "5e-07 is for showing which groups there are" in text
    assert "ε at δ = 1e-09" not in text  # the keys' delta alone is larger
    assert "--key" not in text
    assert "A person who owns several rows is protected less." in text
    text = Reader(GROUPS["groups of persons"].to_html()).text
    assert "who owns several rows" not in text
    text = Reader(GROUPS["no group"].to_html()).text
    assert "No group is surely large enough" in text
    assert "To make it again" not in text


def test_groups_share_a_scale_that_a_wide_one_does_not_set() -> None:
    one = np.array([0.0, 1.0, 2.0, 1.0])
    bars, axis = drawing.draw_together(one, one - 1, one + 1, np.ones(4) / 2)
    assert [mark.label for mark in axis] == ["0", "2"]
    assert bars[1].at - bars[0].at == pytest.approx(bars[2].at - bars[1].at, abs=0.02)
    assert bars[1].at == bars[3].at
    assert {bars[0].low, bars[2].high} == {6.0, 94.0}
    wide = np.array([1.0, 1.0, 1.0, 1e6])
    bars, _ = drawing.draw_together(one, one - wide, one + wide, np.ones(4) / 2)
    assert (bars[0].low, bars[2].high) == (6.0, 94.0)
    assert (bars[3].low, bars[3].high) == (0.0, 100.0)  # beyond the scale
    far = np.array([0.0, 1.0, 2.0, 1.0, 1e6])
    bars, _ = drawing.draw_together(far, far - 1, far + 1, np.ones(5) / 2)
    assert (bars[0].low, bars[2].high, bars[4].at) == (6.0, 94.0, 100.0)
    apart = np.array([0.0, 1e6])  # two that differ so much are both shown
    bars, _ = drawing.draw_together(apart, apart - 1, apart + 1, np.ones(2) / 2)
    assert (bars[0].low, bars[1].high) == (6.0, 94.0)


def test_too_many_numbers_of_groups_are_not_shown() -> None:
    tables, hidden = group_tables(GROUPS["groups with odd names"], 0.95, most=7)
    assert [name for name, _ in tables] == ["age"]
    assert "first 1 of 2" in hidden


def test_an_empty_name_is_not_nothing() -> None:
    assert "(no name)" in Reader(release(columns=["", "age"]).to_html()).text


def test_the_page_says_what_was_released() -> None:
    text = Reader(release(warnings=["Few rows."]).to_html(level=0.9)).text
    for part in ("Private mean of 2 columns", "20,190 rows", "90% interval", "Few rows.",
                 "30,000", "sum of <rows>", "not spent"):  # fmt: skip
        assert part in text
    assert "NOT PRIVATE" not in text


def test_a_seeded_release_says_so_everywhere() -> None:
    page = release(private=False).to_html()
    text = Reader(page).text
    assert text.count("NOT PRIVATE") >= 4  # the title, the top, the table, the end
    assert "No privacy is guaranteed" in text
    assert "satisfies" not in text
    assert "differential privacy with" not in text
    assert "NOT PRIVATE" in Reader(release(private=False)._repr_html_()).text


def test_odd_names_are_shown_as_text() -> None:
    for page in (RELEASES["odd names"].to_html(), RELEASES["odd names"]._repr_html_()):
        assert "<script" not in page
        assert "<b>bad" not in page
        assert "\u202e" not in page
        assert "\u200f" not in page
        text = Reader(page).text
        for part in ("<script>alert(1)</script>", "a\"b'c&d", r"line\nbreak", r"left\u202eright",
                     "שלום", "<b>bad</b>"):  # fmt: skip
            assert part in text


def test_the_guarantee_can_be_quoted() -> None:
    sentence = words.guarantee(release())
    for part in ("μ = 0.2368", "ε = 1 at δ = 1e-06", "replacing any one row", "20,190, is public",
                 "The unit of privacy is one row."):  # fmt: skip
        assert part in sentence
    assert Budget(epsilon=1, delta=1e-6).mu <= 0.2368  # rounded up
    sentence = words.guarantee(release(budget=Budget(rho=0.5), neighbors="add-remove"))
    assert "μ = 1," in sentence
    assert "ε = 4.887 at δ = 1e-06" in sentence
    assert "20,190" not in sentence  # the number of rows is private
    assert "ρ-zero-concentrated" in words.guarantee(RELEASES["zcdp"])
    assert "Gaussian" not in words.guarantee(RELEASES["zcdp"])


@pytest.mark.parametrize("mu", [0.01, 0.3, 1.0, 5.0])
def test_claims_are_never_rounded_down(mu: float) -> None:
    budget = Budget(mu=mu)
    for value in (mu, budget.rho, *(budget.epsilon_at(d) for d in (1e-5, 1e-6, 1e-9))):
        assert value <= float(rounded_up(value)) <= value * 1.001


def test_the_budget_adds_up() -> None:
    lines = words.charges(release())
    assert math.fsum(line.percent for line in lines) == pytest.approx(100.0)
    assert lines[-1].label == "not spent"
    assert words.charges(release(receipt=()))[0].percent == pytest.approx(100.0)


def test_words_about_errors_are_true() -> None:
    assert "more rows would sharpen" in words.sureness(release(noise_std=[0.01, 1.0]))
    assert "10 times the sampling error; it is the smaller of the two in 0 of 2" in words.sureness(
        release(noise_std=[2.0, 200.0])
    )
    lost = release(noise_std=[1.7e308, 1.6e308], sampling_std=[1.0, 0.9])
    assert "more than a million times" in words.sureness(lost)
    assert "not stated" in words.sureness(release(sampling_std=None))
    assert "says how sure" in words.sureness(RELEASES["regression without errors"])
    assert "round" in words.shape(release(noise_std=[1.0, 1.0]))
    assert "error_norm='relative'" in words.shape(release(noise_std=[20.0, 40.0]))
    assert "similar units" not in words.shape(release())


def test_error_bars_lie_where_they_belong() -> None:
    one = np.array([0.0, 5.0, 10.0])
    bars, axis = drawing.draw_errors(one, one - 2, one + 2, np.ones(3), np.arange(3), zero=False)
    assert axis[0].label == "0"
    at = [bar.at for bar in bars]
    assert at[1] - at[0] == pytest.approx(at[2] - at[1], abs=0.02)
    assert bars[0].low == 6.0
    assert bars[2].high == 94.0
    assert bars[0].zero == at[0] == axis[0].at
    for bar in bars:
        assert bar.low < bar.noise_low < bar.at < bar.noise_high < bar.high
    far = one * 1e6
    bars, axis = drawing.draw_errors(far, far - 2, far + 2, np.ones(3), np.arange(3), zero=False)
    assert axis == []  # each has a scale of its own
    assert [(bar.low, bar.at, bar.high) for bar in bars] == [(6.0, 50.0, 94.0)] * 3
    bars, _ = drawing.draw_errors(far, far - 2, far + 2, np.ones(3), np.arange(3), zero=True)
    assert [bar.zero for bar in bars] == [50.0, 6.0, 6.0]


def test_error_bars_of_any_size_are_drawn_whatever_numpy_is_set_to_raise() -> None:
    sizes = np.array([1e300, 1e-30])
    ends = 0.9 * sizes, 1.1 * sizes
    with np.errstate(all="raise"):
        bars, _ = drawing.draw_errors(sizes, *ends, 0.05 * sizes, np.arange(2), zero=False)
    assert bars[0].at == 50.0


def test_quantiles_of_a_column_share_a_scale() -> None:
    table = make_table(RELEASES["quantiles"], 0.95)
    assert [row.names for row in table.rows] == [
        ["age", "0.25"], ["age", "0.75"], ["income", "0.25"], ["income", "0.75"]]  # fmt: skip
    first, second = table.rows[0].bar, table.rows[1].bar
    assert first is not None
    assert second is not None
    assert first.at < second.at


def test_a_table_that_is_too_long_says_so() -> None:
    table = make_table(wide(4000), 0.95)
    assert len(table.rows) == 3000
    assert "first 3,000 of 4,000" in table.hidden
    table = make_table(RELEASES["wide covariance"], 0.95)
    assert "200 of 4,095" in table.hidden
    correlation = np.abs(np.corrcoef(np.random.default_rng(0).normal(size=(50, 90)).T))
    np.fill_diagonal(correlation, 0.0)
    i, j = np.unravel_index(np.argmax(correlation), correlation.shape)
    assert table.rows[0].names == [f"c{j}", f"c{i}"] or table.rows[0].names == [f"c{i}", f"c{j}"]


def test_the_profile_falls() -> None:
    noise = np.array([1.0, 100.0, 0.0, 10.0])
    found = drawing.draw_profile(noise, None)
    assert found is not None
    assert found.order == [1, 3, 0]
    assert [mark.label for mark in found.axis] == ["0.1", "1", "10", "100", "1000"][
        : len(found.axis)
    ]
    assert drawing.draw_profile(np.array([0.0, 1.0]), None) is None


CALLS = {
    "mean": {"columns": ["a b", "it's"], "error_norm": 1, "neighbors": "add-remove"},
    "sum": {"bounds": {"a b": (0, 5), "it's": (-1, 1)}},
    "variance": {"bounds": (-5, 5), "error_norm": "relative"},
    "covariance": {"correlation": True},
}


@pytest.mark.parametrize("name", CALLS)
def test_the_code_makes_the_release_again(
    name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from prolate.cli import main

    rng = np.random.default_rng(0)
    table = pa.table({key: rng.normal(size=500) for key in ("a b", "it's")})
    pq.write_table(table, tmp_path / "data.parquet")
    monkeypatch.chdir(tmp_path)
    made = getattr(prolate, name)("data.parquet", budget=Budget(rho=1), **CALLS[name])
    again(made, tmp_path, main)


@pytest.mark.parametrize("q", [0.5, [0.25, 0.5]])
def test_the_code_makes_quantiles_again(
    q: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from prolate.cli import main

    rng = np.random.default_rng(0)
    table = pa.table({key: rng.normal(size=500) for key in ("line\nbreak", "a,b", "é\u202e")})
    pq.write_table(table, tmp_path / "data.parquet")
    monkeypatch.chdir(tmp_path)
    again(prolate.quantile("data.parquet", q, budget=Budget(mu=1)), tmp_path, main, shell=False)


def test_the_code_makes_a_regression_again(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from prolate.cli import main

    rng = np.random.default_rng(0)
    table = pa.table({key: rng.normal(size=500) for key in ("a", "b", "the cost")})
    pq.write_table(table, tmp_path / "data.parquet")
    monkeypatch.chdir(tmp_path)
    model = prolate.LinearRegression(mu=1, fit_intercept=False)
    again(model.fit("data.parquet", "the cost", features=["b", "a"]).release_, tmp_path, main)


GROUPED: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("mean", (), {"columns": ["a"], "keys": ["north", "it's"]}),
    ("count", (), {"unit": "who"}),
    ("count", (), {}),
    ("quantile", ([0.25, 0.5],), {"columns": ["a"], "keys": ["north", "it's"]}),
    ("regress", ("b",), {"features": ["a"], "keys": ["north"], "unit": "who"}),
]


@pytest.mark.parametrize(("name", "args", "given"), GROUPED)
def test_the_code_makes_the_releases_of_groups_again(
    name: str, args: Any, given: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from prolate.cli import main

    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "a": rng.normal(size=900),
            "b": rng.normal(size=900),
            "who": np.arange(900) // 2,
            "the ward": rng.choice(["north", "it's"], 900),
        }
    )
    pq.write_table(table, tmp_path / "data.parquet")
    monkeypatch.chdir(tmp_path)
    face, budget = getattr(prolate, name), Budget(epsilon=5, delta=1e-3)
    made = face("data.parquet", *args, by="the ward", budget=budget, **given)
    assert len(made) == len(given.get("keys", "ab"))
    exec(compile(repeat.as_python(made.first, list(made.groups)), "repeated", "exec"), {})
    stored = [GroupedRelease.from_json(tmp_path / "release.json")]
    (tmp_path / "release.json").unlink()
    words_ = shlex.split(repeat.as_command(made.first, list(made.groups)).replace("\\\n", " "))
    assert main(words_[1:]) == 0
    stored.append(GroupedRelease.from_json(tmp_path / "release.json"))
    for other in stored:
        assert list(other.groups) == list(made.groups)
        for field in ("statistic", "by", "columns", "budget", "neighbors", "unit", "keys_delta"):
            assert getattr(other, field) == getattr(made, field)


def test_the_code_takes_a_column_without_a_name(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pandas names an index in a CSV file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from prolate.cli import main

    rng = np.random.default_rng(0)
    table = pa.table({key: rng.normal(size=500) for key in ("", "a,b")})
    pq.write_table(table, tmp_path / "data.parquet")
    monkeypatch.chdir(tmp_path)
    for columns in ([""], ["", "a,b"]):
        made = prolate.mean("data.parquet", columns=columns, budget=Budget(mu=1))
        again(made, tmp_path, main)


def test_the_code_has_all_digits(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In six, the last quantile would be the largest value."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from prolate.cli import main

    rows = np.random.default_rng(0).normal(size=500)
    pq.write_table(pa.table({"x": rows}), tmp_path / "data.parquet")
    monkeypatch.chdir(tmp_path)
    budget = Budget(epsilon=1 / 3, delta=1e-6 / 3)
    for bounds in ((-1 / 3, 1e6 / 3), {"x": (-1 / 3, 123456789.12345)}):
        made = prolate.quantile(
            "data.parquet", [1 / 3, 0.99999999], bounds=bounds, budget=budget, columns=["x"]
        )
        again(made, tmp_path, main)
        assert [line.split()[:2] for line in repr(made).splitlines()[2:4]] == [
            ["x", "0.333333"],
            ["x", "0.99999999"],
        ]


def test_the_code_says_which_arguments_it_may_lack() -> None:
    rows = np.random.default_rng(0).normal(5.0, 2.0, size=(500, 2))
    given: list[dict[str, Any]] = [{}, {"method": "gaussian-ellipse", "center": 5, "scale": 2}]
    for options in given:
        made = prolate.mean(rows, budget=Budget(mu=1), **options)
        assert any("scale" in note for note in repeat.not_stored(made))
        assert any("--spark" in note for note in repeat.not_stored(made))


@pytest.mark.parametrize(
    ("name", "args", "given"),
    [
        ("mean", (), {"rotation": "auto"}),
        ("mean", (), {"clip": 0.1}),
        ("variance", (), {"exchangeable": True}),
        ("regress", ("b",), {"alpha": 3}),
        ("regress", ("b",), {"method": "ssp", "accounting": "basic", "bounds": (-5, 5)}),
    ],
)
def test_the_code_has_what_else_was_asked(
    name: str, args: Any, given: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from prolate.cli import main

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pa.table({key: rng.normal(size=500) for key in "ab"})
    pq.write_table(table, "data.parquet")
    budget = Budget(epsilon=1, delta=1e-6)
    made = getattr(prolate, name)("data.parquet", *args, budget=budget, **given)
    assert set(given) <= {"method", *made.details}
    again(made, tmp_path, main)


def again(made: Release, folder: Any, main: Any, *, shell: bool = True) -> None:
    """Check that code and command make a release of the same kind."""
    code = repeat.as_python(made)
    assert code.isascii()
    exec(compile(code, "repeated", "exec"), {})
    stored = [Release.from_json(folder / "release.json")]
    (folder / "release.json").unlink()
    if shell:
        arguments = shlex.split(repeat.as_command(made).replace("\\\n", " "))
        assert main(arguments[1:]) == 0
        stored.append(Release.from_json(folder / "release.json"))
    for other in stored:
        for name in ("statistic", "columns", "budget", "neighbors", "method", "error_norm"):
            assert getattr(other, name) == getattr(made, name)
        for name in (
            "bounds", "q", "target", "fit_intercept", "clip", "rotation", "alpha", "accounting",
            "exchangeable",
        ):  # fmt: skip
            assert other.details.get(name) == made.details.get(name)


def test_the_command_shows_what_cannot_be_printed_as_escapes() -> None:
    command = repeat.as_command(RELEASES["odd names"])
    assert command.replace("\n", "").isprintable()
    assert "$(printf" in command


@pytest.mark.parametrize("name", ["a\x01'; echo lost; #", "\x1b[2J$(ls)`ls`", "100 %\t\\n\u202e'é"])
def test_a_shell_reads_a_word_as_the_name_that_it_is(name: str) -> None:
    said = subprocess.run(
        ["sh", "-c", f"printf %s {repeat.shell(name)}"], capture_output=True, check=True
    )
    assert said.stdout.decode() == name


def test_the_file_is_whole_or_not_there(tmp_path: Any) -> None:
    text = release().to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == text
    with pytest.raises(ReleaseError, match="folder"):
        release().to_html(tmp_path / "no" / "page.html")


def test_a_page_of_a_thousand_columns_is_quick_and_small() -> None:
    assert len(RELEASES["wide"].to_html()) < 1_000_000
    assert len(RELEASES["wide"]._repr_html_()) < 40_000


def test_frames_of_every_kind_hold_the_same_records() -> None:
    for found in (release(), RELEASES["quantiles"], RELEASES["covariance"], regression(
            noise_std=None, sampling_std=None, error_covariance=None, method="ssp")):  # fmt: skip
        pandas, arrow, polars = found.to_frame(), found.to_arrow(), found.to_polars()
        assert arrow.to_pylist() == found.table()
        assert polars.to_dicts() == found.table()
        assert list(pandas.columns) == arrow.column_names == polars.columns
        assert pandas["estimate"].tolist() == polars["estimate"].to_list()


def test_plots_show_what_is_there() -> None:
    pytest.importorskip("matplotlib")
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    for name, found in RELEASES.items():
        ax = found.plot()
        ax.figure.set_dpi(20)
        if name not in ("tiny", "huge"):
            ax.figure.canvas.draw()
        plt.close(ax.figure)
    ax = release().plot()
    assert "% of the estimate" in ax.get_xlabel()
    assert ax.get_yticklabels()[1].get_text() == "income = 30000"
    low, high = ax.get_xlim()
    assert low < -4.0 < 4.0 < high < 100.0
    plt.close("all")
    assert "%" not in release(estimate=[1.0, 2.0], noise_std=[0.5, 0.5]).plot().get_title()
    assert wide(1000).plot().figure.get_size_inches()[1] <= 40.0
    plt.close("all")
