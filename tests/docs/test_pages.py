"""Every code block of the documentation runs, in order, page by page; and the site builds.

Python blocks of a page share one namespace; lines that begin with ``$ prolate`` or, in a
block of shell, with ``prolate`` are run by the command's own entry point. All of it happens in
an empty folder with small tables under the names that the pages use. What a console block
shows below a command must be what the command prints, numbers aside.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import prolate
from prolate.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
SLOW = ("docs/guides/error.md", "docs/expected-error.md")  # forecasts, of which others have some
BLOCK = re.compile(
    r"(?P<skip><!-- not run: [^>]+-->\s*)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
# Commands of other programs, which a page may name.
OTHERS = ("pip install", "python3 -m venv", "python3 check.py", "eval", "#")
NOT_RUN = {"spark": "needs a Spark session; tests/spark runs what it shows"}
NUMBER = re.compile(r"[-−]?\d[\d,.]*(?:e[-+]?\d+)?%?")


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each block that is to run."""
    text, skipping = page.read_text(encoding="utf-8"), False
    for found in BLOCK.finditer(text):
        # What a page marks as not run holds for the rest of it.
        skipping = skipping or bool(found["skip"])
        if not skipping and found["kind"] in ("python", "console", "sh"):
            yield found["kind"], found["text"]


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to an empty folder with the tables that the pages speak of."""
    pd = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    rng = np.random.default_rng(1)
    n = 4_000
    age = rng.normal(50, 17, n).clip(18, 99).round()
    columns = {
        "age": age,
        "weight": rng.normal(75, 14, n),
        "visits": rng.poisson(0.05 * age),
        "cost": rng.exponential(900, n),
    }
    pd.DataFrame(columns).to_parquet("patients.parquet")
    pd.DataFrame({"price": rng.gamma(2, 40, n)}).to_csv("sales.csv", index=False)
    pd.DataFrame({"score": rng.normal(500, 100, n)}).to_csv("tests.csv", index=False)
    return tmp_path


def namespace(page: Path) -> dict[str, object]:
    """Return what a page takes for granted: the older ones name data that they do not make."""
    rng = np.random.default_rng(2)
    X = rng.normal([170, 70], [10, 15], size=(4_000, 2))
    y = X @ [2.0, -1.0] + rng.normal(size=4_000)
    known: dict[str, object] = {"prolate": prolate}
    if page.stem in ("ellipse", "regression", "covariance"):
        import pandas as pd

        data = pd.DataFrame(X, columns=["height", "weight"])
        known |= {"data": data, "b": prolate.Budget(mu=1), "X": X, "y": y, "rows": X}
        known["budget"] = known["b"]
    if page.stem == "kalaja":
        train, test = np.arange(3_000), np.arange(3_000, 4_000)

        def least_squares(rows):
            return np.linalg.lstsq(rows.x, rows.y, rcond=None)[0], 0.0

        known |= {"X": X, "y": y, "train": train, "test": test, "method": least_squares}
    return known


def run_commands(kind: str, text: str) -> None:
    """Run the commands of a block, and compare what they print with what is shown."""
    lines = text.replace("\\\n", " ").splitlines()
    begins = [i for i, line in enumerate(lines) if kind == "sh" or line.startswith("$ ")]
    for here, after in zip(begins, [*begins[1:], len(lines)], strict=True):
        line = lines[here].removeprefix("$ ").strip()
        if not line or line.startswith(OTHERS):
            continue
        command, _, remark = line.partition("  # ")
        wanted = re.fullmatch(r"exit (\d)", remark)
        words = shlex.split(command)
        assert words[0] == "prolate", f"what should {line!r} do?"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = main(words[1:])
        output = printed.getvalue()
        assert code == (int(wanted[1]) if wanted else 0), f"{line}\n{output}"
        shown = [line for line in lines[here + 1 : after] if line.strip()]
        if shown and kind == "console":
            assert shape(output.splitlines()) == shape(shown), line


def shape(lines: list[str]) -> list[str]:
    """Return the words of some lines, numbers left out."""
    return NUMBER.sub("#", " ".join(lines)).split()


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.long if name in SLOW else (), id=name)
        for page in PAGES
        for name in [str(page.relative_to(ROOT))]
    ],
)
def test_every_block_runs(page: Path, tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if page.stem in NOT_RUN:
        pytest.skip(NOT_RUN[page.stem])
    names = namespace(page)
    for kind, text in blocks(page):
        if kind == "python":
            capsys.readouterr()
            exec(compile(text, str(page), "exec"), names)
            if " as refusal:" in text:  # what a page calls refused must be
                assert "exceeds the budget" in capsys.readouterr().out
        else:
            run_commands(kind, text)


def test_a_broken_block_would_be_noticed(tables: Path) -> None:
    with pytest.raises(AssertionError, match="There is no file"):
        run_commands("console", "$ prolate mean nowhere.parquet --mu 1\n")
    with pytest.raises(AssertionError):
        run_commands("console", "$ prolate mean tests.csv --mu 1\nsomething else\n")
    page = tables / "page.md"
    page.write_text(
        "```python\nx = 1\n```\n\n<!-- not run: no cluster -->\n\n```python\nx = 2\n```\n"
    )
    assert list(blocks(page)) == [("python", "x = 1\n")]


def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    for needed in ("sphinx", "myst_parser", "furo", "matplotlib"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"needs {needed}: pip install 'prolate[docs]'")
    words = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    words += ["-d", str(tmp_path / "doctrees"), str(ROOT / "docs"), str(tmp_path / "site")]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "reference" / "functions.html").read_text(encoding="utf-8")
    assert "prolate.mean" in page
    loads = re.compile(r"""<(?:script|link|img)[^>]+(?:src|href)=["']https?://""")
    for file in (tmp_path / "site").rglob("*.html"):
        assert not loads.search(file.read_text(encoding="utf-8")), f"{file.name} loads from afar"


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = str(page.relative_to(ROOT / "docs").with_suffix(""))
        assert name == "index" or re.search(rf"^{name}$", listed, re.MULTILINE), (
            f"{name} is nowhere listed"
        )


@pytest.mark.long
def test_the_figures_are_pictures_of_their_own() -> None:
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("figures", ROOT / "docs" / "figures.py")
    figures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(figures)
    drawn = {name: draw() for name, draw in figures.FIGURES.items()}
    assert all("<svg" in text and len(text) < 120_000 for text in drawn.values())
    assert len(set(drawn.values())) == len(drawn)
    assert drawn == {name: draw() for name, draw in figures.FIGURES.items()}
