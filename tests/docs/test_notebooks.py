"""The notebooks run from top to bottom, and are kept without what they print."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat", reason="needs pip install 'prolate[dev]'")
    nbclient = pytest.importorskip("nbclient", reason="needs pip install 'prolate[dev]'")
    pytest.importorskip("ipykernel", reason="needs pip install 'prolate[dev]'")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        assert not cell.get("outputs"), "clear the outputs before you commit a notebook"
        assert cell.get("execution_count") is None
    nbclient.NotebookClient(notebook, timeout=240).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs), "no picture"


def test_there_are_two() -> None:
    assert {path.stem for path in NOTEBOOKS} == {"baskets", "health-table"}
