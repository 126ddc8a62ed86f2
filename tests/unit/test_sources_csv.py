"""Sources: CSV files, where a value of a row must never make an error."""

from __future__ import annotations

import bz2
import gzip
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import prolate
from prolate import Budget
from prolate.errors import InputError
from prolate.sources import Source, delimited, open_source
from prolate.sources.cells import Marks, decimal_marks, numbers
from prolate.sources.utf8 import Utf8

NAN = np.nan


def rows_of(source: Source) -> np.ndarray:
    blocks = list(source.blocks())
    return np.concatenate(blocks) if blocks else np.empty((0, len(source.columns)))


def read(folder: Path, text: str | bytes, columns: object = None, **options: int) -> np.ndarray:
    path = folder / "rows.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return rows_of(open_source(path, columns, **options))


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("1", 1), ("-2.5", -2.5), ("+3", 3), (" 4 ", 4), ("\t5", 5), ('"6"', 6), ("1e3", 1000),
        ("1E+3", 1000), (".5", 0.5), ("5.", 5), ("1e999", np.inf), ("-inf", -np.inf),
        ("Infinity", np.inf), ("nan", NAN), ("true", 1), ("False", 0), (" TRUE", 1), ("", NAN),
        ("NA", NAN), ("NaN", NAN), ("null", NAN), ("NULL", NAN), ("N/A", NAN), ("?", NAN),
        ('""', NAN), ("secret", NAN), ("1_0", NAN), ("0x10", NAN), ('"1,5"', NAN), ("12 km", NAN),
        ("2020-01-01", NAN), ("1e", NAN), ("-", NAN), ("٣", NAN), ("\x00", NAN),
        ("9007199254740993", 2.0**53), ("9" * 30, 1e30), ("(1.5)", -1.5), (" ( 2 ) ", -2),
        ("3.5-", -3.5), ("4 -", -4), ("\u22125", -5), ("- 6", -6), ("+ 7", 7), ("(-8)", NAN),
        ("1-2", NAN), ("(nine)", NAN), ("()", NAN), ("--1", NAN), ("1--", NAN), ("(1 2)", NAN),
    ],
)  # fmt: skip
def test_a_cell_means_the_same_in_any_company(cell: str, value: float, tmp_path: Path) -> None:
    for company in ("7,1\n7,2\n", "7,1\n7,junk\n7,3\n"):
        rows = read(tmp_path, f"a,b\n{company}8,{cell}\n9,9\n")
        np.testing.assert_array_equal(rows[-2:], [[8, value], [9, 9]])


def test_cells_that_are_not_utf8_are_missing(tmp_path: Path) -> None:
    np.testing.assert_array_equal(read(tmp_path, b"a\n1\n\xff\xfe\n3\n").ravel(), [1, NAN, 3])


def test_whole_numbers_first_and_anything_later(tmp_path: Path) -> None:
    integers = "".join(f"{i},{i}\n" for i in range(200_000))  # more than the first stretch
    rows = read(tmp_path, f"a,b\n{integers}1.5,secret\n,2020-01-01\n7,true\n")
    assert rows.shape == (200_003, 2)
    np.testing.assert_array_equal(rows[:200_000, 0], np.arange(200_000))
    np.testing.assert_array_equal(rows[-3:], [[1.5, NAN], [NAN, NAN], [7, 1]])


def test_most_cells_of_the_first_rows_decide_whether_a_column_is_numeric(tmp_path: Path) -> None:
    np.testing.assert_array_equal(read(tmp_path, "a\n1\nsecret\nNA\n").ravel(), [1, NAN, NAN])
    assert np.isnan(read(tmp_path, "a,b\n,1\nNA,2\n")[:, 0]).all()
    text = "a,b\n1,2\n" + "secret,3\n" * 3
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    said = str(caught.value)
    assert "rows.csv is text, not numbers. Choose from the numeric columns: columns=['b']." in said
    assert "To use 'a', make numbers of it: of yes and no" in said
    assert read(tmp_path, text, ["b"]).ravel().tolist() == [2, 3, 3, 3]
    # No cell alone decides where there are no others, or as many of both kinds.
    assert np.isnan(read(tmp_path, "a,b\n,1\nsecret,2\n,3\n")[:, 0]).all()
    assert len(read(tmp_path, "a,b\n1,2\nsecret,3\nsecret,4\n")) == 3


def test_malformed_lines_are_missing_rows_in_their_place(tmp_path: Path) -> None:
    text = "a,b\n1,1\n2\n\n3,3\n4,4,4\n5,5,secret,5\n6,6\n7\n8,8\n9,"
    rows = read(tmp_path, text)
    expected = [1, NAN, 3, NAN, NAN, 6, NAN, 8, 9]
    np.testing.assert_array_equal(rows[:, 0], expected)
    np.testing.assert_array_equal(read(tmp_path, text, block_bytes=32), rows)
    np.testing.assert_array_equal(read(tmp_path, "a\n1\n2,2\n\n4\n").ravel(), [1, NAN, NAN, 4])


def test_malformed_lines_far_into_a_file(tmp_path: Path) -> None:
    lines = [f"{i},{i}" for i in range(400_000)]  # several stretches
    bad = np.random.default_rng(5).choice(len(lines), 500, replace=False)
    for i in bad:
        lines[i] += "," if i % 2 else "\n\n"  # a blank line is no row
    lines[399_999] = "half"
    lines[399_998] = "writ,t,e"
    rows = read(tmp_path, "a,b\n" + "\n".join(lines))
    expected = np.arange(400_000.0)
    expected[[i for i in bad if i % 2]] = NAN
    expected[-2:] = NAN
    np.testing.assert_array_equal(rows[:, 0], expected)


def test_most_lines_malformed_is_another_kind_of_file(tmp_path: Path) -> None:
    for text in ("a,b\n4,5\n" + "1,2,3\n" * 3, "a,b\n" + "1;2\n" * 9):
        with pytest.raises(
            InputError, match=r"Most lines of .*rows.csv do not have as many fields"
        ):
            read(tmp_path, text)


def test_half_of_the_first_lines_decide_that_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/privacy.md says that this vote is public."""
    half = "a,b\n" + "1,2\n" * 100 + "3\n" * 100
    assert np.isnan(read(tmp_path, half + "3\n")[:, 0]).sum() == 101
    with pytest.raises(InputError, match="Most lines"):
        read(tmp_path, half + "3\n3\n")
    monkeypatch.setattr(delimited, "_TOP_ROWS", (200, 200))
    assert np.isnan(read(tmp_path, half + "3\n" * 900)[:, 0]).sum() == 1000


def test_quoted_fields_may_hold_delimiters_and_line_breaks(tmp_path: Path) -> None:
    text = 'name,"an ""a"", b"\n"x, y",1\n"two\nlines",2\n'
    assert read(tmp_path, text, ['an "a", b']).ravel().tolist() == [1, 2]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_endings(delimiter: str, ending: str, tmp_path: Path) -> None:
    lines = [delimiter.join(row) for row in (["a", '"b,;|"', "c"], ["1", "2", "3"], ["4", "", "6"])]
    rows = read(tmp_path, ending.join(lines) + ending, ["c", "b,;|"])
    np.testing.assert_array_equal(rows, [[3, 2], [6, NAN]])


def test_compressed_and_tab_separated_files(tmp_path: Path) -> None:
    text = b"a\tb\n1\t2\n3\t4\n"
    (tmp_path / "a.tsv").write_bytes(text)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(text))
    (tmp_path / "c.TSV.BZ2").write_bytes(bz2.compress(text))
    assert rows_of(open_source(tmp_path)).tolist() == [[1, 2], [3, 4]] * 3


def test_a_half_written_compressed_file(tmp_path: Path) -> None:
    numbers_in_it = np.random.default_rng(0).integers(0, 10**9, 400_000)
    whole = gzip.compress(("a\n" + "\n".join(map(str, numbers_in_it))).encode(), 1)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(whole[: len(whole) * 3 // 4])
    source = open_source(path)
    with pytest.raises(InputError, match=r"a\.csv\.gz cannot be read as CSV"):
        list(source.blocks())
    path.write_bytes(b"secret")
    with pytest.raises(InputError, match=r"a\.csv\.gz cannot be read as CSV") as caught:
        open_source(path)
    assert "secret" not in str(caught.value)


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfa;b\n1;2\n", ["a"]).tolist() == [[1]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no names of columns in its first line: it is empty"),
        (b"\n1,2\n", "no names of columns in its first line: its first line is blank"),
        (b"41.5,77,9\n1,2,3\n", "must hold the names of the columns; it holds only numbers"),
        (b"a,a,b\n1,2,3\n", "More than one column of .*rows.csv is called 'a'"),
        (b"sep=x\naxb\n1x2\n", "it says sep=x to a spreadsheet program"),
        (b"sep=;", "it says sep=; to a spreadsheet program"),
        (b"sep=;\n\na;b\n", "its first line is blank"),
        (b"Sales;;\na;b;c\n1;2;3\n", "Take away lines above the names"),
        (b"Sales\na,b,c\n1,2,3\n4,5,6\n", "Take away lines above the names"),
        ("é,b\n41.5,2\n".encode("latin-1"), "perhaps Windows-1252.* -f WINDOWS-1252 "),
        ("sep=,\né,b\n41.5,2\n".encode("latin-1"), 'saving it as "CSV UTF-8"'),
        ("\ufeffa,b\n41.5,2\n".encode("utf-16-le"), "is in UTF-16.* -f UTF-16 "),
        ("\ufeffa,b\n41.5,2\n".encode("utf-16-be"), "is in UTF-16.* -f UTF-16 "),
        (b"PK\x03\x04\xe9a,b\n41.5,2\n", "cannot be read as CSV text in UTF-8: it is damaged"),
    ],
)
def test_headers_that_are_none(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, content)
    assert "41.5" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_packed_file_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress("é;b\n1;2\n".encode("latin-1")))
    with pytest.raises(InputError, match="Unpack and convert the file"):
        open_source(path)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "above", ["sep=;", "SEP=;;;", '"sep=;"', '"sep=;";;', "\ufeffsep=;", "sep=|", "sep=\t", "sep=:"]
)
def test_a_line_for_excel_says_the_delimiter(
    above: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    between = next(one for one in ";|\t:" if one in above)
    lines = [above, f"a,a,a,a{between}b", *(f"{i}{between}{i + 1}" for i in range(50))]
    for stretch in (1 << 20, 32):
        monkeypatch.setattr(delimited, "_STRETCH", stretch)
        rows = read(tmp_path, (ending.join(lines) + ending).encode(), ["a,a,a,a", "b"])
        assert rows.tolist() == [[i, i + 1] for i in range(50)]
        assert open_source(tmp_path / "rows.csv").counted() == 50


def test_decimal_commas_and_gaps_of_one_column_below_a_line_for_excel(tmp_path: Path) -> None:
    np.testing.assert_array_equal(read(tmp_path, "sep=;\na\n1,5\n\n2\n"), [[1.5], [NAN], [2]])


def test_names_without_the_end_of_their_line_are_names_without_rows(tmp_path: Path) -> None:
    for content in ("a,b", "a,b\n", "a,b\r\n"):
        assert read(tmp_path, content).shape == (0, 2)


def test_columns_of_a_csv_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no column 'c' in .*rows.csv.* Its columns are 'a', 'b'"):
        read(tmp_path, "a,b\n1,2\n", ["c"])
    assert read(tmp_path, "a,b,2024\n1,2,3\n", [2024, "a"]).tolist() == [[3, 1]]


def test_a_header_longer_than_the_first_stretch(tmp_path: Path) -> None:
    names = [f"a_long_name_for_column_{j:06d}" for j in range(40_000)]  # 1.2 MB
    sevens = ",".join("7" for _ in names)
    for above, quote in (("", ""), ("", '"'), ("sep=,\n", '"'), ("sep=,\r\n", "")):
        header = ",".join(f"{quote}{name}{quote}" for name in names)
        rows = read(tmp_path, f"{above}{header}\n{sevens}\n", names[-2:])
        assert rows.tolist() == [[7, 7]]


def test_names_are_in_one_line(tmp_path: Path) -> None:
    """Of a quote that is not closed, the rows up to the next one were a name, and were shown."""
    for header in ('a,"b', '"a,b', 'a,"b""'):
        with pytest.raises(InputError, match="opens a quote that it does not close") as caught:
            read(tmp_path, f'{header}\n11,22\n33,44"\n5,6\n')
        assert "11" not in str(caught.value)
    assert read(tmp_path, '"a",b"c\n1,2\n', ['b"c']).tolist() == [[2]]


ODD_CELLS = (
    "1", "-2.5e-3", "+.5", "5.", "1e999", "1e-999", "-inf", "Infinity", "nan", "NAN", "+nan",
    "nan(1)", "nan(1.5)", "-nan(ind)", "nan()", "0" * 400 + "1", "-0", "0x10", "1_000", "TRUE",
    "tRuE", " 1", "1\t", "1f", "1,5", "1.234", "1,234", "1.234,5", "1,234.5", "1.234.567",
    "1,234,567", "1,5e3", "0,123", ",5", "1.234,", "1,234.", "(1,234)", "1-", "- 5", "\u22125",
    "1 234,5", "1'234", "1,2,3", "1.2.3", "..",
)  # fmt: skip


@pytest.mark.parametrize(
    "marks", [Marks(), Marks(commas_between=True), Marks(decimal_commas=True),
              Marks(True, False, True), Marks(False, True, True)]
)  # fmt: skip
def test_a_cell_is_what_it_is_whatever_others_are(marks: Marks) -> None:
    """All at once, as Arrow reads numbers quickly, as one by one: nan(1) was missing or not."""
    junk = ["junk", "(7)", "1,5", "1.234,5", "1,234.5", "1 234"]
    among_others = numbers(pa.array([*ODD_CELLS, *junk]), marks).to_numpy(zero_copy_only=False)
    said = [
        found[: len(ODD_CELLS)] for found in decimal_marks(pa.chunked_array([[*ODD_CELLS, *junk]]))
    ]
    for i, cell in enumerate(ODD_CELLS):
        for company in ([], ["1"], ["true"], ["1,5"], ["1.5"], [None], ["nan(1)"]):
            cells = pa.array([cell, *company], pa.string())
            found = numbers(cells, marks).to_numpy(zero_copy_only=False)[0]
            np.testing.assert_array_equal(found, among_others[i], err_msg=f"{cell} {company}")
            alone = [found[0] for found in decimal_marks(pa.chunked_array([cells]))]
            assert alone == [found[i] for found in said], (cell, company)


@pytest.mark.parametrize("odd", ["-nan(ind)", "NAN", "nan()", "+nan"])
def test_missing_numbers_of_other_programs_have_no_vote(odd: str, tmp_path: Path) -> None:
    for last in ("1", "x"):
        rows = read(tmp_path, "v,w\n" + "1.5,1\n" * 20 + f"{odd},2\n" * 40 + f"{last},3\n", ["v"])
        assert np.isnan(rows[:, 0]).sum() == 40 + (last == "x")


def test_an_endless_line_is_an_error_that_does_not_quote_it(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "rows.csv"
    good = "1,2\n" * 300_000  # more than the first stretch
    path.write_text(f"a,b\n{good}" + "secret" * 600_000 + f",2\n{good}")
    source = open_source(path)
    assert sum(len(block) for block in source.blocks()) == 600_001
    monkeypatch.setattr(delimited, "_LONGEST", 1 << 20)
    with pytest.raises(InputError, match=r"rows\.csv cannot be read as CSV") as caught:
        list(source.blocks())
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


NASTY = (
    "1", "-3e2", " 7 ", "x", "", "NA", '"4"', '"a""b"', '5"', '"q\nr"', '"\r\n"', '","', "\ufeff9",
    "true", '"8"z', 'a"b"c', "é", '"',
)  # fmt: skip


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("stretch", [40, 100, 1000])
def test_where_stretches_end_makes_no_difference(ending, stretch, tmp_path, monkeypatch) -> None:
    rng = np.random.default_rng(stretch)
    path = tmp_path / "rows.csv"
    for columns in (1, 2, 3):
        sizes = rng.choice([columns, 1, 4], p=[0.9, 0.05, 0.05], size=300)
        lines = [",".join(rng.choice(NASTY, size)) for size in sizes]
        names = ["a", "b", "c"][:columns]
        plain = [",".join(["1"] * columns)] * 400
        path.write_text(ending.join([",".join(names), *plain, *lines]), newline="")
        whole = rows_of(open_source(path, columns=names))
        assert open_source(path, columns=names).counted() == len(whole)
        with monkeypatch.context() as smaller:
            smaller.setattr(delimited, "_STRETCH", stretch)
            for threads in ("1", "3"):
                smaller.setenv("PROLATE_NUM_THREADS", threads)
                source = open_source(path, columns=names)
                np.testing.assert_array_equal(rows_of(source), whole)
                assert source.counted() == len(whole)


def test_rows_are_counted_without_their_values(tmp_path, monkeypatch) -> None:
    """One column is parsed, as text; how far that is, is told."""
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "1,2\n" * 600_000 + "3\n")
    source, asked, told = open_source(path), [], []
    parsed = delimited.DelimitedFile._parsed

    def noted(self, text, columns):
        asked.append(columns)
        return parsed(self, text, columns)

    monkeypatch.setattr(delimited.DelimitedFile, "_parsed", noted)
    monkeypatch.setattr(delimited, "numbers", None)
    assert source.n_rows is None
    assert source.counted(told.append) == source.n_rows == 600_001
    assert all(columns == ["a"] for columns in asked)
    assert told == sorted(told)
    assert len(told) > 1


def test_only_the_thread_that_asks_reads(tmp_path, monkeypatch) -> None:
    """Arrow's reader ahead kept one process in five from ending, or killed it."""
    readers: set[int] = set()
    read = Utf8.read

    def noted(self: Utf8, size: int = -1) -> bytes:
        readers.add(threading.get_ident())
        return read(self, size)

    monkeypatch.setattr(Utf8, "read", noted)
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "1,2\n" * 600_000)
    next(open_source(path).blocks())
    assert readers == {threading.get_ident()}


def test_decimal_commas_are_read_where_semicolons_delimit(tmp_path: Path) -> None:
    """And decimal points: each cell says which it has."""
    text = "a;b;c;d\n1,5;1.5;7;x\n2;2;8;1,5\n-3,25e1;3;9;y\n4.5;4,5;1.23,4;z\n5;1;2;z\n"
    rows = read(tmp_path, text, ["a", "b", "c"])
    expected = [[1.5, 1.5, 7], [2, 2, 8], [-32.5, 3, 9], [4.5, 4.5, NAN], [5, 1, 2]]
    np.testing.assert_array_equal(rows, expected)
    with pytest.raises(InputError, match=r"'d' of .* is text"):
        read(tmp_path, text, ["d"])
    with pytest.raises(InputError, match="is text"):  # a comma may part thousands here
        read(tmp_path, "a\tb\n1,5\t2\n2,5\t3\n", ["a"])
    with pytest.raises(InputError, match="only numbers"):
        read(tmp_path, "1,5;2;3\n2,5;3;4\n")


def test_points_part_thousands_where_commas_are_decimal(tmp_path: Path) -> None:
    text = (
        "id;price;pay;people;share;level\n1;2,5;1.234;1.234.567;0.123;1.5\n"
        "2;1.234,50;950;950;0.456;1.234\n3;-12.345.678,;-1.234,5;2.000;1.234;2.5\n"
    )
    expected = [
        [1, 2.5, 1234, 1_234_567, 0.123, 1.5],
        [2, 1234.5, 950, 950, 0.456, 1.234],
        [3, -12_345_678, -1234.5, 2000, 1.234, 2.5],
    ]
    np.testing.assert_array_equal(read(tmp_path, text), expected)
    pay = read(tmp_path, "a;b\n1,5;1.234\nx;y\n2,5;1", ["b"])
    np.testing.assert_array_equal(pay, [[1234], [NAN], [1]])
    np.testing.assert_array_equal(read(tmp_path, "sep=;\na\n1.234,5\n"), [[1234.5]])


NUMBERS = np.random.default_rng(0).integers(1000, 9999, 300).tolist()
FILES = {
    "no decimals": [f"{v % 100};{v // 1000}.{v % 1000:03}" for v in NUMBERS],
    "decimal commas": [f"{v % 100},5;{v // 1000}.{v % 1000:03}" for v in NUMBERS],
    "decimal points": [f"{v % 100}.5;{v // 1000}.{v % 1000:03}" for v in NUMBERS],
    "commas, three decimals": [f"{v % 100};{v // 1000},{v % 1000:03}" for v in NUMBERS],
    "both": [f"{v % 100},5;{v / 10}" for v in NUMBERS],
    "amounts": [f"{v % 100}\t{v // 1000},{v % 1000:03}" for v in NUMBERS],
    "amounts, some below a thousand": [
        f"{v % 100}\t{v // 1000},{v % 1000:03}" if v % 3 else f"{v % 100}\t{v % 1000}"
        for v in NUMBERS
    ],
    "decimals of tabs": [f"{v % 100}\t{v // 1000},{v % 100:02}" for v in NUMBERS],
    "text": [f"{v % 100};x{v}" for v in NUMBERS],
    "hardly any cells": [f"{v % 100};" for v in NUMBERS],
}
HOSTILE = ("1,5", "1.5", "0,001", "1.234,5", "1,234.5", "1.234.567", "1,234", "1.234", "secret", "")


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("size", [12, 300])
def test_no_row_decides_how_others_are_read(
    kind: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One made all other values a thousand times as large, or an error (`docs/privacy.md`)."""
    monkeypatch.setattr(delimited, "_STRETCH", 1 << 12)
    lines = FILES[kind][:size]
    between = ";" if ";" in lines[0] else "\t"

    def found(rows: list[str]) -> tuple[dict[str, str], list[list[float]]]:
        path = tmp_path / "rows.csv"
        path.write_text("\n".join([f"a{between}b", *rows, ""]))
        file = open_source(path, ["a"])._files[0]
        columns = tuple(name for name in ("a", "b") if name not in file.unusable)
        unsettled = dict.fromkeys(filter(file.is_unsettled, columns), "unsettled")
        return file.unusable | unsettled, rows_of(open_source(path, columns)).tolist()

    about, values = found(lines)
    rows = [f"{a}{between}{b}" for a in HOSTILE for b in HOSTILE]
    rows += ["1", between.join("123"), f"1,5{between}1.5" + " " * (1 << 13)]
    for i, row in enumerate(rows):
        place = (7 * i) % size if i % 3 else 0
        told, others = found([*lines[:place], row, *lines[place + 1 :]])
        assert told == about, row
        np.testing.assert_array_equal(np.delete(others, place, 0), np.delete(values, place, 0))


def test_one_row_in_a_hundred_and_more_decide_what_points_are(tmp_path: Path) -> None:
    text = "a;b\n" + "7;1.234\n" * 297
    for commas, value in ((0, 1.234), (3, 1.234), (4, 1234)):
        rows = read(tmp_path, text + "2,5;1\n" * commas)
        np.testing.assert_array_equal(rows[:297], [[7, value]] * 297)
    text = "a;b\n" + "7;1.234\n2,5;1.234\n" * 150  # 1234, unless the column has decimals itself
    for points, value in ((3, 1234), (4, 1.234)):
        rows = read(tmp_path, text + "7;1.5\n" * points)
        np.testing.assert_array_equal(rows[:300:2], [[7, value]] * 150)


def test_points_are_decimal_where_no_column_of_numbers_has_commas(tmp_path: Path) -> None:
    for other in ("1", "2.5", "1,5", "x"):  # one comma makes no column of numbers of text
        rows = read(tmp_path, f"b;a\nx;1.234\ny;950\nz;7\n{other};2.345\n", ["a"])
        assert rows.ravel().tolist() == [1.234, 950, 7, 2.345]
    with pytest.raises(InputError, match=r"'a' of .* is text"):
        read(tmp_path, "a,b\n1.234.567,1\n1.234.568,2\n", ["a"])


def test_points_that_may_part_thousands_are_said_to_be_decimal(tmp_path: Path) -> None:
    """Amounts of 1.234 were a thousand times too small, and nothing said so."""
    values = range(1000, 3000)
    for others, said in (((9, ""), ("points", "text")), (("2.5", ""), ("text", "text")),
                         (("2.5", "1,5"), ("text", "text"))):  # fmt: skip
        lines = [f"{v // 1000}.{v % 1000:03};{v};{others[0]};{others[1]}" for v in values]
        path = tmp_path / "t.csv"
        path.write_text("\n".join(["a;b;c;d", *lines, ""]))
        for column, cells in zip("ab", said, strict=True):
            made = prolate.mean(path, columns=[column], budget=Budget(rho=1), seed=1)
            assert made.details["cells"] == cells, (column, others)
            said_so = "read as decimal points" in " ".join(str(made).split())
            assert said_so == (cells == "points")


def test_negative_numbers_may_be_written_as_accounts_are(tmp_path: Path) -> None:
    """They were missing, and so only they."""
    text = "a;b\n(1.234,50);1\n1.234,5-;2\n\u22121.234.567;3\n- 12,5;4\n"
    rows = read(tmp_path, text, ["a"])
    assert rows.ravel().tolist() == [-1234.5, -1234.5, -1234567, -12.5]
    text = 'a,b\n"(1,234.50)",1\n"1,234.5-",2\n"-1,234,567",3\n- 12.5,4\n'
    rows = read(tmp_path, text, ["a"])
    assert rows.ravel().tolist() == [-1234.5, -1234.5, -1234567, -12.5]


@pytest.mark.parametrize("between", [" ", "\u00a0", "\u202f", "'", "\u2019"])
def test_spaces_and_apostrophes_part_thousands(tmp_path: Path, between: str) -> None:
    """They did make large values missing, and means too small, without a word."""
    large = f"12{between}345{between}678"
    text = f"a;b\n1{between}234,5;7\n950;-{large}\n0{between}123;1{between}23\n3,5;1{between}\n"
    expected = [[1234.5, 7], [950, -12_345_678], [NAN, NAN], [3.5, 1 if between == " " else NAN]]
    np.testing.assert_array_equal(read(tmp_path, text), expected)
    commas = read(tmp_path, f"a,b\n1{between}234.5,7\n950,{large}\n")
    np.testing.assert_array_equal(commas, [[1234.5, 7], [950, 12_345_678]])


def test_commas_part_thousands_where_all_of_them_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decimals = '5,"0,25","1,5"\n' * 3
    text = 'a,b,c\n1,"1,234.50","1,5"\n2,950,2\n3,"-12,345,678","1,234"\n"4",7.5,3\n' + decimals
    expected = [[1, 1234.5, NAN], [2, 950, 2], [3, -12_345_678, NAN], [4, 7.5, 3]]
    rows = read(tmp_path, text.replace(decimals, '5,7,"1,5"\n5,7,4\n5,7,4'))
    np.testing.assert_array_equal(rows[:4], expected)
    np.testing.assert_array_equal(read(tmp_path, "a\tb\n1,234\t2\n7\t3\n"), [[1234, 2], [7, 3]])
    with pytest.raises(InputError, match="is text"):  # these are decimals
        read(tmp_path, "a\tb\n1,234\t2\n3,50\t3\n0,125\t3\n", ["a"])
    monkeypatch.setattr(delimited, "_TOP_ROWS", (20, 20))  # after these, no row decides
    text = "a,b\n" + '"1,234.",7\n' * 20 + '"1,5","1,234"\n' * 30
    np.testing.assert_array_equal(read(tmp_path, text)[-2:], [[NAN, 1234]] * 2)


def test_points_of_one_file_are_what_those_of_the_others_are(tmp_path: Path) -> None:
    """A month without decimals is written as the other months are."""
    for name, rows in (
        ("may", "950;1.234"),  # 1234, as April says
        ("april", "1,5;2.000"),
        ("june", "2.5;1.234"),  # points are decimal, as this file says itself
    ):
        (tmp_path / f"{name}.csv").write_text(f"price;pay\n{rows}\n{rows}\n")
    expected = {"may": [950, 1234], "april": [1.5, 2000], "june": [2.5, 1.234]}
    for names in (["may", "april"], ["june", "may"], ["april", "may", "april", "june"]):
        source = open_source([tmp_path / f"{name}.csv" for name in dict.fromkeys(names)])
        april = "april" in names and "june" not in names
        for i, name in enumerate(dict.fromkeys(names)):
            told = expected[name] if name != "may" or april else [950, 1.234]
            assert rows_of(source)[2 * i].tolist() == told
    assert rows_of(open_source(tmp_path / "may.csv"))[0].tolist() == [950, 1.234]


def test_rows_below_the_first_ones_do_not_decide_what_points_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "_STRETCH", 64)
    monkeypatch.setattr(delimited, "_TOP_ROWS", (20, 20))
    top = "a;b;c\n" + "1,5;1.234;7\n" * 20
    rows = read(tmp_path, top + "2.345;1.5;1.234\n9;2.345,5;2,5\n" * 30)
    np.testing.assert_array_equal(rows[-2:], [[2345, 1.5, 1234], [9, 2345.5, 2.5]])
    np.testing.assert_array_equal(rows[:20], [[1.5, 1234, 7]] * 20)


def test_later_stretches_have_decimal_commas_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "_STRETCH", 64)
    text = "a;b\n" + "".join(f"{i},5;{i}\n" for i in range(100))
    rows = read(tmp_path, text)
    assert rows[:, 0].tolist() == [i + 0.5 for i in range(100)]


def test_folders_of_parts_are_said_how_to_be_read(tmp_path: Path) -> None:
    part = tmp_path / "ward=east"
    part.mkdir()
    (part / "1.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(InputError, match=r"names of folders say what 'ward' is.*'ward=\*/\*'"):
        open_source(part, None, labels=["ward"])
    part.rename(tmp_path / "east")
    with pytest.raises(InputError, match="by a glob, such as"):
        open_source(tmp_path, None)


@pytest.mark.parametrize("folders", [False, True])
def test_a_column_of_labels_and_values_is_read_as_values_are(folders: bool, tmp_path: Path) -> None:
    folder = tmp_path / "year=2024" if folders else tmp_path
    folder.mkdir(exist_ok=True)
    (folder / "rows.csv").write_text("id;v\n7,5;1,5\n1.234,5;2\n7,5;3\nx;4\n")
    source = open_source(tmp_path, ["v", "id"], labels=["id"])
    expected = [[1.5, 7.5, 0], [2, 1234.5, 1], [3, 7.5, 0], [4, NAN, 2]]
    np.testing.assert_array_equal(rows_of(source), expected)
    assert source.labels[0].named() == {"7,5": 0, "1.234,5": 1, "x": 2}
    if folders:
        source = open_source(tmp_path, ["year", "id"], labels=["id", "year"])
        assert rows_of(source)[:2].tolist() == [[2024, 7.5, 0, 0], [2024, 1234.5, 1, 0]]
