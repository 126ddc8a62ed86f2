"""ARCHITECTURE.md is true: its table of rooms against every import in the package."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest

import prolate

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "prolate"

PUBLIC = [
    "Budget",
    "BudgetError",
    "Forecast",
    "GroupedRelease",
    "InputError",
    "Ledger",
    "LedgerError",
    "LinearRegression",
    "ProlateError",
    "Release",
    "ReleaseError",
    "__version__",
    "count",
    "covariance",
    "expected_error",
    "mean",
    "quantile",
    "regress",
    "sum",
    "variance",
]
LATE = ["matplotlib", "numba", "pandas", "psycopg", "pyarrow", "pyspark", "rich", "scipy"]
LATE += ["sklearn", "sqlalchemy", "starlette", "uvicorn"]


@dataclass(frozen=True)
class Row:
    """A row of the table: file patterns such as ``noise/``, and allowed libraries."""

    rooms: tuple[str, ...]
    libraries: frozenset[str] | None  # any, where the table does not say

    def holds(self, path: str) -> bool:
        top = path.split("/", maxsplit=1)[0] + ("/" if "/" in path else "")
        return any(fnmatch(top, room) for room in self.rooms)


def table(text: str, first: str) -> list[Row]:
    """Return the rows of the table whose first column is called `first`."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith(f"| {first} |"):
            break
    next(lines)
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        names, _, *libraries = (cell.strip() for cell in line.strip("|").split("|"))
        known = frozenset(re.findall(r"`([^`]+)`", libraries[0])) if libraries else None
        rows.append(Row(tuple(re.findall(r"`([^`]+)`", names)), known))
    return rows


def imports(path: str, source: str) -> Iterator[str]:
    """Yield the dotted name of everything that a module imports, at any depth."""
    parents = ["prolate", *path.split("/")[:-1]]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(parents[: len(parents) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func).split(".")[-1]
            name = node.args[0]
            if called in ("import_module", "__import__") and isinstance(name, ast.Constant):
                yield str(name.value)


def file_of(name: str, files: set[str]) -> str:
    """Return the file that importing ``prolate.<...>`` reads a name from."""
    parts = name.split(".")[1:]
    while parts:
        for path in ("/".join(parts) + ".py", "/".join([*parts, "__init__.py"])):
            if path in files:
                return path
        parts.pop()
    return "__init__.py"


def faults(rows: list[Row], modules: dict[str, str], folder: str = "") -> list[str]:
    """Return a sentence for everything in `modules` that the table of a folder does not allow."""
    found = []
    level = {
        path: next((at for at, row in enumerate(rows) if row.holds(path[len(folder) :])), None)
        for path in modules
        if path.startswith(folder)
    }
    for path, own in level.items():
        if own is None:
            found.append(f"{path} is in no row of the table")
            continue
        allowed = rows[own].libraries
        for name in sorted(set(imports(path, modules[path]))):
            top = name.split(".")[0]
            if top == "prolate":
                other = file_of(name, set(modules))
                below = level.get(other)
                if below is not None and below > own:
                    found.append(f"{path} imports {name}, from {other} below it")
            elif allowed is not None and top not in sys.stdlib_module_names | allowed:
                found.append(f"{path} imports {top}, which its row does not list")
    return found


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return table((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), "room")


@pytest.fixture(scope="module")
def parts() -> list[Row]:
    return table((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), "part")


@pytest.fixture(scope="module")
def modules() -> dict[str, str]:
    return {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
        for path in PACKAGE.rglob("*.py")
    }


def test_every_import_follows_the_table(rows: list[Row], modules: dict[str, str]) -> None:
    assert "budget.py" in modules
    assert faults(rows, modules) == []


def test_estimators_import_by_their_own_table(parts: list[Row], modules: dict[str, str]) -> None:
    assert "estimators/mean.py" in modules
    assert faults(parts, modules, "estimators/") == []


def exists(folder: Path, room: str) -> bool:
    return any(path.is_file() for path in folder.glob(room + ("*.py" if room[-1] == "/" else "")))


def test_every_room_of_the_table_exists(rows: list[Row]) -> None:
    assert len(rows) > 10
    assert [room for row in rows for room in row.rooms if not exists(PACKAGE, room)] == []


def test_every_part_of_the_estimators_exists(parts: list[Row]) -> None:
    assert len(parts) > 4
    folder = PACKAGE / "estimators"
    assert [part for row in parts for part in row.rooms if not exists(folder, part)] == []


def missing_files(modules: dict[str, str]) -> list[str]:
    """Return a sentence for each file that a text names, beside it or in its room, but is not."""

    def is_there(path: str, name: str) -> bool:
        places = f"{path.rpartition('/')[0]}/", f"{path.split('/', maxsplit=1)[0]}/", ""
        return any(f"{place}{name}".lstrip("/") in modules for place in places)

    return [
        f"{path} names {name}, which is not there"
        for path, source in modules.items()
        for name in re.findall(r"`([\w/]+\.py)`", source)
        if not is_there(path, name)
    ]


def test_files_that_texts_name_are_there(modules: dict[str, str]) -> None:
    assert missing_files(modules) == []
    renamed = modules | {"estimators/x.py": "See `mean.py`, `search/learn.py` and `learn.py`."}
    assert missing_files(renamed) == ["estimators/x.py names learn.py, which is not there"]


@pytest.mark.parametrize(
    ("path", "source", "fault"),
    [
        ("budget.py", "from prolate.errors import InputError", None),
        ("budget.py", "import prolate.ledger", "from ledger/__init__.py below it"),
        ("budget.py", "from prolate import ledger", "from ledger/__init__.py below it"),
        ("budget.py", "from . import ledger as l", "from ledger/__init__.py below it"),
        ("budget.py", "from .ledger import Ledger", "from ledger/__init__.py below it"),
        (
            "budget.py",
            "def f():\n    from prolate.ledger import Ledger",
            "from ledger/__init__.py below it",
        ),
        ("budget.py", "import importlib\nimportlib.import_module('prolate.ledger')", "from ledger"),
        ("budget.py", "from prolate import mean", "from __init__.py below it"),
        ("budget.py", "import prolate", "from __init__.py below it"),
        ("budget.py", "import numba", "imports numba, which its row does not list"),
        ("budget.py", "import math, scipy.special", None),
        ("noise/deep/x.py", "from ...budget import Budget", None),
        ("noise/deep/x.py", "from ... import curator", "from curator/__init__.py below it"),
        ("noise/deep/x.py", "from ..gaussian import sample", None),
        ("noise/deep/x.py", "from prolate.estimators.mean import mean", "from estimators/mean.py"),
        ("release/new.py", "import prolate.curator", None),
        ("ledger/file.py", "from prolate.cli import main", "from cli/__init__.py below it"),
        ("cli/new.py", "import prolate, prolate.ledger, rich.table, click", None),
        ("other.py", "", "other.py is in no row of the table"),
        ("errors/x.py", "", "errors/x.py is in no row of the table"),
    ],
)
def test_the_check_sees_faults(rows: list[Row], path: str, source: str, fault: str | None) -> None:
    house = ["__init__.py", "budget.py", "cli/__init__.py", "curator/__init__.py", "errors.py"]
    house += ["estimators/mean.py", "ledger/__init__.py", "noise/__init__.py", "noise/gaussian.py"]
    found = faults(rows, dict.fromkeys(house, "") | {path: source})
    if fault is None:
        assert found == []
    else:
        assert len(found) == 1
        assert fault in found[0]


@pytest.mark.parametrize(
    ("path", "source", "fault"),
    [
        ("search/new.py", "from prolate.estimators.lengths.norms import MeasuredNorms", None),
        ("search/new.py", "from prolate.curator import Curator", None),
        ("lengths/new.py", "from prolate.estimators.search import shape", "search/shape.py below"),
        ("shares.py", "import prolate.estimators.mean", "estimators/mean.py below it"),
        ("corner.py", "", "estimators/corner.py is in no row"),
    ],
)
def test_the_check_sees_faults_of_estimators(
    parts: list[Row], modules: dict[str, str], path: str, source: str, fault: str | None
) -> None:
    found = faults(parts, modules | {f"estimators/{path}": source}, "estimators/")
    assert (not found) if fault is None else (len(found) == 1 and fault in found[0])


def test_importing_prolate_is_light() -> None:
    script = (
        "import json, sys, time; start = time.perf_counter(); import prolate; "
        "names = set(prolate.__all__) - {'LinearRegression'}; "  # which loads scikit-learn
        "[getattr(prolate, name) for name in names]; "
        "print(json.dumps([time.perf_counter() - start, sorted(sys.modules)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=PACKAGE.parent,
    )
    seconds, loaded = json.loads(done.stdout)
    print(f"importing all of prolate took {seconds:.3f} s")
    assert "prolate.budget" in loaded
    assert [name for name in LATE if name in loaded] == []


def test_the_public_names_are_these() -> None:
    assert sorted(prolate.__all__) == PUBLIC
    assert set(PUBLIC) <= set(dir(prolate))
    assert all(hasattr(prolate, name) for name in PUBLIC)


def test_a_source_distribution_has_all_that_its_tests_need() -> None:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    built = about["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    tests = "".join(file.read_text() for file in sorted((ROOT / "tests").rglob("*.py")))
    needed = set(re.findall(r'ROOT / "([\w.-]+)"', tests + (ROOT / "check.py").read_text()))
    held = {name for name in needed if any(fnmatch(f"/{name}", each) for each in built)}
    rest = needed - held - {"pyproject.toml"}  # which is always there
    assert all(name.startswith(".") for name in rest), rest  # and what tests and checks make
    assert "benchmarks" in held
