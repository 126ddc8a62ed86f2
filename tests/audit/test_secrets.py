"""Secrets stay in: values that are planted in the rows must turn up nowhere else.

Every number of the rows has sixteen digits of its own, every text a word of its own. All that
any command or function writes is searched for them, and for exact facts about the columns:
sums, means, extremes, quantiles, and the number of rows where it is private. Searched are
standard output and error, on a terminal and off it, files, temporary files, the ledger, log
records, warnings, reprs, and errors with their whole traceback.
"""

from __future__ import annotations

import contextlib
import copy
import gzip
import logging
import os
import pickle
import pty
import re
import select
import stat
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from audit.subjects import SOURCES
from scipy import sparse

import prolate
from prolate import Budget
from prolate.cli import main
from prolate.noise import PARTS, NumberedBits, SeededBits
from prolate.sklearn import LinearRegression, PrivateMean, PrivateScaler
from prolate.sources import Thinning, open_source
from prolate.sources.paired import open_pair
from prolate.sources.sparse_rows import SparseRows

ROWS = 7919
_RNG = np.random.default_rng(8)
NUMBERS = _RNG.normal([51_000.0, 42.0, 71.0], [12_000.0, 11.0, 9.0], size=(ROWS, 3))
NUMBERS[7] = [987_654_321.5, -987_654_321.25, 987_654_321.125]  # far out
NUMBERS[8] = np.nan
WORDS = [f"Zaphod{i}Secret" for i in range(ROWS)]
COLUMNS = ["income", "age", "weight"]
TABLE = pa.table({"name": WORDS, **{c: NUMBERS[:, j] for j, c in enumerate(COLUMNS)}})
BUDGET = ["--epsilon", "1", "--delta", "1e-6"]


def digits(values: np.ndarray, count: int) -> set[str]:
    """Return the first digits of numbers, without sign, point or exponent."""
    finite = np.abs(values[np.isfinite(values)])
    return {f"{value:.17e}".replace(".", "")[:count] for value in finite}


def exact_facts() -> np.ndarray:
    """Return what could be computed from the columns, exactly."""
    finite = np.delete(NUMBERS, 8, axis=0)
    facts = [finite.sum(axis=0), finite.mean(axis=0), finite.min(axis=0), finite.max(axis=0)]
    facts += [finite.std(axis=0), finite.var(axis=0), (finite**2).sum(axis=0)]
    facts += [np.median(finite, axis=0), *np.quantile(finite, [0.1, 0.25, 0.75, 0.9], axis=0)]
    facts += [np.cov(finite.T).ravel()]
    facts += [finite.sum(axis=0) / ROWS, np.delete(finite, 7, axis=0).mean(axis=0)]
    return np.concatenate(facts)


# Twelve digits are found by accident once in 10**12 places, and there are about 10**5 places
# and 24,000 numbers; the row that is far out is searched for by seven digits.
LONG = digits(NUMBERS, 12) | digits(exact_facts(), 12)
SHORT = "9876543"
_DIGITS = re.compile(r"\d[\d.,_]*\d")


# A noisy number of rows is the true one by accident, about once in thirty. What leaks does so
# every time; seven accidents in a row have a probability below 1e-9.
ATTEMPTS = 7


def secrets_in(text: str, *, rows_are_private: bool) -> list[str]:
    """Return all secrets that a text holds."""
    found = re.findall(r"Zaphod\w*", text)
    for match in _DIGITS.finditer(text):
        number = re.sub(r"[.,_]", "", match.group()).lstrip("0")
        found += [number] if SHORT in number else []
        found += [
            n for start in range(len(number) - 11) if (n := number[start : start + 12]) in LONG
        ]
    if rows_are_private:
        # Not inside of a longer number, nor of the ledger's seal, which is random.
        found += re.findall(rf"(?<![\da-f.])(?:{ROWS}|{ROWS:,})(?![\da-f.])", text)
        found += re.findall(rf"(?<![\da-f.])(?:{ROWS}\.0)(?!\d)", text)
    return found


def test_the_search_finds_what_is_there() -> None:
    for text in (
        f"mean {NUMBERS[5, 0]!r}",
        f"{NUMBERS[5, 1]:.13g}",
        f"sum {np.nansum(NUMBERS[:, 0]):,.6f}",
        "at 987,654,321",
        f"9.876543e8 and {WORDS[3]}",
    ):
        assert secrets_in(text, rows_are_private=False), text
    assert secrets_in("7,919 rows", rows_are_private=True)
    assert secrets_in("n = 7919.0", rows_are_private=True)
    assert not secrets_in("n = 7919.4; 17919, 8fc7919e", rows_are_private=True)


class Kept:
    """All that a test lets out, in one place."""

    def __init__(self, folder: Path, log: pytest.LogCaptureFixture) -> None:
        self.folder, self.log, self.text = folder, log, ""
        self.ours = {path for path in folder.rglob("*") if path.is_file()}

    def check(self, *more: str, rows_are_private: bool = False) -> None:
        """Raise if anything holds a secret."""
        texts = {"output": "\n".join(more), "log": self.log.text}
        for path in self.folder.rglob("*"):
            if path.is_file() and path not in self.ours:
                texts[path.name] = path.read_bytes().decode("latin-1")
        for where, text in texts.items():
            found = secrets_in(text, rows_are_private=rows_are_private)
            assert not found, f"{where} holds {found[:3]}"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    pa.parquet.write_table(TABLE, folder / "rows.parquet", row_group_size=1000)
    pa.csv.write_csv(TABLE, folder / "rows.csv")
    whole = (folder / "rows.csv").read_bytes()
    (folder / "rows.csv.gz").write_bytes(gzip.compress(whole))
    lines = whole.split(b"\n")
    (folder / "no-names.csv").write_bytes(b"\n".join(line.split(b",", 1)[-1] for line in lines[1:]))
    (folder / "text-first.csv").write_bytes(b"\n".join(lines[1:]))  # a row where names belong
    (folder / "ragged.csv").write_bytes(b"\n".join([lines[0], *(b"1," + x for x in lines[1:])]))
    (folder / "one-ragged.csv").write_bytes(
        b"\n".join([*lines[:50], lines[50] + b",1", *lines[51:]])
    )
    (folder / "open-quote.csv").write_bytes(whole.replace(b"Zaphod9Secret", b'"Zaphod9Secret', 1))
    (folder / "bad-text.csv").write_bytes(whole.replace(b"Zaphod9", b"\xff\xfeZaphod9", 1))
    parquet = (folder / "rows.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(parquet[: len(parquet) // 2])
    middle = len(parquet) // 3
    flipped = bytes(b ^ 0x55 for b in parquet[middle : middle + 400])
    (folder / "flipped.parquet").write_bytes(parquet[:middle] + flipped + parquet[middle + 400 :])
    (folder / "text.parquet").write_bytes(whole)
    return folder


@pytest.fixture
def kept(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> Iterator[Kept]:
    for name in ("tmp", "home", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PROLATE_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path / "work")
    caplog.set_level(logging.DEBUG)
    yield Kept(tmp_path, caplog)
    assert not list((tmp_path / "tmp").iterdir()), "a temporary file is left"


COMMANDS = {
    "mean": ["mean", "-c", "income,age,weight"],
    "sum": ["sum", "-c", "income,age", "--bounds", "income=0:200000", "--bounds", "age=0:120"],
    "quantile": ["quantile", "-c", "income,age,weight", "-q", "0.1", "-q", "0.5"],
    "variance": ["variance", "-c", "income,age,weight"],
    "covariance": ["covariance", "-c", "income,age"],
    "regress": ["regress", "--target", "income", "-f", "age,weight"],
}
WAYS = (["--json"], ["--receipt"], ["--neighbors", "add-remove", "--receipt"],
        ["--neighbors", "add-remove", "--json", "--seed", "1"])  # fmt: skip


@pytest.mark.parametrize("name", list(COMMANDS))
def test_commands_that_succeed(name, data, kept, capsys) -> None:
    """With a release and a ledger on the side."""
    (kept.folder / "work" / "old.json").write_text("{}")
    (kept.folder / "work" / "old.json").chmod(0o644)
    for book in ("replace.ledger", "add-remove.ledger"):  # of two promises
        assert main(["ledger", "create", book, "--mu", "40"]) == 0
    command, *options = COMMANDS[name]
    for number, way in enumerate(WAYS):
        private = "add-remove" in way
        file = data / ("rows.csv", "rows.parquet")[number % 2]
        out = "old.json" if number == 0 else f"{number}.json"
        book = "add-remove.ledger" if private else "replace.ledger"

        def texts(attempt, file=file, way=way, out=out, book=book):
            seed = ["--seed", str(attempt)] if "--seed" in way else []
            given = [command, str(file), *BUDGET, *options, *way, *seed]
            old = os.umask(0)
            try:
                assert main([*given, "-o", out, "--overwrite", "--ledger", book]) == 0
            finally:
                os.umask(old)
            assert stat.S_IMODE(Path(out).stat().st_mode) == 0o600
            assert main(["show", out]) == main(["show", out, "--json", "--receipt"]) == 0
            assert main(["ledger", "show", book]) == 0
            release = prolate.Release.from_json(Path(out))
            written = capsys.readouterr()
            return written.out, written.err, repr(release), str(release.table())

        for attempt in range(ATTEMPTS):
            found = texts(attempt)
            if not any(secrets_in(text, rows_are_private=private) for text in found):
                break
        kept.check(*found, rows_are_private=private)
        Path(out).unlink()  # the next may tell the number of rows, or not


def on_a_terminal(data: Path, way: list[str]) -> str:
    """Return what a mean shows on a terminal, without its colors."""
    leader, follower = pty.openpty()
    call = [sys.executable, "-m", "prolate", "mean", str(data / "rows.csv"), *BUDGET,
            "-c", "income,age,weight", *way]  # fmt: skip
    source = str(Path(prolate.__file__).parents[1])
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "PYTHONPATH": source}
    process = subprocess.Popen(
        call, stdin=follower, stdout=follower, stderr=follower, env=environment
    )
    os.close(follower)
    chunks = []
    with contextlib.suppress(OSError):  # Linux: the other side is closed
        while select.select([leader], [], [], 60)[0] and (chunk := os.read(leader, 65536)):
            chunks.append(chunk)
    os.close(leader)
    assert process.wait(timeout=60) == 0
    return re.sub(r"\x1b\[[\d;?]*\w", "", b"".join(chunks).decode())


@pytest.mark.parametrize("way", [[], ["--neighbors", "add-remove"]])
def test_what_is_seen_on_a_terminal(way, data, kept) -> None:
    """The progress bar, too; it has no number of rows where that is private."""
    for _ in range(ATTEMPTS):
        text = on_a_terminal(data, way)
        assert "income" in text
        if ("7,919 rows" in text) == (not way):
            break
    kept.check(text, rows_are_private=bool(way))
    assert ("7,919 rows" in text) == (not way)


# A data set, and what goes wrong with it.
WRONG = {
    "a column of text": ["mean", "rows.csv", "-c", "name"],
    "a column of text of a typed file": ["mean", "rows.parquet", "-c", "income,name"],
    "all columns": ["mean", "rows.csv"],
    "an unknown column": ["mean", "rows.parquet", "-c", "incomes"],
    "no line of names": ["mean", "no-names.csv"],
    "rows of unlike lengths": ["mean", "ragged.csv"],
    "half a file": ["mean", "cut.parquet"],
    "flipped bits": ["variance", "flipped.parquet", "-c", "income"],
    "another format": ["mean", "text.parquet"],
    "no such method": ["mean", "rows.csv", "-c", "age", "--method", "best"],
    "bounds that are none": ["sum", "rows.csv", "-c", "age", "--bounds", "age=9:1"],
    "a target of text": ["regress", "rows.csv", "--target", "name"],
    "no ledger": ["mean", "rows.csv", "-c", "age", "--ledger", "nowhere.ledger"],
    "a folder for the release": ["mean", "rows.csv", "-c", "age", "-o", "."],
}


@pytest.mark.parametrize("what", list(WRONG))
def test_commands_that_fail(what, data, kept, capsys) -> None:
    command, file, *rest = WRONG[what]
    failed = main([command, str(data / file), *BUDGET, *rest]) == 2
    assert failed or what == "flipped bits"  # in a column that is not read
    written = capsys.readouterr()
    kept.check(written.out, written.err, rows_are_private=failed)


@pytest.mark.parametrize(
    "file", ["one-ragged.csv", "open-quote.csv", "bad-text.csv", "rows.csv.gz"]
)
def test_rows_that_cannot_be_read_are_no_errors(file, data, kept, capsys) -> None:
    assert main(["mean", str(data / file), *BUDGET, "-c", "income,age", "--json"]) == 0
    written = capsys.readouterr()
    assert written.err == ""
    kept.check(written.out)


def test_errors_with_their_whole_traceback(data, kept) -> None:
    """What Python prints where nobody catches an error: causes and contexts included."""
    b = Budget(mu=1)
    objects = np.array([[WORDS[0], 1.0], [WORDS[1], 2.0]], dtype=object)
    tries = [
        lambda: prolate.mean(data / "rows.csv", budget=b, columns="name"),
        lambda: prolate.mean(data / "ragged.csv", budget=b),
        lambda: prolate.mean(data / "cut.parquet", budget=b),
        lambda: prolate.mean(data / "flipped.parquet", budget=b, columns="income"),
        lambda: prolate.mean(data / "text.parquet", budget=b),
        lambda: prolate.mean(TABLE, budget=b),
        lambda: prolate.mean(TABLE.to_pandas(), budget=b),
        lambda: prolate.mean(TABLE.to_pandas()[["name", "age"]].to_numpy(), budget=b),
        lambda: prolate.mean(objects, budget=b),
        lambda: prolate.mean([[WORDS[0], 1], [NUMBERS[0, 0], 2]], budget=b),
        lambda: prolate.mean([[NUMBERS[0, 0], 1], [NUMBERS[0, 0]]], budget=b),
        lambda: prolate.mean(NUMBERS[:, 0], budget=b),
        lambda: prolate.mean(NUMBERS, budget=b, bounds=(1, 0)),
        lambda: prolate.mean(NUMBERS.astype(str), budget=b),
        lambda: prolate.LinearRegression().fit(NUMBERS[:, :2], WORDS),
        lambda: prolate.LinearRegression().fit(NUMBERS[:, :2], np.array(WORDS, dtype=object)),
        lambda: prolate.LinearRegression().fit(objects, [1.0, 2.0]),
        lambda: prolate.LinearRegression().fit(NUMBERS[:, :2], NUMBERS[:5, 2]),
        lambda: prolate.LinearRegression().fit(TABLE.to_pandas(), "age"),
    ]
    seen, raised = [], 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for attempt in tries:
            try:
                attempt()
            except prolate.ProlateError as error:
                seen.append("".join(traceback.format_exception(error)))
                raised += 1
    assert raised >= len(tries) - 1  # flipped bits may hit what is not read
    kept.check(*seen, *(str(warning.message) for warning in caught), rows_are_private=True)


def test_an_error_that_nobody_foresaw(data, kept, capsys, monkeypatch) -> None:
    """Its message is not shown; with PROLATE_DEBUG it is, which the command says."""

    def broken(*_: object, **__: object) -> None:
        raise ValueError(f"cannot digest {NUMBERS[0, 0]!r}")

    monkeypatch.setattr(prolate.curator.rows.Rows, "sum", broken)
    assert main(["mean", str(data / "rows.csv"), *BUDGET, "-c", "age"]) == 1
    written = capsys.readouterr()
    assert "may show data" in written.err
    kept.check(written.out, written.err)


def bytes_of(values: np.ndarray) -> set[bytes]:
    """Return what stands for numbers in memory and in pickles, but for zeros."""
    return {value.tobytes() for value in values.ravel() if np.isfinite(value) and value}


def windows(stored: bytes) -> set[bytes]:
    """Return all that could be the eight bytes of a number, in either order."""
    found = {stored[at : at + 8] for at in range(len(stored) - 7)}
    return found | {some[::-1] for some in found}


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("kind", [PrivateMean, PrivateScaler, LinearRegression])
def test_steps_of_pipelines_keep_no_rows(kind, neighbors) -> None:
    """What was fitted may be published: shown, pickled, copied."""
    step = kind(mu=1.0, epsilon=None, delta=None, neighbors=neighbors)
    step.fit(NUMBERS[:, :2], NUMBERS[:, 2])
    texts = [repr(step), str(vars(step)), repr(step.release_), step.release_.to_json()]
    if hasattr(step, "_repr_html_"):
        texts.append(step._repr_html_())
    for text in texts:
        assert not secrets_in(text, rows_are_private=False)
    stored = pickle.dumps(copy.deepcopy(step))
    known = bytes_of(NUMBERS) | bytes_of(exact_facts())
    assert known & windows(pickle.dumps((step, NUMBERS[3:4, 1])))  # such a search finds them
    assert known & windows(pickle.dumps((step, float(NUMBERS[3, 1]))))
    assert not known & windows(stored)


@pytest.mark.parametrize("source", list(SOURCES))
def test_reprs_of_what_holds_rows(source, tmp_path) -> None:
    opened = open_source(SOURCES[source](tmp_path, NUMBERS[:, :2]))
    curator = prolate.curator.Curator(opened, Budget(mu=1), seed=1, neighbors="add-remove")
    sample = opened.thinned(Thinning(NumberedBits.from_bits(SeededBits(1)), PARTS // 2))
    pair = open_pair(NUMBERS[:, :2], NUMBERS[:, 2])
    entries = SparseRows.from_csr(sparse.csr_array(np.nan_to_num(NUMBERS[:3])))
    held = (curator, curator._account, curator._rows)
    for thing in (opened, *held, sample, pair, entries):
        for text in (repr(thing), str(thing), f"{thing}"):
            assert not secrets_in(text, rows_are_private=True), type(thing).__name__
