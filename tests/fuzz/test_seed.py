"""A release that was made with a seed says that it is not private, wherever it is shown."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest
from fuzz.harness import command

import prolate
from prolate import Budget, GroupedRelease, LinearRegression, Release

X = np.random.default_rng(0).normal(size=(60, 2))
BY = np.column_stack([X, np.arange(60) % 2])
B = Budget(mu=5)
MAKERS: dict[str, Any] = {
    "mean": lambda **given: prolate.mean(X, budget=B, **given),
    "sum": lambda **given: prolate.sum(X, bounds=(0, 1), budget=B, **given),
    "variance": lambda **given: prolate.variance(X, budget=B, **given),
    "quantile": lambda **given: prolate.quantile(X, [0.5, 0.9], budget=B, **given),
    "covariance": lambda **given: prolate.covariance(X, budget=B, **given),
    "count": lambda **given: prolate.count(X, budget=B, neighbors="add-remove", **given),
    "persons": lambda **given: prolate.mean(BY, unit=2, budget=B, **given),
    "groups": lambda **given: prolate.mean(BY, by=2, keys=[0, 1], budget=B, **given),
    "regression": lambda **given: LinearRegression(**given).fit(X[:, :1], X[:, 1]).release_,
}


def shown(release: Release | GroupedRelease) -> dict[str, str]:
    """Return all texts that show a release."""
    found = {"repr": repr(release), "str": str(release), "guarantee": release.guarantee}
    if hasattr(release, "to_html"):
        found["page"] = release.to_html()
    if hasattr(release, "_repr_html_"):
        found["notebook"] = release._repr_html_()
    return found


@pytest.mark.parametrize("name", list(MAKERS))
def test_wherever_it_is_shown(name, tmp_path) -> None:
    for seed in (0, 7, None):
        release = MAKERS[name](seed=seed)
        kind = type(release)
        path = tmp_path / "r.json"
        release.to_json(path)
        same = [release, kind.from_json(path), pickle.loads(pickle.dumps(release))]
        same += list(release.groups.values()) if kind is GroupedRelease else []
        for one in same:
            assert one.private is (seed is None)
            for where, text in shown(one).items():
                marked = "NOT PRIVATE" in text or "No privacy is guaranteed" in text
                assert marked == (seed is not None), where
        assert json.loads(path.read_text())["private"] is (seed is None)
        for arguments in (["show", path], ["show", path, "--receipt"]):
            assert ("NOT PRIVATE" in command(*arguments)[1]) == (seed is not None)


def test_where_the_command_makes_it(tmp_path) -> None:
    rows = tmp_path / "rows.csv"
    np.savetxt(rows, BY, delimiter=",", header="a,b,g", comments="")
    commands = {
        "mean": ["-c", "a,b"],
        "sum": ["--bounds", "0:1"],
        "quantile": ["-q", "0.5"],
        "variance": ["-c", "a"],
        "covariance": ["-c", "a,b"],
        "count": [],
        "regress": ["--target", "a"],
    }
    for name, options in commands.items():
        for more in ([], ["--json"], ["--receipt"], ["--by", "g", "--key", "0"]):
            _, out, said = command(name, rows, "--mu", 5, "--seed", 3, *options, *more)
            assert "NOT PRIVATE" in said
            assert "NOT PRIVATE" in out or '"private": false' in out
