"""The documentation site: `python -m sphinx -W -b html docs site` (pip install "prolate[docs]")."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src"))

project = "Prolate"
html_title = "Prolate"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_copy_source = False
default_role = "code"  # docstrings have single backticks
exclude_patterns = ["figures.py"]
myst_heading_anchors = 3
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
napoleon_use_rtype = False
napoleon_preprocess_types = False


def plain_docstring(  # the arguments are Sphinx's
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Let docstrings be read as they are written: bars are bars, and lists of names may wrap."""
    text = "\n".join(lines)
    parts = re.split(r"(``.+?``|`.+?`)", text)
    text = "".join(part if i % 2 else part.replace("|", r"\|") for i, part in enumerate(parts))
    text = re.sub(r"^(\w[\w, ]*),\n(?=\w[\w, ]*\n {4})", r"\1, ", text, flags=re.MULTILINE)
    lines[:] = text.split("\n")


def setup(app: Sphinx) -> None:
    """Have docstrings read as they are written."""
    app.connect("autodoc-process-docstring", plain_docstring, priority=100)
