"""The server behind `prolate ui`: who is let in, what is known, what is charged, and once."""

from __future__ import annotations

import asyncio
import json
import shlex
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from browser.serving import ROWS, SECRET, TOKEN, Served, patients, served
from fuzz.harness import holds

import prolate
from prolate import Budget, GroupedRelease, Ledger, Release
from prolate.cli import main
from prolate.errors import InputError
from prolate.ui.expected import expect
from prolate.ui.guard import Guard
from prolate.ui.plan import Plan
from prolate.ui.schema import read_schema
from prolate.ui.serve import listen

PLAN = {
    "statistic": "sum",
    "columns": ["age", "visits"],
    "bounds": {"age": [0, 120], "visits": [0, 20]},
    "neighbors": "replace",
    "epsilon": 1,
    "delta": 1e-6,
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return patients(tmp_path_factory.mktemp("data"))


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    Ledger.create(tmp_path / "p.ledger", limit=Budget(epsilon=2, delta=1e-6), dataset="patients")
    return tmp_path / "p.ledger"


@pytest.fixture
def page(data: Path, ledger: Path) -> Iterator[Served]:
    with served(data, ledger) as found:
        yield found


def ended(page: Served, ticket: str) -> dict[str, Any]:
    for _ in range(600):
        runs = json.loads(page.get("state")[2])["runs"]
        run = next(run for run in runs if run["id"] == ticket)
        if run["state"] != "running":
            return run
        time.sleep(0.1)
    raise AssertionError("the release does not end")


def test_only_the_token_opens(page: Served) -> None:
    assert page.get("")[0] == 200
    for path in ("/", "/wrong/", f"/{TOKEN[:-1]}/", f"/{TOKEN}x/", f"/x/{TOKEN}/", "/favicon.ico",
                 f"/wrong/?token={TOKEN}", "/wrong/state", "/wrong/page.js"):  # fmt: skip
        status, _, text = page.get(path)
        assert (status, text) == (403, "Forbidden.\n"), path


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost:1", ""]
)
def test_a_name_that_was_bound_to_this_machine_is_refused(page: Served, host: str) -> None:
    assert page.get("", Host=host.format(port=page.port))[0] == 403
    assert page.get("", Host=f"localhost:{page.port}")[0] == 200


def test_another_pages_origin_is_refused(page: Served) -> None:
    own = f"http://127.0.0.1:{page.port}"
    assert page.get("state", Origin=own)[0] == 200
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{page.port}"):
        assert page.get("state", Origin=origin)[0] == 403


@pytest.mark.parametrize(
    ("path", "host", "origin", "enters"),
    [
        (f"/{TOKEN}/", b"127.0.0.1:80", b"http://127.0.0.1:80", True),
        ("/wrong/", b"127.0.0.1:80", b"http://127.0.0.1:80", False),
        (f"/{TOKEN}/", b"evil.example:80", b"http://127.0.0.1:80", False),
        (f"/{TOKEN}/", b"127.0.0.1:80", b"http://evil.example", False),
    ],
)
def test_websockets_need_the_token_too(path: str, host: bytes, origin: bytes, enters: bool) -> None:
    entered, sent = [], []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        entered.append(scope["path"])

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message["type"])

    scope = {"type": "websocket", "path": path, "headers": [(b"host", host), (b"origin", origin)]}
    asyncio.run(Guard(app, TOKEN, 80)(scope, receive, send))
    assert (entered, sent) == (([path], []) if enters else ([], ["websocket.close"]))


def test_a_browser_is_opened_with_a_key_that_works_once(page: Served) -> None:
    used: list[bool] = []
    key = page.guard.once(lambda: used.append(True))
    assert page.get(f"/{key}", Host="evil.example")[::2] == (403, "Forbidden.\n")
    assert page.get(f"/{key}x")[::2] == (403, "Forbidden.\n")
    assert not used
    status, headers, _ = page.get(f"/{key}")
    assert (status, headers["location"]) == (303, f"/{TOKEN}/")
    for _ in range(2):
        status, _, text = page.get(f"/{key}")
        assert status == 403
        assert "Open the address that the terminal shows" in text
        assert TOKEN not in text
    assert used == [True]


def test_a_key_works_for_five_minutes(page: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    for minutes, status in ((4.9, 303), (5.1, 403)):
        used: list[bool] = []
        key = page.guard.once(lambda used=used: used.append(True))  # type: ignore[misc]
        later = SimpleNamespace(monotonic=lambda m=minutes: time.monotonic() + 60 * m)
        with monkeypatch.context() as patch:
            patch.setattr("prolate.ui.guard.time", later)
            assert page.get(f"/{key}")[0] == status
            assert page.get(f"/{key}")[0] == 403
        assert used == [True]
    assert page.get("")[0] == 200


def test_it_listens_on_the_loopback_address_only() -> None:
    with listen(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
        with pytest.raises(InputError, match="choose another"):
            listen(listener.getsockname()[1])


def test_answers_are_not_kept_and_run_nothing_foreign(page: Served) -> None:
    _, headers, text = page.get("")
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert (
        "default-src 'none'; script-src 'self'; style-src 'self'"
        in (headers["content-security-policy"])
    )
    assert "http" not in text + page.get("page.js")[2] + page.get("page.css")[2]
    assert "&lt;b&gt;odd&lt;/b&gt;" in text
    assert "<b>odd" not in text


def test_no_value_and_no_private_count_is_told(page: Served) -> None:
    def told(**changes: Any) -> str:
        return json.dumps(page.post("expected", PLAN | changes))

    both = [page.get("")[2], page.get("state")[2]]
    hidden = {"neighbors": "add-remove", "statistic": "mean"}
    both += [told(**hidden), told(**hidden, rows=5000), told(**hidden, unit="person")]
    both += [told(statistic="mean", unit="person"), told(statistic="mean", by="region")]
    both.append(json.dumps(page.post("review", PLAN | hidden)))
    for text in both:
        assert not any(holds(text, secret) for secret in (str(ROWS), f"{SECRET:.0f}", "north"))
    assert f'"rows": {ROWS}' not in told(statistic="mean")  # nothing is decided yet
    ended(page, page.post("release", {"ticket": page.post("review", PLAN)["ticket"]})["id"])
    assert f'"rows": {ROWS}' in told(statistic="mean")


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_progress_tells_no_private_count(
    page: Served, monkeypatch: pytest.MonkeyPatch, neighbors: str
) -> None:
    go, seen = threading.Event(), threading.Event()
    true = prolate.sum

    def slow(data: object, *, progress: Any = None, **given: Any) -> Any:
        progress("rows", 4000, ROWS)
        seen.set()
        assert go.wait(30)
        return true(data, **given)

    monkeypatch.setattr(prolate, "sum", slow)
    ticket = page.post("review", PLAN | {"neighbors": neighbors})["ticket"]
    page.post("release", {"ticket": ticket})
    assert seen.wait(30)
    run = json.loads(page.get("state")[2])["runs"][0]
    other = page.post("release", {"ticket": page.post("review", PLAN)["ticket"]})
    go.set()
    assert run["step"] == "rows"
    assert (run["part"] is None) == (neighbors == "add-remove")
    assert "Another release is being made" in other["error"]
    assert ended(page, ticket)["state"] == "done"


def test_rows_are_told_where_all_releases_of_the_ledger_tell_them(
    data: Path, tmp_path: Path
) -> None:
    rows = str(prolate.count(data, budget=Budget(mu=1)).n).split(".")[0]
    decided = {"neighbors": "replace"}, {"neighbors": "add-remove"}, {"unit": "ward"}, {}
    for number, promise in enumerate(decided):
        place = tmp_path / f"{number}.ledger"
        Ledger.create(place, limit=Budget(epsilon=2, delta=1e-6), **promise)  # type: ignore[arg-type]
        with served(data, place) as page:
            told = page.post("expected", PLAN | {"neighbors": "replace"})
        assert told["rows"] == (int(rows) if number == 0 else None)
        assert (rows in json.dumps(told)) is (number == 0)


def test_a_ticket_is_charged_once(page: Served, ledger: Path) -> None:
    ticket = page.post("review", PLAN)["ticket"]
    assert Ledger(ledger).spent is None  # reviewing costs nothing
    answers: list[Any] = []
    clicks = [
        threading.Thread(target=lambda: answers.append(page.post("release", {"ticket": ticket})))
        for _ in range(6)
    ]
    for click in clicks:
        click.start()
    for click in clicks:
        click.join()
    ended(page, ticket)
    page.post("release", {"ticket": ticket})
    assert {answer["id"] for answer in answers} == {ticket}
    assert len(json.loads(page.get("state")[2])["runs"]) == 1
    assert len(Ledger(ledger).entries()) == 1
    assert "exactly this before" in " ".join(page.post("review", PLAN)["words"])


def test_the_ledger_refuses_what_does_not_fit(page: Served, ledger: Path) -> None:
    said = " ".join(page.post("review", PLAN)["words"])
    assert "This spends epsilon = 1, delta = 1e-06" in said
    assert "limit of epsilon = 2, delta = 1e-06 (mu = 0.4484). After this, epsilon = 1.673" in said
    refused = page.post("review", PLAN | {"epsilon": 3})["error"]
    assert refused.startswith("A charge of epsilon = 3 at delta = 1e-06 (mu = 0.6477")
    assert "exceeds the budget" in refused
    # Confirmed while there was room, and too late: the ledger itself has the last word.
    tickets = [page.post("review", PLAN | {"epsilon": 1.5})["ticket"] for _ in range(2)]
    states = []
    for ticket in tickets:
        page.post("release", {"ticket": ticket})
        states.append(ended(page, ticket))
    assert [state["state"] for state in states] == ["done", "refused"]
    assert "exceeds the budget" in states[1]["error"]
    assert len(Ledger(ledger).entries()) == 1
    assert page.get(f"runs/{tickets[1]}/json")[0] == 400


def test_downloads_and_the_code_that_makes_it_again(page: Served, ledger: Path) -> None:
    ticket = page.post("review", PLAN)["ticket"]
    page.post("release", {"ticket": ticket})
    assert ended(page, ticket)["state"] == "done"
    for kind in ("json", "py"):  # asked for without its numbers
        assert page._ask("HEAD", f"runs/{ticket}/{kind}", None, {})[0] == 200
    assert page.desk.runs()[0].fetched is False
    found = {kind: page.get(f"runs/{ticket}/{kind}") for kind in ("json", "csv", "html", "py")}
    for kind, (status, headers, _) in found.items():
        assert status == 200
        assert headers["content-disposition"] == f'attachment; filename="sum-1.{kind}"'
    release = Release.from_json(found["json"][2])
    assert release.private
    assert release.columns == ("age", "visits")
    assert found["csv"][2].count("\n") == 3
    assert found["html"][2] == release.to_html() == page.get(f"runs/{ticket}/report")[2]
    run = page.desk.find(ticket)
    assert run is not None
    assert run.fetched
    names: dict[str, Any] = {}
    code = found["py"][2].replace("release.to_json('release.json')\n", "")
    exec(compile(code, "download", "exec"), names)
    again = names["release"]
    assert (again.columns, again.budget, again.details) == (
        release.columns, release.budget, release.details,
    )  # fmt: skip
    assert len(Ledger(ledger).entries()) == 2


def test_changes_of_the_limit_are_shown(page: Served, ledger: Path) -> None:
    assert json.loads(page.get("state")[2])["ledger"]["changes"] == []
    change = Ledger(ledger).set_limit(Budget(epsilon=3, delta=1e-6), keys_delta=2e-7)
    assert change is not None
    account = json.loads(page.get("state")[2])["ledger"]
    old = "epsilon = 2, delta = 1e-06 (mu = 0.4484)"
    new = "epsilon = 3, delta = 1e-06 (mu = 0.6478), of which delta = 2e-07 is for finding groups"
    assert account["changes"] == [
        {"id": 1, "old": old, "new": new, "charges": 0, "time": change.time}
    ]


def test_groups_and_persons(page: Served) -> None:
    plan = PLAN | {"statistic": "count", "by": "region", "unit": "person", "keys": ["north", "x"]}
    ticket = page.post("review", plan)["ticket"]
    page.post("release", {"ticket": ticket})
    assert ended(page, ticket)["state"] == "done"
    assert {line.split(",")[0] for line in page.get(f"runs/{ticket}/csv")[2].splitlines()} == {
        '"group"', '"north"', '"x"',
    }  # fmt: skip
    report = page.get(f"runs/{ticket}/report")[2]
    assert "Private count by region" in report
    assert "<script" not in report
    refused = page.post("review", plan | {"keys": []})["error"]
    assert "sets none aside" in refused
    assert "give the groups" in refused


def test_groups_are_found_where_a_delta_is_set_aside(data: Path, tmp_path: Path) -> None:
    limit = Budget(epsilon=2, delta=1e-6)
    book = Ledger.create(tmp_path / "p.ledger", limit=limit, keys_delta=5e-7)
    plan = PLAN | {"statistic": "count", "by": "region", "keys": [], "delta": 1e-7}
    with served(data, tmp_path / "p.ledger") as page:
        assert "if you name none, they are found privately" in page.get("")[2]
        assert "has room for this" in page.post("expected", plan)["room"]
        too_much = plan | {"delta": 1e-6}
        assert "but not for finding groups" in page.post("expected", too_much)["room"]
        assert "smaller delta" in page.post("review", too_much)["error"]
        review = page.post("review", plan)
        said = " ".join(review["words"])
        assert "of which delta = 5e-07 is for finding groups. After this, epsilon = " in said
        assert "takes delta = 1e-07 of what the ledger sets aside for that; 4e-07 is left" in said
        page.post("release", {"ticket": review["ticket"]})
        assert ended(page, review["ticket"])["state"] == "done"
        account = json.loads(page.get("state")[2])["ledger"]
    assert account["limit"].endswith("of which delta = 5e-07 is for finding groups")
    assert account["spent"].endswith("and delta = 1e-07 for finding groups")
    [entry] = book.entries()
    assert (entry.delta, entry.mu) == (1e-7, Budget(epsilon=1, delta=5e-8).mu)


LINE = PLAN | {"statistic": "regress", "target": "visits", "columns": ["age"]}
ROWS_OF = {"unit": "person", "contribution": "rows", "max_rows": 3}


@pytest.mark.parametrize(
    "changes",
    [
        LINE,
        LINE | {"bounds": None, "by": "region", "keys": ["north", "it's"]},
        LINE | ROWS_OF,
        ROWS_OF | {"contribution": "mean", "max_rows": None},
        {"statistic": "mean", "bounds": {"age": [-5, 0]}, "neighbors": "add-remove"},
        {"statistic": "quantile", "q": [0.25, 0.1 + 0.2], "columns": ["<b>odd</b>"]},
        {"statistic": "count", "by": "region", "keys": []},
        {"statistic": "count", "by": "region", "keys": ["-k", "north"], **ROWS_OF},
    ],
)
def test_page_python_and_command_make_the_same_release(
    data: Path, changes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with served(data) as page:
        ticket = page.post("review", PLAN | changes)["ticket"]
        page.post("release", {"ticket": ticket})
        run = ended(page, ticket)
        assert run["state"] == "done", run
        made, code, command = (page.get(f"runs/{ticket}/{kind}") for kind in ("json", "py", "sh"))
    kind = GroupedRelease if "by" in changes else Release
    released = kind.from_json(made[2])
    exec(compile(code[2], "download", "exec"), {})
    again = [kind.from_json("release.json")]
    Path("release.json").unlink()
    assert command[1]["content-disposition"].endswith('.sh"')
    assert main(shlex.split(command[2].replace("\\\n", " "))[1:]) == 0
    again.append(kind.from_json("release.json"))
    for one in again:
        assert one.to_dict()["budget"] == released.to_dict()["budget"]
        assert (one.statistic, one.columns, one.unit) == (
            released.statistic, released.columns, released.unit,
        )  # fmt: skip
        assert one.neighbors == released.neighbors
        pairs = [(one, released)]
        if isinstance(one, GroupedRelease) and isinstance(released, GroupedRelease):
            assert list(one.groups) == list(released.groups)
            pairs = list(zip(one.groups.values(), released.groups.values(), strict=True))
        for a, b in pairs:
            assert (a.method, a.details.get("bounds"), a.details.get("q")) == (
                b.method, b.details.get("bounds"), b.details.get("q"),
            )  # fmt: skip


def test_lines_and_rows_of_persons_are_put_in_words(page: Served) -> None:
    def said(changes: Any) -> str:
        return " ".join(page.post("review", PLAN | changes)["words"])

    assert said(LINE).startswith("Linear regression of visits on age. This spends")
    words = said(LINE | ROWS_OF | {"by": "region", "keys": ["north"]})
    assert "Linear regression of visits on age, by region, at most 3 rows per person." in words
    assert "how many are in each group is hidden" in words
    assert "Of each person at most 3 rows count, chosen at random." in words
    assert "how many rows count is hidden" in said(ROWS_OF)
    assert "at most 1 row per person" in said(ROWS_OF | {"max_rows": 1})
    assert "Count of rows, at most 3" in said(ROWS_OF | {"statistic": "count"})
    assert "Count of persons, one per person" in said({"statistic": "count", "unit": "person"})
    free = "That number is public: this spends nothing."
    assert said({"statistic": "count", "unit": "person"}).endswith(free)
    assert said({"statistic": "count"}).endswith(free)
    assert "This spends" in said({"statistic": "count", "neighbors": "add-remove"})
    assert "This spends" in said(ROWS_OF | {"statistic": "count"})


def test_what_no_forecast_is_made_for_says_so(page: Served) -> None:
    for changes, words in [
        (LINE, "The error of a regression is not known in advance"),
        ({"statistic": "variance"}, "The error of a variance is not known in advance"),
        ({"statistic": "quantile", "q": [0.5]}, "The error of a quantile is not known in advance"),
        ({"statistic": "covariance"}, "The error of a covariance is not known in advance"),
    ]:
        found = page.post("expected", PLAN | {"rows": ROWS} | changes)
        assert found["summary"].startswith(words)
        assert found["columns"] == {}  # no number that would be another statistic's
        assert (changes is LINE) == (not any("For comparison" in note for note in found["notes"]))


@pytest.mark.parametrize(
    "changes", [{}, {"neighbors": "add-remove"}, {"by": "region", "keys": ["north"]}]
)
def test_what_rows_of_persons_cost_is_expected(data: Path, page: Served, changes: Any) -> None:
    plan = Plan.read(PLAN | ROWS_OF | changes, read_schema(str(data)))
    made = plan.release(None, lambda *_: None)
    release = made.first if isinstance(made, GroupedRelease) else made
    assert release is not None
    assert release.noise_std is not None
    found = page.post("expected", PLAN | ROWS_OF | changes)["columns"]
    stated = [float(found[name]["noise"]) for name in ("age", "visits")]
    assert stated == pytest.approx(release.noise_std, rel=0.01)
    count = {"statistic": "count", "unit": "person"}
    assert "without noise" in page.post("expected", PLAN | count)["summary"]
    assert "±" in page.post("expected", PLAN | ROWS_OF | count)["summary"]


def test_errors_are_sentences(page: Served) -> None:
    for changes, sentence in [
        ({"columns": []}, "Choose at least one column."),
        ({"columns": ["nothing"]}, "There is no numeric column 'nothing'"),
        ({"columns": ["region"]}, "There is no numeric column 'region'"),
        ({"columns": "age"}, "Give columns as a list."),
        ({"statistic": "__import__"}, "Choose a statistic: mean, sum"),
        ({"neighbors": None}, "Choose what is hidden"),
        ({"bounds": {"age": [0, 120]}}, "give 'visits' a lowest and a highest value"),
        ({"bounds": {"age": [0, None]}}, "both a lowest and a highest"),
        ({"bounds": {"age": [9, 1], "visits": [0, 1]}}, "lowest value first; got 9 to 1"),
        ({"epsilon": None}, "Give epsilon as a number."),
        ({"epsilon": 10**400}, "Give epsilon as a smaller number."),
        ({"epsilon": -1}, "epsilon must be positive and finite"),
        ({"delta": 1}, "delta must lie strictly between 0 and 1"),
        ({"statistic": "quantile", "q": [2]}, "Give quantiles between 0 and 1"),
        ({"unit": "age"}, "'age' says whose row it is"),
        ({"unit": "nothing"}, "There is no column 'nothing'"),
        ({"statistic": "regress"}, "Choose the target"),
        ({"statistic": "regress", "target": "region"}, "Choose the target"),
        ({"statistic": "regress", "target": "age"}, "'age' is the target; it cannot be"),
        (LINE | {"columns": []}, "Choose at least one feature"),
        (LINE | {"by": "visits"}, "'visits' says whose row it is, or in which group"),
        (ROWS_OF | {"max_rows": None}, "Give the number of rows of each person"),
        (ROWS_OF | {"max_rows": 2.5}, "a whole number from 1"),
        (ROWS_OF | {"max_rows": 0}, "a whole number from 1"),
        (ROWS_OF | {"contribution": "all"}, "Choose how a person counts"),
    ]:
        assert sentence in page.post("review", PLAN | changes)["error"]
    assert page.post("review", [])["error"] == "The request is not a JSON object."
    assert "not known any more" in page.post("release", {"ticket": "x"})["error"]
    assert page.get("runs/x/report")[0] == 400


def test_an_unforeseen_error_quotes_no_value(page: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(f"row 17 is {SECRET}")

    monkeypatch.setattr(prolate, "sum", broken)
    ticket = page.post("review", PLAN)["ticket"]
    page.post("release", {"ticket": ticket})
    run = ended(page, ticket)
    assert run["state"] == "refused"
    assert "internal error (RuntimeError)" in run["error"]
    assert not holds(page.get("state")[2], f"{SECRET:.0f}")


def test_booleans_are_expected_to_be_sums_within_their_bounds(tmp_path: Path) -> None:
    table = pa.table({"smokes": [True, False] * 500, "moved": [False] * 1000})
    pq.write_table(table, tmp_path / "b.parquet")
    schema = read_schema(str(tmp_path / "b.parquet"))
    fields = LINE | {"statistic": "mean", "columns": ["smokes", "moved"]}
    plan = Plan.read(fields, schema)
    found = expect(plan, {}, schema.rows, schema.flags)
    made = plan.release(None, lambda *_: None)
    for name, std in zip(made.columns, made.noise_std, strict=True):
        assert float(found["columns"][name]["noise"]) == pytest.approx(std, rel=0.2)
    assert "true in half of the rows" in str(found["notes"])
    assert "SD" in expect(plan, {}, schema.rows)["columns"]["smokes"]["noise"]


def test_groups_of_booleans_are_not_to_be_found(tmp_path: Path) -> None:
    table = pa.table({"smokes": [True, False] * 500, "age": list(range(1000))})
    pq.write_table(table, tmp_path / "b.parquet")
    fields = LINE | {"statistic": "mean", "columns": ["age"], "by": "smokes", "keys": []}
    plan = Plan.read(fields, read_schema(str(tmp_path / "b.parquet")))
    assert not plan.finds_keys
    assert plan.charge.budget == plan.budget
    assert list(plan.release(None, lambda *_: None)) == ["false", "true"]


def test_what_is_expected_is_what_is_then_stated(page: Served) -> None:
    found = page.post("expected", PLAN)
    release = prolate.sum(
        [[1.0, 1.0]],
        budget=Budget(epsilon=1, delta=1e-6),
        bounds=([0, 0], [120, 20]),
        error_norm="relative",
        seed=1,
    )
    assert release.noise_std is not None
    assert [float(found["columns"][name]["noise"]) for name in ("age", "visits")] == pytest.approx(
        release.noise_std, rel=0.01
    )
    mean = page.post(
        "expected", PLAN | {"statistic": "mean", "rows": ROWS, "spread": {"age": 10, "visits": 2}}
    )
    forecast = prolate.expected_error(
        n=ROWS, scale=[10, 2], bounds=([0, 0], [120, 20]), budget=Budget(epsilon=1, delta=1e-6)
    )
    assert float(mean["columns"]["age"]["noise"]) == pytest.approx(forecast.noise_std[0], rel=0.3)
    uneven = {"statistic": "mean", "rows": ROWS, "bounds": {}, "spread": {"age": 10}}
    assert "Guess the spread of 'visits'" in page.post("expected", PLAN | uneven)["missing"]
    hidden = {"statistic": "mean", "neighbors": "add-remove"}
    assert "Guess the number of rows" in page.post("expected", PLAN | hidden)["missing"]


def test_a_session_without_a_ledger_says_so(data: Path) -> None:
    with served(data) as page:
        assert json.loads(page.get("state")[2])["ledger"] is None
        assert "There is no ledger" in " ".join(page.post("review", PLAN)["words"])
        assert "There is no ledger" in page.get("")[2]


def test_a_schema_needs_a_numeric_column(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("name\nann\nbob\n")
    with pytest.raises(InputError, match=r"No column of .* is numeric"):
        read_schema(str(tmp_path / "t.csv"))


def test_the_code_survives_odd_names(data: Path) -> None:
    schema = read_schema(str(data))
    odd = {"columns": ["<b>odd</b>"], "statistic": "mean", "bounds": None}
    code = Plan.read(PLAN | odd, schema).python("it's.ledger")
    compile(code, "code", "exec")
    assert "columns=['<b>odd</b>']" in code
    assert 'ledger="it\'s.ledger"' in code
