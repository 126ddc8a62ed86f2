"""The figures of the theory pages are those that docs/figures.py draws."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
MOST = 60_000  # bytes of a figure in the repository


@pytest.fixture(scope="module")
def figures() -> ModuleType:
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("figures", DOCS / "figures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def words(svg: str) -> list[str]:
    """Return the texts of a figure, which matplotlib writes beside their shapes."""
    return sorted(re.findall(r"<!-- (.+?) -->", svg))


NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
AREA = re.compile(r"\bp[0-9a-f]{10}\b")  # its name is a hash of all digits of its numbers


def test_figures_are_those_that_pages_show() -> None:
    shown = {
        path
        for page in DOCS.rglob("*.md")
        for path in re.findall(r"!\[[^]]*\]\((\S+?\.svg)\)", page.read_text(encoding="utf-8"))
    }
    there = {f"../figures/{path.name}" for path in (DOCS / "figures").glob("*.svg")}
    assert shown == there
    assert all(path.stat().st_size < MOST for path in (DOCS / "figures").iterdir())


@pytest.mark.parametrize("name", ["curve", "errors", "shapes", "gain", "clips"])
def test_figures_are_what_would_be_drawn(figures: ModuleType, name: str) -> None:
    """Draw them anew with `python docs/figures.py`; of another matplotlib, texts are compared."""
    kept = (DOCS / "figures" / f"{name}.svg").read_text(encoding="utf-8")
    drawn = figures.FIGURES[name]()
    assert words(kept) == words(drawn)
    version = re.compile(r"Matplotlib v[\w.+]+")
    if version.findall(kept) == version.findall(drawn):
        kept, drawn = AREA.sub("", kept), AREA.sub("", drawn)
        assert NUMBER.sub("", kept) == NUMBER.sub("", drawn)
        before, after = (list(map(float, NUMBER.findall(svg))) for svg in (kept, drawn))
        assert before == pytest.approx(after, abs=0.05)  # of other machines, last digits differ
