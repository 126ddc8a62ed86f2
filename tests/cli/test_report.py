"""`prolate report` on the command line, and completion."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from prolate import Budget, Release
from prolate.cli import main
from prolate.cli.entry import cli

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv("PROLATE_DEBUG", raising=False)

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "mean.json"
    Release(
        statistic="mean", estimate=[2.0], columns=("age",), noise_std=[0.5], n=100,
        budget=Budget(mu=1), neighbors="replace", method="auto",
    ).to_json(path)  # fmt: skip
    return path


def test_writes_a_page(run: Run, stored: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    code, out, err = run("report", stored, "-o", page, "--level", 0.9)
    assert (code, out, err) == (0, f"Wrote {page}.\n", "")
    assert "90% interval" in page.read_text(encoding="utf-8")


def test_goes_through_pipes(run: Run, stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(stored.read_text(encoding="utf-8")))
    code, out, _ = run("report", "-", "-o", "-")
    assert code == 0
    assert out == Release.from_json(stored).to_html()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing.json", "-o", "page.html"], "cannot be read"),
        (["mean.json"], "Missing option '-o'"),
        (["mean.json", "-o", "no/page.html"], "its folder does not exist"),
        (["mean.json", "-o", "page.html", "--level", "2"], "strictly between 0 and 1"),
        (["page.txt", "-o", "page.html"], "not complete JSON"),
        (["mean.json", "-o", "page.pdf"], "name it 'page.html', which any browser prints as PDF"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    run: Run, stored: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], says: str
) -> None:
    monkeypatch.chdir(stored.parent)
    Path("page.txt").write_text("no release", encoding="utf-8")
    code, out, err = run("report", *arguments)
    assert code == 2
    assert out == ""
    assert says in err
    assert not Path("page.html").exists()


def test_standard_input_must_hold_a_release(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("age\n1\n"))
    code, _, err = run("report", "-", "-o", "-")
    assert code == 2
    assert "holds no release" in err


def commands(group: click.Group, path: str = "prolate") -> list[tuple[str, click.Command]]:
    found: list[tuple[str, click.Command]] = [(path, group)]
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found += commands(command, f"{path} {name}")
        else:
            found.append((f"{path} {name}", command))
    return found


@pytest.mark.parametrize(("path", "command"), commands(cli), ids=str)
def test_the_help_of_every_command_has_examples(path: str, command: click.Command) -> None:
    assert "Examples:" in (command.epilog or "")
    assert path in (command.epilog or "")
    assert (command.help or "").strip()


def test_completion_offers_commands_and_options(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_PROLATE_COMPLETE", "bash_source")
    code, out, _ = run()
    assert code == 0
    assert "_PROLATE_COMPLETE=bash_complete" in out
    monkeypatch.setenv("_PROLATE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "prolate mean --neighbors ")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert run()[1].split() == ["plain,replace", "plain,add-remove"]
    monkeypatch.setenv("COMP_WORDS", "prolate rep")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert run()[1].split() == ["plain,report", "plain,reproduce"]
    monkeypatch.setenv("COMP_WORDS", "prolate mean pat")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert run()[1].split() == ["file,pat"]
