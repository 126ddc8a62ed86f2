"""What the page about measurements explains: every label that a receipt can show."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import prolate

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "measurements.md"
ASKING = ("api", "estimators", "papers", "rivals")


def explained() -> set[str]:
    """Return the labels in the first cells of the page's tables."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| **")]
    return {label for line in lines for label in re.findall(r"\*\*(.+?)\*\*", line.split("|")[1])}


def texts(node: ast.AST) -> Iterator[str]:
    """Yield the texts that an expression may be, without the numbers at their ends."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.strip():
            yield part.value.strip()


def nodes() -> list[ast.AST]:
    """Return all parts of the code that asks curators."""
    paths = [path for room in ASKING for path in (ROOT / "src" / "prolate" / room).rglob("*.py")]
    asking = [path for path in paths if path.parent.name != "papers" or path.stem == "variances"]
    return [node for path in asking for node in ast.walk(ast.parse(path.read_text()))]


def places_of(every: list[ast.AST]) -> dict[str, int]:
    """Return where functions, and classes by their fields, take an argument named label."""
    places = {}
    for node in every:
        names: list[str] = []
        if isinstance(node, ast.FunctionDef):
            names = [one.arg for one in node.args.args if one.arg != "self"]
        elif isinstance(node, ast.ClassDef):
            fields = [one.target for one in node.body if isinstance(one, ast.AnnAssign)]
            names = [target.id for target in fields if isinstance(target, ast.Name)]
        if "label" in names:
            places[node.name] = names.index("label")
    return places


def label_in(node: ast.AST, places: dict[str, int]) -> ast.AST | None:
    """Return the label that a part of the code gives, if it gives one."""
    match node:
        case ast.keyword(arg="label", value=value):
            return value
        case ast.Assign(targets=[ast.Name(id="label" | "_LABEL")], value=value):
            return value
        case ast.Call(func=ast.Name(id=name), args=given) if places.get(name, 99) < len(given):
            return given[places[name]]
        case ast.Tuple(elts=[_, ast.Name(), ast.Constant(value=str()) as value]):  # query, share
            return value
    return None


def used() -> set[str]:
    """Return the labels in the code: arguments of that name, or in the place of one."""
    every = nodes()
    places = places_of(every)
    found = [label_in(node, places) for node in every]
    return {text for label in found if label is not None for text in texts(label)}


def test_every_label_is_explained():
    assert used() - explained() == set()
    assert explained() - used() == set()


def test_labels_in_the_code_are_seen():
    assert {
        "first mean",
        "sides of columns",
        "sum",
        "squares",
        "location",
        "X'X",
        "beyond the cut",
    } <= used()


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_labels_of_receipts_are_explained(neighbors):
    rng = np.random.default_rng(1)
    rows = np.column_stack(
        [rng.normal(9, 2, 3000), rng.exponential(5, 3000), rng.random(3000) < 0.1]
    )
    rows[:300, 0] = np.nan
    given = {"budget": prolate.Budget(mu=1), "neighbors": neighbors, "seed": 1}

    def fit(method: str) -> prolate.Release:
        frame = pd.DataFrame(rows, columns=["a", "b", "y"])
        return prolate.regress(frame, "y", method=method, **given)

    releases = [
        prolate.mean(rows, **given),
        prolate.mean(rows[:, 1:2], **given),
        prolate.sum(rows, bounds=(0, 20), **given),
        prolate.variance(rows, **given),
        prolate.covariance(rows, **given),
        prolate.quantile(rows, [0.5, 0.9], **given),
        prolate.count(rows, **given),
        fit("auto"),
    ]
    if neighbors == "replace":
        both = {"bounds": (-99, 99), **given}
        for_means = ("plan", "plan-exponential", "iome", "coinpress")
        releases += [prolate.mean(rows[:, :2], method=method, **both) for method in for_means]
        releases += [fit(method) for method in ("ssp", "adassp", "adassp-fixed")]
    labels = {re.sub(r"[ \d]+$", "", entry.label) for one in releases for entry in one.receipt}
    assert len(labels) > 10
    assert labels - explained() == set()
