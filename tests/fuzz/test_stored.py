"""Stored releases that were edited, cut off, or never were releases."""

from __future__ import annotations

import copy
import functools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.harness import cases, check_release, check_sentence, command, limit
from fuzz.tables import ODD
from hypothesis import given
from hypothesis import strategies as st

import prolate
from prolate import Budget, GroupedRelease, ReleaseError


@functools.cache
def texts() -> tuple[str, ...]:
    """Return releases of every kind as JSON."""
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=(60, 2)), np.arange(60) % 3])
    budget = Budget(mu=3)
    one: dict[str, Any] = {"budget": budget, "seed": 1}
    return tuple(
        release.to_json()
        for release in (
            prolate.mean(x, **one),
            prolate.sum(x, bounds=(0, 1), budget=budget),
            prolate.quantile(x, [0.1, 0.5], **one),
            prolate.covariance(x[:, :2], **one),
            prolate.count(x, unit=2, neighbors="add-remove", **one),
            prolate.mean(x, by=2, keys=[0, 1], unit=0, **one),
            prolate.LinearRegression(seed=1).fit(x[:, :2], x[:, 2]).release_,
        )
    )


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the ways to everything in a JSON value."""
    found = [at] if at else []
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in inner:
        found += places(item, (*at, key))
    return found


def edited(fields: Any, which: int, how: str, odd: Any) -> Any:
    """Return a release in which one thing is another."""
    fields = copy.deepcopy(fields)
    ways = places(fields)
    *way, last = ways[which % len(ways)]
    inside = fields
    for key in way:
        inside = inside[key]
    if how == "set":
        inside[last] = odd
    elif how == "drop":
        del inside[last]
    elif how == "twice" and isinstance(inside, list):
        inside.append(inside[last])
    elif how == "rename" and isinstance(inside, dict):
        inside[str(odd)] = inside.pop(last)
    elif how == "add" and isinstance(inside, dict):
        inside[f"{last}2"] = odd
    else:
        inside[last] = [inside[last]]
    return fields


def show_all(text: str) -> None:
    """Read a release, and look at it in every way there is; or see why not."""
    kind = GroupedRelease if '"prolate.groups' in text[:60] else prolate.Release
    with limit():
        try:
            release = kind.from_json(text)
        except ReleaseError as error:
            check_sentence(str(error))
            return
        if isinstance(release, prolate.Release):
            check_release(release)
            page = release.to_html()
            assert "<script" not in page.lower()
            assert release._repr_html_()
            if release.has_intervals:
                release.table()
        else:
            assert repr(release)
            release.table()


@cases(200)
@given(st.integers(0, 6), st.lists(st.tuples(
    st.integers(0, 10**6), st.sampled_from(["set", "set", "set", "drop", "twice", "rename", "add",
    "wrap"]),
    st.sampled_from(ODD)), min_size=1, max_size=2))  # fmt: skip
def test_edited_releases(which, edits) -> None:
    fields = json.loads(texts()[which])
    for edit in edits:
        if places(fields):
            fields = edited(fields, *edit)
    show_all(json.dumps(fields))


@cases(100)
@given(st.integers(0, 6), st.floats(0, 1), st.integers(-1, 127))
def test_releases_with_a_wrong_letter_or_cut_off(which, where, letter) -> None:
    text = texts()[which]
    at = max(1, int(where * len(text)))  # what does not begin with { is a path
    show_all(text[:at] if letter < 0 else text[:at] + chr(letter) + text[at + 1 :])


@cases(40)
@given(st.sampled_from([
    b"", b"{", b"{}", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000, b"1" * 10_000,
    b'{"schema": "prolate.release"}', b'{"schema": "prolate.release", "schema_version": 1}',
    b"\0" * 99,
    b'{"schema": "prolate.release", "schema_version": 1e400}', b"NaN", b'{"schema": NaN}', b"PAR1",
    b'{"schema": "prolate.release", "schema_version": true}', b"SQLite format 3\0", b'"\\ud800"',
    b'{"schema": "prolate.release", "schema": "prolate.release"}', b"\xef\xbb\xbf{}",
    b'{"schema": [1]}',
]), st.sampled_from(["show", "show --json", "report"]))  # fmt: skip
def test_files_that_are_no_releases(tmp_path_factory, content, how) -> None:
    folder: Path = tmp_path_factory.getbasetemp()
    path = folder / "odd.json"
    path.write_bytes(content)
    name, *more = how.split()
    more += ["-o", str(folder / "odd.html")] if name == "report" else []
    assert command(name, path, *more)[0] == 2


@cases(30)
@given(
    st.sampled_from([0.0, 1.0, -1, math.nan, math.inf, "0.9", None, 10**400, [0.5], 1e-300, True])
)
def test_levels(level) -> None:
    release = prolate.Release.from_json(texts()[0])
    for look in (release.interval, release.table, release.to_frame):
        try:
            look(level=level)
        except prolate.InputError as error:
            check_sentence(str(error))


def test_seeded_releases_stay_marked() -> None:
    """Whoever edits the mark away says so himself; nothing else loses it."""
    assert not prolate.Release.from_json(texts()[0]).private
    with pytest.raises(ReleaseError):
        prolate.Release.from_json(texts()[0].replace('"private": false', '"private": 0'))
