"""The command line by itself: arguments in, tables and JSON out, without any real rows.

The statistical face is replaced by a stub, so that these tests are about words,
exit codes and files only; `test_real.py` runs the whole of it.
"""

from __future__ import annotations

import inspect
import io
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import prolate
from prolate.budget import Budget
from prolate.cli import main
from prolate.cli.entry import cli
from prolate.errors import BudgetError, InputError
from prolate.ledger import Ledger
from prolate.queries import ahead, kernels
from prolate.release import ReceiptEntry, Release

Run = Callable[..., tuple[int, str, str]]


class Face:
    """Stands in for `prolate.mean` and its like: remembers the call, returns a release."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.columns: tuple[str, ...] = ("age", "income")
        self.error: BaseException | None = None

    def stub(self, statistic: str) -> Callable[..., Release]:
        def call(*args: Any, **options: Any) -> Release:
            self.calls.append((statistic, args, options))
            if self.error is not None:
                raise self.error
            d = len(self.columns)
            q = options.get("q", args[1] if statistic == "quantile" else None)
            shape = (len(q), d) if isinstance(q, list) else (d,)
            budget = options["budget"]
            entry = ReceiptEntry("radius", "norms in 64 cells", 64, 0.25, budget.mu / 2, 1.4, 2.8)
            return Release(
                statistic=statistic,
                estimate=np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape),
                columns=self.columns,
                noise_std=np.full(shape, 0.25),
                sampling_std=None if statistic == "sum" else np.full(shape, 0.5),
                n=20190,
                budget=budget,
                neighbors=options["neighbors"],
                method=options.get("method", "auto"),
                receipt=(entry,),
                warnings=("income was hard to find",),
                private=options["seed"] is None,
                details={"q": q} if q is not None else {},
            )

        return call

    @property
    def options(self) -> dict[str, Any]:
        return self.calls[-1][2]


@pytest.fixture
def face(monkeypatch: pytest.MonkeyPatch) -> Face:
    face = Face()
    for statistic in ("mean", "sum", "variance", "quantile"):
        monkeypatch.setattr(prolate, statistic, face.stub(statistic), raising=False)
    return face


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv("PROLATE_DEBUG", raising=False)

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def table_rows(text: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}


NOT_ASKED = {
    "engine": None, "exchangeable": False, "unit": None, "contribution": "mean", "max_rows": None,
    "by": None, "keys": None, "clip": "auto", "center": None, "scale": None, "rotation": None,
}  # fmt: skip


def test_mean_prints_a_table(face: Face, run: Run) -> None:
    code, out, err = run("mean", "a.csv", "--epsilon", "1", "--delta", "1e-6")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == (
        "Private mean of 2 columns, 20,190 rows, epsilon = 1, delta = 1e-06 (mu = 0.2368), "
        "neighbors: replace"
    )
    rows = table_rows(out)
    assert rows["column"] == ["mean", "±", "noise", "±", "sampling", "95%", "interval"]
    assert rows["age"] == ["1.00", "0.25", "0.50", "-0.10", "to", "2.10"]
    assert "differential privacy, for replacing any one row" in out
    assert "income was hard to find" in out
    assert "norms in 64 cells" not in out
    assert max(map(len, out.splitlines()[1:])) <= 100
    statistic, args, options = face.calls[0]
    assert (statistic, args) == ("mean", ("a.csv",))
    assert options == {
        "budget": Budget(epsilon=1, delta=1e-6), "columns": None, "bounds": None,
        "error_norm": 2.0, "neighbors": "replace", "method": "auto", "seed": None,
        "ledger": None, "progress": False, **NOT_ASKED,
    }  # fmt: skip


def test_a_dash_is_no_file(face: Face, run: Run) -> None:
    """It is standard output for a page, and a release goes there without `-o`."""
    code, out, err = run("mean", "a.csv", "--mu", 1, "-o", "-")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "use --json instead" in err
    assert face.calls == []


def test_every_option_arrives(face: Face, run: Run) -> None:
    code, _, _ = run(
        "mean", "a.parquet", "b.parquet", "--rho", 0.5, "-c", 'age,"a,b"', "--columns", "income",
        "--bounds", "age=-1:120", "--bounds", "x=y=0:1e3", "--bounds", "=0:1", "--error-norm", "1",
        "--neighbors", "add-remove", "--method", "plan", "--ledger", "x.ledger",
    )  # fmt: skip
    assert code == 0
    assert face.calls[0][1] == (["a.parquet", "b.parquet"],)
    assert face.options == {
        "budget": Budget(rho=0.5), "columns": ["age", "a,b", "income"],
        "bounds": {"age": (-1.0, 120.0), "x=y": (0.0, 1000.0), "": (0.0, 1.0)},
        "error_norm": 1.0, "neighbors": "add-remove", "method": "plan", "seed": None,
        "ledger": "x.ledger", "progress": False, **NOT_ASKED,
    }  # fmt: skip


def test_sum_and_variance(face: Face, run: Run) -> None:
    code, out, _ = run("sum", "a.csv", "--mu", "1", "--bounds", "-5:5", "--method", "gaussian")
    assert code == 0
    assert face.calls[0][0] == "sum"
    assert face.options["bounds"] == (-5.0, 5.0)
    assert "the sum of these rows" in out
    assert "± sampling" not in out
    assert run("variance", "a.csv", "--mu", "1")[0] == 0
    assert "method" not in face.options


def test_quantiles(face: Face, run: Run) -> None:
    code, out, _ = run("quantile", "a.csv", "--mu", "1", "-q", "0.25", "-q", "0.5")
    assert code == 0
    assert face.calls[0][1] == ("a.csv", [0.25, 0.5])
    lines = [line.split()[:3] for line in out.splitlines() if line.startswith("age")]
    assert lines == [["age", "0.25", "1.00"], ["age", "0.5", "3.00"]]
    run("quantile", "a.csv", "--mu", "1", "--q", "0.5")
    assert face.calls[1][1] == ("a.csv", 0.5)
    assert "error_norm" not in face.options


def test_json_is_the_release_and_nothing_else(face: Face, run: Run) -> None:
    code, out, err = run("mean", "a.csv", "--mu", "1", "--json")
    assert (code, err) == (0, "")
    assert Release.from_json(out).columns == ("age", "income")


def test_seed_shouts(face: Face, run: Run) -> None:
    _, out, err = run("mean", "a.csv", "--mu", "1", "--seed", "3")
    assert face.options["seed"] == 3
    assert "NOT PRIVATE" in err
    assert out.count("NOT PRIVATE") == 2
    assert "No privacy is guaranteed" in out
    _, out, err = run("mean", "a.csv", "--mu", "1", "--seed", "3", "--json")
    assert "NOT PRIVATE" in err
    assert json.loads(out)["private"] is False


def test_output_file_and_show(face: Face, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    code, printed, _ = run("mean", "a.csv", "--mu", "1", "-o", path, "--receipt")
    assert code == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "norms in 64 cells" in printed
    assert run("show", path, "--receipt") == (0, printed, "")
    assert run("show", path, "--json")[1] == path.read_text()
    assert "99% interval" in run("show", path, "--level", "0.99")[1]
    assert len(face.calls) == 1


def test_a_stored_release_is_replaced_only_if_asked(face: Face, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    command = ("mean", "a.csv", "--mu", "1", "-o", path)
    path.touch()  # as by mktemp: nothing is lost
    assert run(*command)[0] == 0
    path.write_text(kept := path.read_text().replace("20190", "20191"))
    code, out, err = run(*command)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "the file exists" in err
    assert "Choose another name, or replace it with --overwrite" in err
    assert len(face.calls) == 1  # and so nothing was charged
    assert path.read_text() == kept
    (tmp_path / "link.json").symlink_to(path)
    assert run(*command[:-1], tmp_path / "link.json")[0] == 2
    assert run(*command, "--overwrite")[0] == 0
    assert path.read_text() != kept
    assert len(face.calls) == 2


def test_a_file_that_came_meanwhile_is_kept(
    face: Face, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.json"
    make = prolate.mean

    def slow(*args: object, **options: object) -> object:
        path.write_text("another release")
        return make(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("prolate.mean", slow)
    code, out, err = run("mean", "a.csv", "--mu", "1", "-o", path)
    assert code == 2
    assert "It is printed instead, because its budget is spent." in err
    assert Release.from_json(out).n == 20190
    assert path.read_text() == "another release"


def test_show_reads_standard_input(
    face: Face, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = run("mean", "a.csv", "--mu", "1", "--json")[1]
    for given, code in ((text, 0), ("", 2), ("nofile.json", 2)):
        stream = tmp_path / "in"
        stream.write_text(given)
        with stream.open() as opened:
            monkeypatch.setattr("sys.stdin", opened)
            assert run("show", "-")[0] == code


def test_a_release_that_cannot_be_stored_is_printed(
    face: Face, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, out, err = run("mean", "a.csv", "--mu", "1", "-o", tmp_path / "r.json")
    assert code == 2
    assert "No space left" in err
    assert Release.from_json(out).n == 20190
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("reader_is_gone", [True, False])
def test_a_release_that_can_be_neither_stored_nor_printed_is_on_standard_error(
    reader_is_gone, face: Face, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with monkeypatch.context() as patch:
        if reader_is_gone:
            patch.setattr("prolate.terminal.is_deserted", lambda stream: True)
        else:  # the disk is that of standard output, too
            patch.setattr("sys.stdout", io.StringIO())
            patch.setattr("sys.stdout.write", full)
        code, _, err = run("mean", "a.csv", "--mu", "1", "-o", tmp_path / "r.json")
    assert code == 2
    assert Release.from_json(err[err.index("{") : err.rindex("}") + 1]).n == 20190
    assert "It cannot be printed either, and is above, on standard error" in err


def test_a_release_that_cannot_be_printed_is_on_standard_error(
    face: Face, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

    for words in ((), ("--json",)):
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", Full())
            code, _, err = run("mean", "a.csv", "--mu", "1", *words)
        assert code == 2
        assert Release.from_json(err[err.index("{") : err.rindex("}") + 1]).n == 20190
        assert "prolate: The release cannot be printed (No space left on device)." in err
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", Full())
        code, _, err = run("mean", "a.csv", "--mu", "1", "-o", tmp_path / "r.json")
    assert (code, "{" in err) == (2, False)  # it is in its file
    assert Release.from_json(tmp_path / "r.json").n == 20190


def test_in_a_pipe_every_column_is_printed(face: Face, run: Run) -> None:
    face.columns = (*(f"c{i}" for i in range(150)), "[red]\x1b[31m", "w" * 300)
    out = run("mean", "a.csv", "--mu", "1")[1]
    assert all(f"c{i}" in table_rows(out) for i in range(150))
    assert "\x1b" not in out
    assert "[red]\\x1b[31m" in out
    assert "w" * 300 in out


BUDGET = ("--mu", "1")
TWO = "State the budget as --epsilon and --delta, or as --rho, or as --mu"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("mean",), "Missing argument 'FILE...'"),
        (("mean", "a.csv"), f"{TWO}; got none"),
        (("mean", "a.csv", "--epsilon", "1"), f"{TWO}; got --epsilon"),
        (("mean", "a.csv", "--rho", "1", "--mu", "1"), f"{TWO}; got --rho --mu"),
        (("mean", "a.csv", "--rho", "one"), "'one' is not a valid number"),
        (("mean", "a.csv", "--rho", "-1"), "rho must be positive and finite; got -1"),
        (("mean", "a.csv", "--rho", "nan"), "rho must be positive and finite"),
        (("mean", "a.csv", "--epsilon", "1", "--delta", "1"), "delta must lie strictly between"),
        (("mean", "a.csv", *BUDGET, "--level", "1"), "does not lie strictly between 0 and 1"),
        (("mean", "a.csv", *BUDGET, "--level", "nan"), "does not lie strictly between 0 and 1"),
        (("mean", "a.csv", *BUDGET, "--bounds", "age"), "is not COLUMN=LOW:HIGH or LOW:HIGH"),
        (("mean", "a.csv", *BUDGET, "--bounds", "age=1:2:3"), "is not COLUMN=LOW:HIGH"),
        (("mean", "a.csv", *BUDGET, "--bounds", "age=2:1"), "LOW not above HIGH"),
        (("mean", "a.csv", *BUDGET, "--bounds", "age=0:nan"), "two finite numbers"),
        (("mean", "a.csv", *BUDGET, "--bounds", "0:inf"), "two finite numbers"),
        (
            ("mean", "a.csv", *BUDGET, "--bounds", "a=0:1", "--bounds", "a=0:2"),
            "has bounds already",
        ),
        (("mean", "a.csv", *BUDGET, "--bounds", "a=0:1", "--bounds", "0:2"), "give either"),
        (("mean", "a.csv", *BUDGET, "-c", "a,,b"), "a column name is empty"),
        (("mean", "a.csv", *BUDGET, "-c", ""), "a column name is empty"),
        (("mean", "a.csv", *BUDGET, "-c", '"",'), "a column name is empty"),
        (("mean", "a.csv", *BUDGET, "--neighbors", "swap"), "'swap' is not one of"),
        (("mean", "a.csv", *BUDGET, "--seed", "x"), "'x' is not a valid whole number"),
        (("mean", "a.csv", *BUDGET, "--sed", "1"), "No such option"),
        (("mean", "a.csv", *BUDGET, "-o", "/no/such/r.json"), "its folder does not exist"),
        (("mean", "a.csv", *BUDGET, "-o", "/"), "it is a folder"),
        (("mean", "a.csv", *BUDGET, "-o", "/dev/null"), "not an ordinary file"),
        (("sum", "a.csv", *BUDGET, "--bounds", "0:1", "--method", "plan"), "'plan' is not one of"),
        (("quantile", "a.csv", *BUDGET), "Missing option '-q'"),
        (("quantile", "a.csv", *BUDGET, "-q", "50"), "'50' is not a number from 0 to 1"),
        (("quantile", "a.csv", *BUDGET, "-q", "nan"), "'nan' is not a number from 0 to 1"),
        (("quantile", "a.csv", *BUDGET, "-q", "50%"), "'50%' is not a number from 0 to 1"),
        (("meen", "a.csv"), "No such command 'meen'"),
        (("show",), "Missing argument"),
        (("show", "nofile.json"), "No such file"),
        (("show", "{}"), "No such file"),
        (("ledger", "show", "no.ledger"), "no ledger at"),
        (("ledger", "create", "x.ledger"), f"{TWO}; got none"),
        (("demo", "--epsilon", "0"), "epsilon must be positive"),
    ],
)
def test_bad_arguments_get_one_sentence(
    face: Face, run: Run, arguments: tuple[str, ...], says: str
) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    lines = err.splitlines()
    assert lines[0].startswith("prolate: ")
    assert says in lines[0]
    assert len(lines) == 1 or (len(lines) == 2 and lines[1].startswith("Try 'prolate"))
    assert face.calls == []


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (InputError("Column 'age'\nis text."), 2, "prolate: Column 'age' is text."),
        (BudgetError("Nothing is left."), 2, "prolate: Nothing is left."),
        (FileNotFoundError(2, "No such file", "x.csv"), 2, "prolate: x.csv: No such file."),
        (OSError("secret 42"), 2, "prolate: a file could not be read or written: OSError."),
        (MemoryError(), 2, "prolate: there is not enough memory"),
        (KeyboardInterrupt(), 130, "prolate: interrupted"),
        (ValueError("secret 42"), 1, "prolate: stopped by an internal error (ValueError)"),
        (RecursionError("secret 42"), 1, "prolate: stopped by an internal error"),
        (ZeroDivisionError("secret 42"), 1, "prolate: stopped by an internal error"),
    ],
)
def test_errors_are_sentences_and_show_no_data(
    face: Face, run: Run, tmp_path: Path, error: BaseException, code: int, says: str
) -> None:
    face.error = error
    got, out, err = run("mean", "a.csv", *BUDGET, "-o", tmp_path / "r.json")
    assert (got, out) == (code, "")
    assert err.strip().splitlines()[-1].startswith(says)
    assert len(err.strip().splitlines()) == 1
    assert "secret" not in err
    assert list(tmp_path.iterdir()) == []


def test_debug_shows_the_traceback(face: Face, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROLATE_DEBUG", "1")
    face.error = ValueError("secret 42")
    code, _, err = run("mean", "a.csv", *BUDGET)
    assert code == 1
    assert "Traceback" in err
    assert "secret 42" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "prolate mean patients.parquet"),
        (("--help",), "prolate demo"),
        (("-h",), "prolate demo"),
        (("mean", "--help"), "prolate mean patients.parquet --epsilon 1 --delta 1e-6"),
        (("sum", "--help"), "prolate sum sales.csv --bounds 0:500"),
        (("quantile", "--help"), "-q 0.25,0.5"),
        (("variance", "--help"), "prolate variance patients.parquet"),
        (("show", "--help"), "| prolate show -"),
        (("ledger",), "prolate ledger create"),
        (("demo", "--help"), "--epsilon"),
    ],
)
def test_help_teaches(run: Run, arguments: tuple[str, ...], says: str) -> None:
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert says in out
    assert "\\b" not in out


def test_version(run: Run) -> None:
    code, out, _ = run("--version")
    assert code == 0
    assert out.startswith("prolate ")


def test_module_is_the_command() -> None:
    words = [sys.executable, "-m", "prolate", "--version"]
    assert subprocess.check_output(words, text=True).startswith("prolate ")


def test_ledger_commands(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "p.ledger"
    code, out, _ = run(
        "ledger", "create", path, "--epsilon", 1, "--delta", 1e-6, "--dataset", "patients"
    )
    assert code == 0
    assert "epsilon = 1, delta = 1e-06" in out
    code, out, _ = run("ledger", "show", path)
    assert code == 0
    assert "Ledger of patients" in out
    assert table_rows(out)["spent"] == ["nothing"]
    Ledger(path).charge(Budget(rho=0.01), "mean of age\x1b[31m")
    out = run("ledger", "show", path)[1]
    assert "spent      epsilon = 0.5751 at delta = 1e-06 (mu = 0.1415, rho = 0.01)" in out
    assert "mean of age\\x1b[31m" in out
    fields = json.loads(run("ledger", "show", path, "--json")[1])
    assert fields["dataset"] == "patients"
    assert fields["entries"][0]["rho"] == pytest.approx(0.01)
    assert Budget.from_dict(fields["limit"]) == Ledger(path).limit
    assert run("ledger", "limit", path, "--rho", 2)[0] == 0
    assert Ledger(path).limit == Budget(rho=2)
    code, _, err = run("ledger", "limit", path, "--rho", 0.001)
    assert (code, len(err.splitlines())) == (2, 1)
    assert Ledger(path).limit == Budget(rho=2)
    code, _, err = run("ledger", "create", path, "--rho", 1)
    assert code == 2
    assert "exists" in err
    Ledger(path).charge(Budget(rho=1.99), "the rest")
    assert table_rows(run("ledger", "show", path)[1])["remaining"] == ["nothing"]


@pytest.mark.parametrize(
    "name", ["count", "covariance", "mean", "quantile", "regress", "sum", "variance"]
)
def test_a_command_has_all_options_of_its_function(name: str) -> None:
    offered = {option.name for option in cli.commands[name].params}
    wanted = set(inspect.signature(getattr(prolate, name)).parameters)
    assert wanted - offered == {"data", "budget", "progress"}


@pytest.mark.parametrize("installed", [True, False])
def test_loops_compiled_ahead(installed, monkeypatch, capsys) -> None:
    some = ahead.loops()[:2]
    monkeypatch.setattr(ahead, "loops", lambda: some)
    if not installed:
        monkeypatch.setattr(kernels, "_loaded", lambda name: None)
        monkeypatch.setattr("prolate.cli.compile.find_spec", lambda name: None)
    assert main(["compile"]) == 0
    said = "Compiled 2 loops" if installed else "numba is not installed"
    assert capsys.readouterr().out.startswith(said)


def test_loops_that_cannot_be_stored(monkeypatch, capsys) -> None:
    monkeypatch.setattr(kernels, "_loaded", lambda name: None)  # as where no folder may be written
    assert main(["compile"]) == 2
    assert "in the environment variable NUMBA_CACHE_DIR" in capsys.readouterr().err
