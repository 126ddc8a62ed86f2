"""The command with options that nobody should give it, on files with odd names and columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from fuzz.harness import cases, command
from fuzz.tables import NAMES
from hypothesis import given
from hypothesis import strategies as st

from prolate import Ledger
from prolate.budget import Budget

NUMBERS = ["0", "1", "-1", "nan", "inf", "1e-9", "1e4", "1e308", "1e999", "", "x", "1,2", "0x1",
"٣",
           "1_0", " 1", "0.5", "1e-6", "-0"]  # fmt: skip
WORDS = [*NAMES, "a,b", '"', '"a', "a=0:1", "0:1", "1:0", "a=0:nan", "=0:1", ":", "::", "a=1",
"x=2",
         "auto", "\udce9"]  # fmt: skip
OPTIONS = {
    "--mu": NUMBERS, "--rho": NUMBERS, "--epsilon": NUMBERS, "--delta": NUMBERS, "-c": WORDS,
    "--bounds": WORDS, "--neighbors": ["replace", "add-remove", "x", ""], "--seed": NUMBERS,
    "--level": NUMBERS, "--unit": WORDS, "--contribution": ["mean", "rows", ""],
    "--max-rows": NUMBERS, "--by": WORDS, "--key": WORDS, "--error-norm": NUMBERS,
    "--method": ["auto", "plan", "gaussian", "gaussian-ellipse", "best", ""], "--clip": NUMBERS,
    "--center": [*NUMBERS, *WORDS], "--scale": [*NUMBERS, *WORDS], "-q": NUMBERS, "--target": WORDS,
    "-f": WORDS, "--alpha": NUMBERS, "--accounting": ["joint", "basic", ""],
    "--ledger": ["book.ledger", "rows.csv", ".", "", "no.ledger", "/dev/null", "postgresql://"],
    "-o": ["out.json", "rows.csv", "book.ledger", ".", "", "/dev/full", "no/such", "a" * 300, "\n"],
    "--output": ["rows.parquet", "out.json"],
}  # fmt: skip
FLAGS = ["--json", "--receipt", "--overwrite", "--exchangeable", "--correlation", "--no-intervals",
         "--no-intercept", "--nonsense", "--", "-h", "-"]  # fmt: skip
FILES = ["rows.csv", "rows.parquet", "odd.parquet", "odd.csv", "no.csv", "*.csv", "[", ".", "",
         "rows", "book.ledger", "/dev/null", "\udce9.csv", "a" * 5000,
         "rows.csv/x.csv"]  # fmt: skip
COMMANDS = ["mean", "sum", "quantile", "count", "covariance", "variance", "regress"]


@pytest.fixture(autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path_factory.mktemp("work")
    rng = np.random.default_rng(0)
    rows = pa.table({"a": rng.normal(size=40), "b": rng.normal(size=40), "y": rng.normal(size=40)})
    pa.csv.write_csv(rows, path / "rows.csv")
    pa.parquet.write_table(rows, path / "rows.parquet")
    odd = pa.table([rng.normal(size=20) for _ in NAMES], names=list(NAMES))
    pa.parquet.write_table(odd, path / "odd.parquet")
    pa.csv.write_csv(odd, path / "odd.csv")
    Ledger.create(path / "book.ledger", limit=Budget(mu=1e4))
    monkeypatch.chdir(path)
    monkeypatch.delenv("PROLATE_DEBUG", raising=False)
    return path


one_option = st.sampled_from([[name, value] for name, all_ in OPTIONS.items() for value in all_])
some_options = st.lists(
    st.one_of(one_option, st.sampled_from([[flag] for flag in FLAGS])), max_size=3
)
usual = {
    "sum": ["--bounds", "-5:5"],
    "quantile": ["-q", "0.5"],
    "regress": ["--target", "y", "--method", "ssp"],
}


@cases(180)
@given(st.sampled_from(COMMANDS), st.lists(st.sampled_from(FILES), min_size=1, max_size=2),
       some_options, st.booleans())  # fmt: skip
def test_releases(folder, name, files, options, complete) -> None:
    given = [word for option in options for word in option]
    if complete:
        given = ["--mu", "1", *usual.get(name, []), *given]
        files = files[:1]
    before = {path: (folder / path).read_bytes() for path in ("rows.csv", "rows.parquet")}
    command(name, *files, *given)
    assert before == {path: (folder / path).read_bytes() for path in before}
    assert Ledger(folder / "book.ledger").limit == Budget(mu=1e4)


@cases(60)
@given(st.sampled_from(NAMES), st.sampled_from(["odd.parquet", "odd.csv"]), st.booleans())
def test_columns_of_any_name(folder, name, file, as_json) -> None:
    """A name that the command line can carry is found, and printed without harm."""
    quoted = '"' + name.replace('"', '""') + '"'
    code, out, said = command(
        "sum", file, "-c", quoted, "--bounds", "0:1", "--mu", "1", *(["--json"] if as_json else [])
    )
    if file.endswith("parquet") and name and "\n" not in name and name.strip():
        assert code == 0, said
    assert as_json or "\x1b" not in out


@cases(110)
@given(st.sampled_from([
    ["ledger", "create"], ["ledger", "show"], ["ledger", "limit"], ["ledger", "adopt"], ["ledger"],
    ["show"], ["report"], ["error"], ["demo", "--epsilon"], ["reproduce"], ["ui", "--port"],
    ["nothing"],
    ["reproduce", "--list"], ["--version"], ["demo", "--delta"], ["ledger", "--help"],
]), st.lists(st.sampled_from([*FILES, *FLAGS, "--mu", "--rho", "--rows", "--columns", "--dataset",
    "--target", "--skew", "--scale", "--list", "--data", "-o", "-1", "x", "nan", "out.html",
    "--plot",
    "\u202e", "--epsilon", "--delta", "plan-99"]), max_size=4))  # fmt: skip
def test_other_commands(folder, name, words) -> None:
    command(*name, *words)
    for path in ("rows.csv", "rows.parquet", "odd.csv"):
        assert (folder / path).stat().st_size > 500
