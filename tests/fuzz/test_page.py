"""The page of `prolate ui`, asked for what nobody should ask, by whom nobody should let in.

Two pages are asked the same at a time. Their data have one schema, one number of rows and
nothing else in common; so whatever they answer must be the same, byte by byte, but for tickets
and noise. A third one has another number of rows: where that is private, it answers the same, too.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import math
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from fuzz.harness import cases, check_reply, limit
from fuzz.tables import NAMES, ODD
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("uvicorn", reason="needs prolate[ui]")

from browser.serving import TOKEN, Served, served

import prolate
from prolate import Budget, Ledger
from prolate.ui.plan import STATISTICS, Plan
from prolate.ui.schema import read_schema

SECRET = "271828"  # the largest value of every column
LONG = "x" * 1500


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Served]]:
    """Return two pages whose data differ in values alone, and one whose rows are more."""
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        found = []
        for seed, rows in ((0, 331), (1, 331), (2, 977)):
            folder = tmp_path_factory.mktemp("page")
            patch.chdir(folder)  # so that all have the same relative path
            rng = np.random.default_rng(seed)
            numbers = rng.normal(50.0 * seed, 10.0, size=(4, rows))
            numbers[:, seed] = float(SECRET) * (1 if seed else -1)
            labels = rng.choice([f"Zaphod{seed}", "north", "\u202e", ""], rows)
            table = dict(zip(("a", "b", "<b>", 'quo"te\n'), numbers, strict=True))
            table |= {"person": rng.integers(0, 60, rows), "region": labels}
            pa.parquet.write_table(pa.table(table), "rows.parquet")
            Ledger.create("book", limit=Budget(mu=500), dataset="d")
            page = stack.enter_context(served("rows.parquet", "book"))  # type: ignore[arg-type]
            found.append((folder, page))
        yield [_In(folder, page, patch) for folder, page in found]


class _In:
    """A page in a folder of its own."""

    def __init__(self, folder: Any, page: Served, patch: pytest.MonkeyPatch) -> None:
        self._folder, self._patch, self.page = folder, patch, page
        self.desk = page.desk

    def ask(self, verb: str, path: str, body: Any = None, **headers: str) -> tuple[Any, ...]:
        """Return status, headers and text of what is judged to be an answer."""
        self._patch.chdir(self._folder)
        with limit():
            found = self.page._ask(verb, path, body, headers)
        check_reply(*found, SECRET, "Zaphod")
        return *found[:2], found[2].replace(str(self._folder), "")

    def post(self, path: str, fields: Any) -> Any:
        """Return what stands in the JSON of an answer."""
        return json.loads(self.ask("POST", path, json.dumps(fields))[2])


GOOD: dict[str, Any] = {
    "statistic": "sum", "columns": ["a", "b"], "bounds": {"a": [0, 90], "b": [-5, 5]},
    "neighbors": "replace", "epsilon": 1, "delta": 1e-6, "q": [0.5], "target": "b",
    "features": ["a"], "rows": 500, "spread": {"a": 3},
}  # fmt: skip
FIELDS: dict[str, list[Any]] = {
    "statistic": [*STATISTICS, "__class__", "release", "Mean"],
    "columns": [["a"], ["<b>", 'quo"te\n'], ["region"], ["a", "a"], ["person"], [["a"]], [LONG]],
    "bounds": [{"a": [0, 1]}, {"a": [1, 0]}, {"a": [0, 1e308], "b": [-1e308, 1]}, {"zz": [0, 1]},
               {"a": [0, 0], "b": [0, 0]}, {"a": ["0", 1]}, {"a": 3}, [0, 1], {"a": [0, 1, 2]},
               {"a": [-1e-320, 1e-320], "b": [0, 1]}, {"a": [10**400, 1]}],
    "neighbors": ["replace", "add-remove", "both", ["replace"]],
    "epsilon": [1e-9, 1e-300, 300, 1e9, 0, -1, True, "1", math.nan],
    "delta": [1e-300, 0.999, 0, 1, math.nan, "1e-6"],
    "q": [[0, 1], [0.5] * 40, [2], 0.5, [math.nan], [True], [[0.5]], [1e-320]],
    "unit": ["person", "region", "a", "zz", ["person"], {"person": 1}],
    "by": ["region", "person", "a", "zz", ["region"], {"region": 1}],
    "keys": [["north", "x"], ["north", "north"], [""], ["\n"], [1], ["\ud800"], [LONG], "north"],
    "contribution": ["mean", "rows", "all"],
    "max_rows": [1, 3, 0, -1, 2.5, 10**30],
    "target": ["a", "region", "zz", LONG],
    "features": [["b"], ["a", "b"], ["zz"], [], "a"],
    "rows": [1, 10**5, 2**38, 2**60, 1.5, 0, 1e308, math.inf, math.nan],
    "spread": [{"a": 1, "b": 2}, {"a": 1e-300, "b": 1}, {"a": 1e300, "b": 1e300}, {"a": 10**400},
               {"a": -1}, {"zz": 1}, {"a": math.inf, "b": 1}, [1]],
    "ticket": ["x", LONG, "../state"],
}  # fmt: skip
one_field = st.sampled_from([
    *((name, value) for name, all_ in FIELDS.items() for value in all_ for _ in range(3)),
    *((name, value) for name in FIELDS for value in ODD),
])  # fmt: skip
fields = st.lists(one_field, max_size=4).map(lambda changes: {**GOOD, **dict(changes)})


def same(texts: list[str]) -> str:
    """Return a text that is the same everywhere but for tickets."""
    without = [re.sub(r'"(ticket|id)": ?"[^"]*"', "", text) for text in texts]
    assert without[0] == without[1]
    return texts[0]


def hides(said: dict[str, Any]) -> bool:
    return said.get("rows") is None


@cases(100)
@given(fields, st.sampled_from(["expected", "review", "review"]))
def test_fields(pages, fields, path) -> None:
    body = json.dumps(fields)
    texts = [page.ask("POST", path, body)[2] for page in pages]
    said = json.loads(same(texts[:2]))
    public = fields["neighbors"] == "replace" and not (fields.get("unit") or fields.get("by"))
    if path == "expected" and not public:
        assert hides(said)
    if path == "review" or hides(said):
        same(texts[::2])


@cases(30)
@given(fields.filter(lambda given: given["statistic"] not in ("variance", "covariance")))
def test_releases(pages, fields) -> None:
    tickets = [page.post("review", fields).get("ticket") for page in pages]
    spent = [len(Ledger(page._folder / "book").entries()) for page in pages]
    if None in tickets:
        assert tickets == [None] * 3
        return
    ends = []
    for page, ticket, before in zip(pages, tickets, spent, strict=True):
        for _ in range(2):  # pressed twice
            page.post("release", {**fields, "ticket": ticket})
        run = page.desk.find(ticket)
        with limit():
            run.thread.join()
        kept = len(Ledger(page._folder / "book").entries())
        free = run.state == "refused" or not getattr(run.release, "receipt", True)
        assert kept == before + 1 or (kept == before and free)  # a public count costs nothing
        shown = page.post("release", {"ticket": ticket})
        ends.append((shown["state"], shown.get("error"), shown["title"]))
        for kind in ("report", "json", "csv", "html", "py", "exe", "..", ""):
            status, _, text = page.ask("GET", f"runs/{ticket}/{kind}")
            assert (status == 200) == (kind in ("json", "csv", "html", "report", "py")
                                       and run.state == "done"), (kind, text)  # fmt: skip
        assert page.ask("GET", "state")[0] == 200
    assert ends[0] == ends[1]


bodies = st.sampled_from([
    b"", b"{", b"[]", b"null", b"7", b'"x"', b"\xff\xfe", b"{}" * 2, b"[" * 10**5, b'{"a":' * 10**5,
    b" " * (1 << 20), b"x" * (2 << 20), b'{"statistic": NaN}', b'{"statistic": 1e999}', b"{}",
    b'{"columns": ["a"], "columns": 7}', b'{"\\ud800": "\\ud800"}', b"\x00", b'{"ticket": null}',
    json.dumps(GOOD).encode("utf-16"), b'{"epsilon": ' + b"1" * 5000 + b"}",
])  # fmt: skip
ways = st.sampled_from([
    "", "state", "expected", "review", "release", "page.js", "page.css", "favicon.ico", "runs",
    "runs/", "runs/x/json", "runs/x/report", "runs//report", "runs/%00/json", "../state", "state/",
    "%2e%2e/state", "runs/%2e%2e/state", "state?x=1", "state#x", "/", "//", "page.html", "files/",
    "runs/%ff/json", "%F0%9F%98%80", "a" * 5000, "expected/..;/state", "page.css%00", "STATE",
])  # fmt: skip
VERBS = ("GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "PROPFIND")


@cases(100)
@given(st.sampled_from(VERBS), ways, bodies)
def test_addresses(pages, verb, way, body) -> None:
    texts = [page.ask(verb, way, body)[::2] for page in pages]
    assert texts[0] == texts[1] or "state" in way
    assert "state" in way or '"rows":3' in texts[0][1] or texts[0][1] == texts[2][1]


@cases(60)
@given(st.sampled_from(VERBS), ways, bodies, st.sampled_from([
    "", "x", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), f"%00{TOKEN}", f"{TOKEN}%00", "%ff", "é" * 9,
    f"x/{TOKEN}", ".", "..", "*", "None", "\u202e", LONG,
]), st.sampled_from([{}, {"Authorization": f"Bearer {TOKEN}"}, {"Cookie": f"token={TOKEN}"},
    {"X-Forwarded-Host": "localhost"}, {"Referer": f"http://x/{TOKEN}/"},
    {"Origin": "http://evil.example"}]))  # fmt: skip
def test_nobody_else_is_let_in(pages, verb, way, body, token, headers) -> None:
    from urllib.parse import quote

    path = "/" + quote(token, safe="/%*") + "/" + way
    status, _, text = pages[0].ask(verb, path, body, **headers)
    assert (status, text) in ((403, "Forbidden.\n"), (403, "")), (status, text)


@cases(60)
@given(st.sampled_from([
    b"", b"\r\n\r\n", b"GET", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x00",
    b"GET /%s/ HTTP/1.1\r\n\r\n",
    b"GET /%s/state HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n",
    b"G\x00T / HTTP/1.1\r\n\r\n",
    b"GET /%s/ HTTP/1.0\r\n\r\n", b"POST /%s/review HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    b"POST /%s/review HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /%s/review HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET http://evil.example/%s/state HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"GET /%s/ HTTP/1.1\r\n" + b"A: b\r\n" * 5000 + b"\r\n", b"A" * 10**5,
    b"CONNECT x:1 HTTP/1.1\r\n\r\n", b"GET /\xff\xfe HTTP/1.1\r\nHost: \xff\r\n\r\n",
]))  # fmt: skip
def test_what_is_hardly_http(pages, words) -> None:
    """It gets a refusal or nothing, no secret, and the page goes on."""
    port = pages[0].page.port
    with limit(), socket.create_connection(("127.0.0.1", port), timeout=20) as link:
        link.sendall(words.replace(b"%s", TOKEN.encode()))
        link.shutdown(socket.SHUT_WR)
        text = b""
        try:
            while chunk := link.recv(1 << 16):
                text += chunk
        except ConnectionError:
            pass
    first = text.split(b"\r\n", 1)[0]
    assert not text or first[:12] in (b"HTTP/1.1 403", b"HTTP/1.1 400", b"HTTP/1.1 431"), first
    for secret in (b"Traceback", SECRET.encode(), TOKEN.encode(), b"Zaphod"):
        assert secret not in text
    assert pages[0].ask("GET", "page.js")[0] == 200


def test_a_request_that_is_cut_off_holds_nobody_up(pages) -> None:
    link = http.client.HTTPConnection("127.0.0.1", pages[0].page.port, timeout=20)
    link.putrequest("POST", f"/{TOKEN}/review")
    link.putheader("Content-Length", "100000")
    link.endheaders()
    link.send(b'{"statistic"')
    assert pages[0].ask("GET", "state")[0] == 200
    link.close()
    assert pages[0].ask("GET", "state")[0] == 200


def test_the_code_for_columns_of_any_name_asks_for_them(tmp_path, monkeypatch) -> None:
    path = tmp_path / 'it\'s \u202e "rows".parquet'
    pa.parquet.write_table(pa.table([[1.0]] * len(NAMES), names=list(NAMES)), path)
    schema = read_schema(str(path))
    asked: list[Any] = []
    monkeypatch.setattr(prolate, "sum", lambda *data, **options: asked.append((data, options)))
    for name in filter(None, NAMES):
        fields = {**GOOD, "columns": [name], "bounds": {name: [0, 1]}}
        code = Plan.read(fields, schema).python("\u202e'\n.ledger")
        assert code.isascii()
        with contextlib.suppress(AttributeError):  # None has no to_json
            exec(code, {})
        (data,), options = asked.pop()
        assert (data, options["columns"]) == (str(path), [name])
        assert options["bounds"] == {name: (0.0, 1.0)}
        assert options["ledger"] == "\u202e'\n.ledger"


@pytest.mark.parametrize(
    "odd",
    [
        {"statistic": []},
        {"unit": ["person"]},
        {"by": {"": []}},
        {"statistic": "mean", "neighbors": "add-remove", "rows": math.inf},
        {"statistic": "mean", "spread": {"a": 10**400}},
    ],
)
def test_fields_that_once_stopped_the_page(pages, odd) -> None:
    for path in ("expected", "review"):
        pages[0].post(path, {**GOOD, **odd})
