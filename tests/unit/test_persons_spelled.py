"""A person whose label files spell in several ways is one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, feather

import prolate
from prolate import Budget
from prolate.errors import InputError
from prolate.ledger import Ledger
from prolate.sources import open_source
from prolate.sources.labels import Labels
from prolate.sources.spellings import Persons, person_text

B = Budget(mu=1)


def persons_of(values: Any, **given: Any) -> list[int]:
    labels = Labels(**given)
    return Persons(labels).numbers(labels.numbers(values)).tolist()


def counted(data: Any, unit: str = "who") -> float:
    return float(prolate.count(data, unit=unit, budget=B).estimate[0])


@pytest.mark.parametrize(
    "texts",
    [
        ["1.5", "1.50", "+1.5", "1.500", "01.5", "1.5e0", "15e-1", "1.5E+00"],
        ["-0.5", "-.5", "-0.50", "-5e-1"],
        ["0.0000001", "1e-7", "1e-07", "1E-07", "1.0e-7"],
        ["10000000", "1e7", "1E7", "1.0e7", "1e07", "1e+07", "10000000.0", "+1e7"],
        ["1152921504606846976", "1.152921504606847e+18", "1.152921504606847e18"],
        ["7", "007", "7.0", "+7", "7e0"],
        ["0", "-0", "0.00", "0e5", "-.0", "000", "0e12345"],
        ["1234", "1,234", "1 234", "1'234", "1\u00a0234.0", "1\u2019234", "+1,234.00"],
        ["1234567.5", "1,234,567.5", "1 234 567.50"],
        ["1e400", "1.0e+400", "10e399"],
        ["1e-320", "0.1e-319"],
        [
            "2020-03-01 00:30:00", "2020-03-01 01:30:00+01:00", "2020-03-01T01:30:00.000000+0100",
            "2020-03-01T00:30Z", "2020-02-29 19:30:00-05", "2020-03-01 00:30:00.000 +00:00",
        ],
        ["2020-03-01 00:30:00", "2020-03-01 00:30:00 UTC", "2020-03-01t00:30z"],
        ["2020-03-01", "2020-03-01 01:00:00+01:00", "2020-02-29T22:30-01:30"],
        ["2020-03-01 00:30:00.25", "2020-03-01T01:30:00.250+01:00"],
        ["01:02:03", "01:02:03.000000000", "01:02:03.0"],
        ["01:02:03.5", "01:02:03.500000000"],
        ["01:02:00", "01:02"],
        ["7", "7\u00a0", "\u20077", "\ufeff7", "7\u200b"],
        ["-5", "\u22125"],
        ["M\u00fcller", "Mu\u0308ller", "M\u00fcller\u00a0"],
        [
            "550e8400-e29b-41d4-a716-446655440abc", "550E8400-E29B-41D4-A716-446655440ABC",
            "{550e8400-e29b-41d4-a716-446655440abc}", "550e8400e29b41d4a716446655440abc",
        ],
    ],
    ids=lambda texts: texts[0],
)  # fmt: skip
def test_a_person_is_one_however_files_spell_the_label(texts: list[str]) -> None:
    for order in (texts, texts[::-1]):
        assert persons_of(pa.array(["x", *order, "y"])) == [0, *(1 for _ in texts), 2]


def test_labels_that_only_look_alike_are_several_persons() -> None:
    texts = [
        "7", "-7", "7.5", "7.51", "75", "7.5.0", "+-7", "e7", "1e", "1e+", ".", "-", "0x10", "1e7a",
        "1,5", "2020-03-01x", "2020-13-01 00:00+01:00", "0001-01-01 00:00:00+23:59", "01:02:03x",
        "1e99999", "2e99999", "12,34", "1,234,5", "0,123", "1,2345", "1.234", "1.234,5",
        "12345678901234567890123456789012", "550e8400-e29b-41d4-a716-446655440abg",
        "7\u0663", "12345678e", "1152921504606846977", "1152921504606846976",
    ]  # fmt: skip
    assert persons_of(pa.array(texts)) == list(range(len(texts)))


def test_numbers_with_decimal_commas_are_what_their_points_and_commas_say() -> None:
    texts = ["1.234.567,50", "1234567,5", "1234567.5", "1,5", "1.5", "1.50", "1.234", "1,234"]
    assert persons_of(pa.array(texts), decimal_commas=True) == [0, 0, 0, 1, 1, 1, 2, 2]


def test_persons_are_numbered_as_they_come_in_any_blocks() -> None:
    texts = ["b", "1.50", "007", None, "1.5", "7", "a", "1.5e0", "  ", "b", "7.0", "c"]
    expected = [0, 1, 2, 3, 1, 2, 4, 1, 3, 0, 2, 5]
    assert persons_of(pa.array(texts)) == expected
    for size in (1, 2, 5):
        labels = Labels()
        persons = Persons(labels)
        for _ in range(2):  # passes
            found: list[int] = []
            for start in range(0, len(texts), size):
                numbers = labels.numbers(pa.array(texts[start : start + size], pa.string()))
                found += persons.numbers(numbers).tolist()
            assert found == expected


@given(
    st.lists(st.from_regex(rb"[+-]?(\d{1,4}(\.\d{0,4})?|\.\d{1,3})([eE][+-]?\d)?", fullmatch=True))
)
def test_persons_are_one_where_numbers_are_equal(texts: list[bytes]) -> None:
    found = [person_text(text) for text in texts]
    values = [Fraction(text.decode()) for text in texts]
    assert len(set(found)) == len(set(values)) == len(set(zip(found, values, strict=True)))
    assert [person_text(text) for text in found] == found
    for text, value in zip(texts, values, strict=True):
        rounded = person_text(text, rounded=True)
        assert Fraction(float(value)) == Fraction(float(rounded))


def write(values: Sequence[Any] | pa.Array, folder: Path, name: str) -> None:
    table = pa.table({"v": np.ones(len(values)), "who": values})
    if name == "pandas.csv":
        table.to_pandas().to_csv(folder / name, index=False)
    elif name == "polars.csv":
        pl.from_arrow(table).write_csv(folder / name)
    elif name == "arrow.csv":
        csv.write_csv(table, folder / name)
    elif name.endswith("arrow"):
        feather.write_feather(table, folder / name)
    else:
        pq.write_table(table, folder / name)


COPENHAGEN = ZoneInfo("Europe/Copenhagen")
DAYS = [datetime(2020, 3, 1, 1, k, 5 * (k % 2), tzinfo=COPENHAGEN) for k in range(50)]
SPELLED = {
    "decimals": pa.array([Decimal(f"{k}.50") for k in range(50)], pa.decimal128(10, 2)),
    "small floats": pa.array([k * 1e-7 for k in range(50)]),
    "floats": pa.array(np.random.default_rng(1).normal(size=50) * 10.0 ** np.arange(-25, 25)),
    "large floats": pa.array([float(2**60 + 2**12 * k) for k in range(50)]),
    "zoned": pa.array(DAYS, pa.timestamp("us", "Europe/Copenhagen")),
    "naive": pa.array([day.replace(tzinfo=None) for day in DAYS], pa.timestamp("ns")),
    "times": pa.array([time(1, k, 3, 500_000 * (k % 2)) for k in range(50)], pa.time64("us")),
    "whole": pa.array(range(50)),
}


@pytest.mark.parametrize("name", SPELLED)
def test_a_person_of_files_of_several_programs_is_one(name: str, tmp_path: Path) -> None:
    values = SPELLED[name]
    for file in ("a.parquet", "b.arrow", "pandas.csv", "polars.csv", "arrow.csv"):
        write(values, tmp_path, file)
        assert counted(tmp_path) == len(values)


def test_ids_are_what_doubles_make_of_them_where_some_file_has_doubles(tmp_path: Path) -> None:
    """Of ids beyond 2**53, doubles tell but one in some: a person of both files would be two."""
    ids = [2**60 + 1 + 1024 * k for k in range(50)]
    write(pa.array(ids), tmp_path, "a.parquet")
    write(pa.array(np.array(ids, dtype=float)), tmp_path, "b.parquet")
    write(pa.array([Decimal(one) for one in ids], pa.decimal128(25, 3)), tmp_path, "c.parquet")
    write(pa.array(ids), tmp_path, "arrow.csv")
    assert counted(tmp_path) == 50
    close = tmp_path / "close.arrow"
    feather.write_feather(pa.table({"v": np.ones(9), "who": range(2**60, 2**60 + 9)}), close)
    assert counted(close) == 9


def test_a_decimal_comma_is_a_point(tmp_path: Path) -> None:
    frame = pd.DataFrame({"v": np.ones(50), "who": np.arange(50) + 0.5})
    frame.to_csv(tmp_path / "a.csv", sep=";", decimal=",", index=False)
    frame.to_parquet(tmp_path / "b.parquet")
    assert counted(tmp_path) == 50


ODD = {
    "single": (pa.array(np.arange(9, dtype=np.float32)), "less than double precision"),
    "half": (pa.array(np.arange(9, dtype=np.float16)), "less than double precision"),
    "spans": (pa.array([timedelta(days=1, seconds=k) for k in range(9)]), "spans of time"),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("form", ["plain", "dictionary"])
@pytest.mark.parametrize("other", ["csv", "integers", "doubles"])
def test_types_that_nothing_tells_to_be_one_are_refused(
    name: str, form: str, other: str, tmp_path: Path
) -> None:
    values, words = ODD[name]
    values = values if form == "plain" else values.dictionary_encode()
    write(values, tmp_path, "a.arrow")
    assert counted(tmp_path / "a.arrow") == 9
    write(values, tmp_path, "a2.arrow")
    assert counted([tmp_path / "a.arrow", tmp_path / "a2.arrow"]) == 9
    there = pa.array(range(9), pa.float64() if other == "doubles" else pa.int64())
    write(there, tmp_path, "arrow.csv" if other == "csv" else "b.parquet")
    book = Ledger.create(tmp_path / "book", limit=B)
    error = rf"'who' holds [a-z -]*{words} in \S*a.arrow, and another type in \S*(arrow.csv|b.parq)"
    for folder in (tmp_path, [tmp_path / "*.csv", tmp_path / "*.parquet", tmp_path / "*.arrow"]):
        paths = folder if isinstance(folder, Path) else [one for one in folder if glob(one)]
        for more in ({}, {"contribution": "rows", "max_rows": 2}):
            with pytest.raises(InputError, match=error):
                prolate.count(paths, unit="who", budget=B, ledger=book, **more)
    assert not book.entries()
    by = prolate.count(tmp_path, by="who", keys=[1], budget=Budget(mu=1e4))  # groups are as before
    assert list(by) == ["1"]


def glob(path: Path) -> bool:
    return any(path.parent.glob(path.name))


def test_times_with_and_without_zones_are_refused(tmp_path: Path) -> None:
    write(SPELLED["zoned"], tmp_path, "a.parquet")
    for there in (SPELLED["naive"], pa.array([day.date() for day in DAYS])):
        write(there, tmp_path, "b.parquet")
        with pytest.raises(InputError, match=re.escape("'who' holds times with a time zone in")):
            counted(tmp_path)


def test_a_column_without_values_has_no_type_to_clash(tmp_path: Path) -> None:
    write(ODD["single"][0], tmp_path, "a.parquet")
    write(pa.nulls(9), tmp_path, "b.parquet")
    assert counted(tmp_path) == 10  # whoever has no label is one


def test_groups_are_told_apart_as_they_are_written(tmp_path: Path) -> None:
    """Of texts such as versions, 1.5 and 1.50 are two groups; 007 stays what it is."""
    (tmp_path / "a.csv").write_text("v,who,what\n" + "1,1.5,1.50\n1,1.50,1.5\n1,1.500,007\n" * 9)
    found = prolate.count(
        tmp_path / "a.csv", by="what", keys=["1.50", "1.5", "007", 7], budget=Budget(mu=1e4)
    )
    counts = [round(float(one.estimate[0])) for one in found.groups.values()]
    assert list(found) == ["1.50", "1.5", "007", "7"]
    assert counts == [9, 9, 9, 0]
    source = open_source(tmp_path / "a.csv", ["v"], labels=["who", "what"])
    assert [row for block in source.persons().blocks() for row in block.tolist()] == [[1.0, 0.0]]


@given(
    st.lists(
        st.text(alphabet="05.-+e,1 \u207b\u208b\u2212\u200b\ufeff\u00b2\u0301\uff0de\u00bd"),
        max_size=8,
    )
)
def test_who_is_whom_does_not_depend_on_who_came_before(texts: list[str]) -> None:
    """A minus that became another one made one person of all whose labels another one had."""
    same = [person_text(text.encode()) for text in texts]
    assert [person_text(text) for text in same] == same
    found = persons_of(pa.array(texts, pa.string()))
    back = persons_of(pa.array(texts[::-1], pa.string()))[::-1]
    for i in range(len(texts)):
        for j in range(i):
            assert (found[i] == found[j]) == (back[i] == back[j])


def test_labels_of_one_person_make_no_others_one() -> None:
    others = [f"\u207b5.{'0' * j}1" for j in range(50)]
    one = [f"\u22125.{'0' * j}" for j in range(50)]
    assert len(set(persons_of(pa.array(others)))) == 50
    assert len(set(persons_of(pa.array([*one, *others])))) == 51
