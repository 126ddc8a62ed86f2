"""Sources: Parquet and Arrow files, globs and directories."""

from __future__ import annotations

import glob
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import prolate
from prolate.errors import InputError
from prolate.sources import Source, open_source
from prolate.sources.paths import find_parts

TABLE = pa.table(
    {
        "age": pa.array([30, None, 50, 60, 70], pa.int16()),
        "city": ["secret"] * 5,
        "income": [1.5, 2.5, np.nan, None, -5.5],
    }
)
ROWS = np.array([[1.5, 30], [2.5, np.nan], [np.nan, 50], [np.nan, 60], [-5.5, 70]])


def rows_of(source: Source) -> np.ndarray:
    blocks = list(source.blocks())
    return np.concatenate(blocks) if blocks else np.empty((0, len(source.columns)))


def find_files(paths: object) -> list[str]:
    return [part.path for part in find_parts(paths)]


def write_stream(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)


def write_ipc(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)


WRITERS = {
    "a.parquet": pq.write_table,
    "a.PQ": lambda table, path: pq.write_table(table, path, row_group_size=2),
    "a.arrow": write_ipc,
    "stream.arrow": write_stream,
    "a.ipc": write_stream,
    "a.feather": lambda table, path: pa.feather.write_feather(table, path, compression="lz4"),
    "a.csv": pa.csv.write_csv,
}
COUNTED = {"a.parquet", "a.PQ", "a.arrow", "a.feather"}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("block_bytes", [32, 1 << 24])
def test_every_format(name: str, block_bytes: int, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](TABLE, path)
    for given in (path, str(path), [path]):
        source = open_source(given, ["income", "age"], block_bytes=block_bytes)
        assert source.columns == ("income", "age")
        assert source.n_rows == (5 if name in COUNTED else None)
        for _ in range(2):
            np.testing.assert_array_equal(rows_of(source), ROWS)
    if block_bytes == 32:
        assert [len(block) for block in source.blocks()] == [2, 2, 1]
    with pytest.raises(InputError) as caught:
        open_source(path)
    message = str(caught.value)
    assert message.startswith(f"Column 'city' of {path} is ")
    assert "columns=['age', 'income']." in message
    assert "secret" not in message


@pytest.mark.parametrize("name", WRITERS)
def test_no_rows(name: str, tmp_path: Path) -> None:
    WRITERS[name](TABLE.slice(0, 0).select(["age", "income"]), tmp_path / name)
    source = open_source(tmp_path / name)
    assert list(source.blocks()) == []
    assert source.collect(lambda _: np.ones(2, np.int64), 2).tolist() == [0, 0]


def test_parquet_columns_with_dots_in_their_names(tmp_path: Path) -> None:
    path = tmp_path / "dots.parquet"
    pq.write_table(pa.table({"a.b": [1], "a": [2], "c": [{"d": 3}]}), path)
    assert rows_of(open_source(path, ["a", "a.b"])).tolist() == [[2, 1]]


def test_row_groups_and_files_do_not_show_in_the_blocks(tmp_path: Path) -> None:
    table = pa.table({"x": np.arange(1000.0), "y": np.arange(1000)})
    for number, (start, length) in enumerate([(0, 101), (101, 0), (101, 7), (108, 892)]):
        piece = table.slice(start, length)
        pq.write_table(piece, tmp_path / f"{number}.parquet", row_group_size=33)
    expected = [block.tolist() for block in open_source(table, block_bytes=640).blocks()]
    source = open_source(tmp_path / "*.parquet", block_bytes=640)
    assert source.n_rows == 1000
    assert [block.tolist() for block in source.blocks()] == expected


def test_globs_and_directories_are_sorted(tmp_path: Path) -> None:
    for name, value in (("b.parquet", 2), ("a.parquet", 1), ("c.csv", 3), ("deep/d.parquet", 4)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        table = pa.table({"x": [value]})
        (pa.csv.write_csv if name.endswith("csv") else pq.write_table)(table, tmp_path / name)
    for name in ("_SUCCESS", ".part.parquet", "_meta.parquet", "README.md"):
        (tmp_path / name).write_text("secret")
    assert rows_of(open_source(tmp_path)).ravel().tolist() == [1, 2, 3]
    assert rows_of(open_source(str(tmp_path / "[ab].parquet"))).ravel().tolist() == [1, 2]
    everywhere = rows_of(open_source(str(tmp_path / "**" / "[a-d].*"))).ravel()
    assert everywhere.tolist() == [1, 2, 3, 4]
    both = [tmp_path / "c.csv", str(tmp_path / "a*")]
    assert rows_of(open_source(both)).ravel().tolist() == [3, 1]


@pytest.mark.parametrize(
    ("one", "other"),
    [("a.csv", "a.parquet"), ("a.csv", "a.csv.gz"), ("year=1/a.b.CSV", "year=1/a.b.arrow")],
)
def test_files_called_alike_in_a_directory_are_refused(
    tmp_path: Path, one: str, other: str
) -> None:
    """They are most likely the same rows, which would count twice."""
    folder = tmp_path / "y[0]"
    both = sorted(str(folder / name) for name in (one, other))
    for path in map(Path, both):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n1\n")
    with pytest.raises(InputError, match="most likely the same rows twice") as caught:
        find_files(str(folder))
    names = [Path(path).name for path in both]
    assert " and ".join(names) in str(caught.value)
    pattern = f"{glob.escape(str(folder))}/**/a*"
    with pytest.raises(InputError, match="most likely the same rows twice") as matched:
        find_files(pattern)
    assert " and ".join(both) in str(matched.value)
    assert find_files(pattern + re.findall("ends in '([^']*)'", str(matched.value))[0]) == both[1:]
    kind = re.findall(r"'([^']*\*[^']*)'", str(caught.value))
    assert [find_files(pattern) for pattern in kind] == [both[1:]]
    assert find_files(both) == both


def test_two_stars_go_into_folders_and_round_no_circle(tmp_path: Path, monkeypatch) -> None:
    deep = tmp_path / "y[0]" / "m"
    elsewhere = tmp_path / "else" / "where"
    for folder in (deep, elsewhere, tmp_path / "y[0]" / ".hidden"):
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"a": [1.0]}), folder / "rows.parquet")
    top = tmp_path / "y[0]"
    pq.write_table(pa.table({"a": [1.0]}), top / "rows.parquet")
    for name, target in (("here", "."), ("up", ".."), ("old", elsewhere), ("gone", "nowhere")):
        (top / name).symlink_to(target)
    (top / "m" / "up").symlink_to("..")
    monkeypatch.chdir(top)
    inside = ["m/rows.parquet", "old/rows.parquet", "rows.parquet"]
    for pattern in ("**/rows.parquet", "**", "**/**/*.parquet", "./**/*.parquet"):
        # Behind "up" there is the folder again, and "else", which has what "old" has.
        assert find_files([pattern]) == inside
    folder = glob.escape(str(top))
    assert find_files([f"{folder}/**"]) == [str(top / name) for name in inside]
    assert find_files([f"{folder}/m/**/*.parquet"])[0] == str(top / "m" / "rows.parquet")
    with pytest.raises(InputError, match="No file matches"):
        find_files(["**/nothing.parquet"])


def test_a_link_that_leads_nowhere_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "b.csv").symlink_to("not-fetched")
    for place in (tmp_path, tmp_path / "*.csv", tmp_path / "**" / "*.csv"):
        with pytest.raises(InputError, match="leads to no file; its rows would be missing"):
            open_source(place)


def test_a_name_with_brackets_is_taken_literally_if_it_exists(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [7]}), tmp_path / "a[1].parquet")
    pq.write_table(pa.table({"x": [8]}), tmp_path / "a1.parquet")
    assert rows_of(open_source(tmp_path / "a[1].parquet")).tolist() == [[7]]


def test_files_with_columns_in_another_order(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1], "y": [2]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"y": [3.5], "x": [True]}), tmp_path / "b.parquet")
    assert rows_of(open_source(tmp_path)).tolist() == [[1, 2], [1, 3.5]]


def test_files_with_other_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1], "y": [2]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": [3], "z": ["w"]}), tmp_path / "b.parquet")
    with pytest.raises(
        InputError, match=r"b\.parquet has other columns.*lacks 'y' and has 'z'"
    ) as bad:
        open_source(tmp_path)
    assert "columns=['x']" in str(bad.value)
    # Where columns are named, files need these only: tables get new columns as years go by.
    assert rows_of(open_source(tmp_path, ["x"])).tolist() == [[1], [3]]
    assert rows_of(open_source(tmp_path, (), labels=["x"])).tolist() == [[0], [1]]
    with pytest.raises(InputError, match=r"no column 'y' in .*b\.parquet"):
        open_source(tmp_path, ["x", "y"])
    pq.write_table(pa.table({"x": ["secret"], "y": [2]}), tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"Column 'x' of .*b\.parquet is of type string") as caught:
        open_source(tmp_path)
    assert "secret" not in str(caught.value)


def test_an_index_of_pandas_is_no_column_unless_it_is_named(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [5.0, 6.0, 7.0, 8.0]})
    some = frame[frame.a != 2.0]
    for number, part in enumerate((frame, some, frame.set_axis(list("wxyz")))):
        part.to_parquet(tmp_path / f"{number}.parquet")
    assert open_source(tmp_path).columns == ("a", "b")
    frame.to_csv(tmp_path / "rows.csv")
    assert open_source(tmp_path / "rows.csv", labels=["a"]).columns == ("b", "a")
    frame.assign(city="Rome").to_csv(tmp_path / "text.csv")
    with pytest.raises(InputError, match=r"columns=\['a', 'b'\]"):
        open_source(tmp_path / "text.csv")
    read = pd.read_csv(tmp_path / "rows.csv")
    for table, index in (
        (tmp_path / "1.parquet", "__index_level_0__"),
        (pa.Table.from_pandas(some), "__index_level_0__"),
        (tmp_path / "rows.csv", ""),
        (read, "Unnamed: 0"),
        (read.rename(columns={"Unnamed: 0": ""}), ""),
    ):
        assert open_source(table).columns == ("a", "b")
        assert open_source(table).left_out == (index,)
        named = open_source(table, [index])
        assert (named.columns, named.left_out) == ((index,), ())


def test_the_same_file_twice_would_count_its_rows_twice(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": [1]}), path)
    (tmp_path / "b.parquet").symlink_to(path)
    for twice in ([path, path], tmp_path, [tmp_path / "." / "a.parquet", str(tmp_path / "a.*")]):
        with pytest.raises(InputError, match=r"is the same file as .*a\.parquet; give each"):
            open_source(twice)


SHORTENED = """
import os, sys
from prolate.errors import InputError
from prolate.sources import open_source
source = open_source(sys.argv[1], block_bytes=1 << 16)
try:
    for block in source.blocks():
        os.truncate(sys.argv[1], 1000)
except InputError:
    print("refused")
"""


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.ipc"])
def test_a_file_that_is_shortened_while_it_is_read_is_refused(name: str, tmp_path: Path) -> None:
    """Where a file is mapped into memory, that ends the process: so it is not in this one."""
    table = pa.table({"x": np.random.default_rng(1).normal(size=200_000)})
    if name == "a.parquet":
        pq.write_table(table, tmp_path / name, row_group_size=20_000)
    else:
        new = pa.ipc.new_stream if name == "a.arrow" else pa.ipc.new_file
        with new(tmp_path / name, table.schema) as writer:
            writer.write_table(table, max_chunksize=20_000)
    done = subprocess.run(
        [sys.executable, "-c", SHORTENED, tmp_path / name],
        capture_output=True, text=True, timeout=60, cwd=Path(prolate.__file__).parents[1],
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "refused\n")


def test_arrow_files_of_huge_batches_are_mapped(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "a.arrow"
    write_ipc(TABLE, path)
    monkeypatch.setattr("prolate.sources.arrow_file._LARGE_BATCH", 1)
    opened = []
    monkeypatch.setattr(pa, "memory_map", lambda name: opened.append(name) or pa.OSFile(name))
    np.testing.assert_array_equal(rows_of(open_source(path, ["income", "age"])), ROWS)
    assert opened == [str(path)]


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.ipc", "a.csv"])
def test_a_file_that_changes_between_or_within_passes(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](TABLE, path)
    source = open_source(path, ["age"], block_bytes=16)
    rows_of(source)
    changed = f"{name} has changed since it was opened"
    blocks = source.blocks()
    next(blocks)
    os.utime(path, ns=(0, 1))
    with pytest.raises(InputError, match=changed):
        list(blocks)
    WRITERS[name](pa.concat_tables([TABLE, TABLE]), path)
    with pytest.raises(InputError, match=changed):
        next(source.blocks())
    path.unlink()
    with pytest.raises(InputError, match=rf"{name} cannot be read: No such file"):
        next(source.blocks())


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.feather"])
@pytest.mark.parametrize("kept", [0, 3, 0.3, 0.95])
def test_half_written_files(name: str, kept: float, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](pa.table({"x": np.arange(10_000.0)}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole)) if kept < 1 else int(kept)])
    kind = "Parquet" if name.endswith("parquet") else "Arrow"
    with pytest.raises(InputError, match=rf"{name} cannot be read as {kind}: it is damaged, half"):
        open_source(path)


def test_a_half_written_stream_is_noticed_while_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.ipc"
    write_stream(pa.table({"x": np.arange(10_000.0)}), path)
    path.write_bytes(path.read_bytes()[:20_100])
    with pytest.raises(InputError, match=r"a\.ipc cannot be read as Arrow"):
        list(open_source(path).blocks())


def test_a_parquet_file_that_is_damaged_inside(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": np.random.default_rng(0).random(10_000)}), path)
    whole = bytearray(path.read_bytes())
    whole[4:5000] = b"secret" * 832 + b"secr"
    path.write_bytes(whole)
    with pytest.raises(InputError, match=r"a\.parquet cannot be read as Parquet") as caught:
        list(open_source(path).blocks())
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


def decimals(values: list[int]) -> pa.Array:
    both = np.column_stack([values, np.zeros(len(values), dtype=np.int64)])
    return pa.Array.from_buffers(pa.decimal128(3, 1), len(values), [None, pa.py_buffer(both)])


@pytest.mark.parametrize(
    "odd",
    [
        pa.array([0, 86_400_005, 0], pa.int64()).view(pa.date64()),
        pa.array([0, 10**6, 0], pa.int32()).view(pa.time32("s")),
        pa.array([0, -1, 0], pa.int64()).view(pa.time64("us")),
        pa.array([b"a", b"\xff", b"a"], pa.binary()).view(pa.string()),
        pa.array([b"a", b"\xff", b"a"], pa.binary_view()).view(pa.string_view()),
        decimals([0, 10**12, 0]),
    ],
    ids=lambda odd: str(odd.type),
)
def test_no_label_of_an_arrow_file_is_an_error(odd: pa.Array, tmp_path: Path) -> None:
    """Their type does not allow these values, but one row must not decide what is said."""
    path = tmp_path / "a.arrow"
    write_ipc(pa.table({"label": odd, "x": [1.0, 2.0, 3.0]}), path)
    assert rows_of(open_source(path, ["x"], labels=["label"])).tolist() == [[1, 0], [2, 1], [3, 0]]


def test_no_number_of_an_arrow_file_is_an_error(tmp_path: Path) -> None:
    write_ipc(pa.table({"x": decimals([15, 10**12, 0])}), tmp_path / "a.arrow")
    assert rows_of(open_source(tmp_path / "a.arrow")).tolist() == [[1.5], [1e11], [0.0]]


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(TABLE, path)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(InputError, match=r"a\.parquet cannot be read: Permission denied"):
        open_source(path)


def test_names_are_no_urls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_ipc(TABLE, Path("file:a.arrow"))
    with Path("file:a.parquet").open("wb") as file:
        pq.write_table(TABLE, file)
    for name in ("file:a.arrow", "file:a.parquet"):
        np.testing.assert_array_equal(rows_of(open_source(name, ["income", "age"])), ROWS)


def test_names_are_utf_8_whatever_the_locale_says(tmp_path: Path) -> None:
    for name in ("ä.csv", "ü.arrow", "ö.parquet"):
        if name == "ä.csv":
            pyarrow.csv.write_csv(TABLE, tmp_path / name)
        elif name == "ü.arrow":
            write_ipc(TABLE, tmp_path / name)
        else:
            pq.write_table(TABLE, tmp_path / name)
    code = "import prolate; print(prolate.count('*.*', budget=prolate.Budget(mu=1)).n)"
    ascii_names = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True,
        env={**os.environ, **ascii_names},
    )  # fmt: skip
    assert done.stdout == "15.0\n"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("gone.parquet", r"There is no file '.*gone\.parquet'\.$"),
        ("gone*.parquet", r"No file matches '.*gone\*\.parquet'"),
        ("a.xlsx", r"a\.xlsx does not end like a data file: the endings are Parquet \.parquet"),
        ("a.xlsx", r"In Python, pass pandas\.read_excel\(\.\.\.\); for the command, store that as"),
        (
            "scores.txt",
            r"scores\.txt does not end like .*\. If it is delimited text, call it \.csv\.",
        ),
        ("a.zip", r"Unpack it first\."),
        ("*.xlsx", r"a\.xlsx does not end like"),
        ("noending", r"noending does not end like"),
        ("rows.parquet.gz", r"rows\.parquet\.gz does not end like"),
        ("empty", r"The directory '.*empty' has no data files directly in it: the endings are"),
    ],
)
def test_paths_without_data(path: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("a.xlsx", "scores.txt", "a.zip", "noending", "rows.parquet.gz"):
        (tmp_path / name).write_text("x")
    for given in (tmp_path / path, str(tmp_path / path), [str(tmp_path / path)]):
        with pytest.raises(InputError, match=message):
            open_source(given)


def test_standard_input_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"There is no file '-'\. Rows are read several times"):
        open_source("-")


def test_a_place_elsewhere_is_not_read() -> None:
    with pytest.raises(InputError, match=r"no file 's3://b/x\.parquet'\. .*local files only"):
        open_source("s3://b/x.parquet")


@pytest.mark.parametrize("text", ["", "a,b\nsecret,2\n", "secret" * 1000, "secret\0"])
def test_text_that_is_no_path_is_not_repeated(text: str) -> None:
    with pytest.raises(InputError, match=r"not a path of a file\. Pass a path, or the rows") as e:
        open_source(text)
    assert "secret" not in str(e.value)


def test_a_real_parquet_file(shared_data: Path) -> None:
    path = shared_data / "uci" / "concrete.parquet"
    table = pq.read_table(path)
    source = open_source(path, block_bytes=4000)
    expected = np.column_stack([column.to_numpy() for column in table.columns])
    np.testing.assert_array_equal(rows_of(source), expected.astype(float))
    assert source.n_rows == table.num_rows


class Word(pa.ExtensionType):
    """Text by another name."""

    def __init__(self) -> None:
        super().__init__(pa.string(), "prolate.tests.word")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, data: bytes) -> Word:
        return cls()


def test_no_row_of_an_arrow_file_decides_whether_it_is_damaged(tmp_path: Path) -> None:
    """Odd labels are labels: an error would come after the charge, and tell of one row."""
    odd = pa.array([b"\xff\xfe", b"a", b"b"], pa.binary()).view(pa.string())
    runs = pa.run_end_encoded(pa.int32(), pa.string())
    ends = pa.array([1, 2, 3], pa.int32())
    places = pa.array([0, 1, 7], pa.int8())
    pa.register_extension_type(Word())
    try:
        for labels in (
            odd,
            pa.ExtensionArray.from_storage(Word(), odd),
            pa.Array.from_buffers(runs, 3, [None], children=[ends, odd]),
            pa.DictionaryArray.from_arrays(places, pa.array(["a", "b", "c"]), safe=False),
        ):
            table = pa.table({"x": [1.0, 2.0, 3.0], "whose": labels})
            path = tmp_path / "rows.arrow"
            with pa.ipc.new_file(str(path), table.schema) as file:
                file.write_table(table)
            options = {"columns": "x", "unit": "whose", "budget": prolate.Budget(mu=1), "seed": 1}
            read, held = (prolate.mean(data, **options) for data in (str(path), table))
            assert read.estimate.tolist() == held.estimate.tolist()
    finally:
        pa.unregister_extension_type("prolate.tests.word")


def test_a_parquet_file_without_columns_is_said_to_have_none(tmp_path: Path) -> None:
    pq.write_table(pa.table({}), tmp_path / "none.parquet")
    with pytest.raises(InputError, match="There are no columns"):
        open_source(tmp_path / "none.parquet")
