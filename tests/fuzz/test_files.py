"""Files that are damaged: cut off, with flipped bits, holes, rows of any length, odd bytes."""

from __future__ import annotations

import contextlib
import functools
import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from fuzz.harness import cases, check_sentence, command, limit, outcome
from hypothesis import given
from hypothesis import strategies as st

import prolate
from prolate import Budget

BUDGET = Budget(mu=1e4)
_ODD = (
    b"\xff",
    b'"',
    b",",
    b"\n",
    b"\r",
    b"\0",
    b",,,,,",
    b'\n"',
    b"\xc3",
    b"1e999",
    b"\xef\xbb\xbf",
)


@functools.cache
def whole() -> dict[str, bytes]:
    """Return sound files, small and of several parts."""
    rng = np.random.default_rng(0)
    numbers = {
        "a": rng.normal(size=300),
        "b": rng.integers(0, 4, 300),
        "c": pa.array([None if i % 7 == 0 else i / 2 for i in range(300)]),
        "g": [f"name {i % 5}" for i in range(300)],
    }
    table = pa.table(numbers)
    found: dict[str, bytes] = {}
    for codec in ("none", "snappy", "zstd"):
        sink = io.BytesIO()
        pa.parquet.write_table(table, sink, row_group_size=100, compression=codec)
        found[f"{codec}.parquet"] = sink.getvalue()
    for codec in ("uncompressed", "lz4"):
        sink = io.BytesIO()
        pa.feather.write_feather(table, sink, compression=codec, chunksize=100)
        found[f"{codec}.feather"] = sink.getvalue()
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, 100)
    found["stream.arrow"] = sink.getvalue()
    sink = io.BytesIO()
    pa.csv.write_csv(table, sink)
    found["plain.csv"] = sink.getvalue()
    found["tabs.tsv"] = sink.getvalue().replace(b",", b"\t")
    found["packed.csv.gz"] = gzip.compress(sink.getvalue(), mtime=0)
    return found


def damaged(content: bytes, wounds: list[tuple[str, float, int]]) -> bytes:
    """Return the bytes of a file after some accidents."""
    data = bytearray(content)
    for kind, where, what in wounds:
        at = int(where * len(data))
        if kind == "cut":
            del data[at:]
        elif kind == "flip" and data:
            data[min(at, len(data) - 1)] ^= 1 << (what % 8)
        elif kind == "zero":
            data[at : at + what] = bytes(len(data[at : at + what]))
        elif kind == "noise":
            noise = np.random.default_rng(what).bytes(what % 50)
            data[at : at + len(noise)] = noise
        elif kind == "lose":
            del data[at : at + what]
        elif kind == "twice":
            data[at:at] = data[at : at + what]
        elif kind == "insert":
            data[at:at] = _ODD[what % len(_ODD)]
    return bytes(data)


wounds = st.lists(
    st.tuples(
        st.sampled_from(
            ["cut", "flip", "flip", "flip", "zero", "noise", "lose", "twice", "insert"]
        ),
        st.floats(0, 1, exclude_max=True),
        st.integers(0, 200),
    ),
    min_size=1,
    max_size=4,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@cases(300)
@given(st.sampled_from(sorted(whole())), wounds, st.sampled_from([None, ["a"], ["c", "b"]]))
def test_damaged_files(folder, name, wounds, columns) -> None:
    path = folder / name
    path.write_bytes(damaged(whole()[name], wounds))
    # What a damaged file asks for may be more memory than there is.
    with contextlib.suppress(MemoryError):
        outcome(lambda: prolate.sum(path, columns=columns, bounds=(0, 1), budget=BUDGET, seed=1))


@cases(100)
@given(st.sampled_from(sorted(whole())), wounds)
def test_damaged_files_with_labels(folder, name, wounds) -> None:
    path = folder / name
    path.write_bytes(damaged(whole()[name], wounds))
    with contextlib.suppress(MemoryError):
        outcome(lambda: prolate.count(path, unit="g", budget=BUDGET, seed=1))
        outcome(lambda: prolate.count(path, by="g", keys=["name 1"], budget=BUDGET, seed=1))


@cases(60)
@given(st.sampled_from(sorted(whole())), wounds)
def test_damaged_files_on_the_command_line(folder, name, wounds) -> None:
    path = folder / name
    path.write_bytes(damaged(whole()[name], wounds))
    command("sum", path, "--bounds", "0:1", "-c", "a,b", "--mu", "1", "--json")


cells = st.sampled_from([
    "1", "-2.5", "1e3", "", "NA", "x", '"', '""', '"q"', '"1', "1,1", "\xff", "\0", "é", "nan",
    "inf",
    "1e999", "0x1", "1_000", " 7 ", "\t", "true", ";", "|", "\r", "9" * 400, "\u202e", "\ud800",
])  # fmt: skip
lines = st.lists(st.lists(cells, max_size=5), max_size=12)


def text(rows: list[list[str]], ending: str) -> bytes:
    """Return rows as the text of a file, with a byte of its own for a lone surrogate and ÿ."""
    whole = ending.join(",".join(row) for row in rows)
    return whole.encode("utf-8", "surrogatepass").replace("ÿ".encode(), b"\xff")


@cases(180)
@given(lines, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_odd_text(folder, rows, ending, headed) -> None:
    path = folder / "odd.csv"
    path.write_bytes(text([["a", "b"], *rows] if headed else rows, ending))
    outcome(lambda: prolate.sum(path, bounds=(0, 1), budget=BUDGET, seed=1))


@cases(100)
@given(st.lists(st.lists(cells, max_size=5), min_size=1, max_size=3), st.integers(0, 400))
def test_rows_that_are_odd_are_no_errors_and_change_no_other_row(folder, rows, where) -> None:
    """With 400 sound rows, odd ones change the sum by what they hold, and nothing else."""
    from hypothesis import assume

    odd = text(rows, "\n")
    # A quote that is not closed takes the lines after it along; the module says so.
    assume(odd.count(b'"') == 0)
    assume(b"\r" not in odd)
    sound = [b"1,0.5"] * 400
    path = folder / "rows.csv"
    path.write_bytes(b"\n".join([b"a,b", *sound[:where], odd, *sound[where:]]))
    release = prolate.sum(path, bounds=(0, 1), budget=BUDGET, seed=1)
    more = [line for line in odd.split(b"\n") if line]
    assert 400 + len(more) == release.n
    assert -0.1 <= release.estimate[0] - 400 <= len(more) + 0.1
    assert -0.1 <= release.estimate[1] - 200 <= len(more) + 0.1


def test_a_row_of_odd_bytes_is_a_row(tmp_path: Path) -> None:
    """With too many fields, too: what Arrow says of such a line once ended the reading."""
    for odd in (b"\xff\xfe,2", b"\xff\xfesecret,2,3,4", b"\xff", b"\xc3,\xa9,\xa9"):
        path = tmp_path / "rows.csv"
        path.write_bytes(b"a,b\n" + b"1,0.5\n" * 300 + odd + b"\n" + b"1,0.5\n" * 300)
        code, out, said = command("mean", path, "--mu", "100", "--json")
        assert (code, said) == (0, "")
        assert prolate.Release.from_json(out).n == 601


def test_labels_of_odd_bytes_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    names = [b"Jos\xe9", b"Jos\xe8", "José".encode(), "Zoë".encode(), b"\xff"]
    path.write_bytes(b"who,x\n" + b"".join(b"%b,1\n" % name for name in names * 20))
    assert prolate.count(path, unit="who", budget=BUDGET, seed=1).n == len(names)
    by = prolate.count(path, by="who", keys=["José", "Zoë"], budget=BUDGET, seed=1)
    for release in by.groups.values():
        assert release.n == pytest.approx(20, abs=0.1)


@cases(100)
@given(st.lists(st.sampled_from([b"a", b"\xc3\xa9", b"\xc3", b"\xff", b"\xe2\x82\xac", b"\xe2\x82",
                                 b"\xf0\x9f\x98\x80", b"\xf0\x9f", b"\xa9", b"\n"]), max_size=30),
       st.integers(1, 9))  # fmt: skip
def test_bytes_that_are_no_text(parts, size) -> None:
    from prolate.sources.utf8 import Utf8

    raw = b"".join(parts)
    stream = Utf8(io.BytesIO(raw))
    chunks: list[bytes] = []
    with limit():
        while chunk := stream.read(size):
            assert len(chunk) <= size
            chunks.append(chunk)
    read = b"".join(chunks)
    read.decode()
    assert read == Utf8(io.BytesIO(raw)).read()
    with contextlib.suppress(UnicodeDecodeError):
        assert read.decode() == raw.decode()


def sentence(path: Path, **options: Any) -> str:
    """Return why there is no release."""
    with pytest.raises(prolate.ProlateError) as caught:
        prolate.mean(path, budget=Budget(mu=1), **options)
    return check_sentence(str(caught.value))


@cases(30)
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_what_an_error_says_of_a_file_does_not_depend_on_its_rows(folder, one, other) -> None:
    said = []
    for seed in (one, other):
        rng = np.random.default_rng(seed)
        rows = pa.table({"a": rng.normal(size=50), "t": [f"w{x}" for x in rng.integers(0, 99, 50)]})
        pa.parquet.write_table(rows, folder / "same.parquet", compression="none")
        pa.csv.write_csv(rows, folder / "same.csv")
        here = []
        for name in ("same.parquet", "same.csv"):
            path = folder / name
            here += [
                sentence(path),
                sentence(path, columns="t"),
                sentence(path, columns="b"),
                sentence(path, columns="a", unit="b"),
                sentence(path, columns="a", bounds={"t": (0, 1)}),
                sentence(path, columns="a", unit="t", by="t", keys=[1]),
            ]
        cut = folder / "same.parquet"
        cut.write_bytes(cut.read_bytes()[:-9])
        here.append(sentence(cut))
        said.append(here)
    assert said[0] == said[1]
