"""Sources: columns that the names of folders hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import prolate
from prolate.errors import InputError
from prolate.sources import open_source
from prolate.sources.partitions import Part, keys_of

BUDGET = prolate.Budget(epsilon=5, delta=1e-6)
WRITERS = {
    "parquet": pq.write_table,
    "csv": pa.csv.write_csv,
    "arrow": lambda table, path: pa.feather.write_feather(table, path, compression="uncompressed"),
}


def write(folder: Path, *parts: str, ending: str = "parquet", rows: int = 2) -> None:
    """Write a file into each folder: i, i, ... in the i-th."""
    for number, part in enumerate(parts):
        (folder / part).mkdir(parents=True, exist_ok=True)
        table = pa.table({"x": np.full(rows, float(number))})
        WRITERS[ending](table, folder / part / f"p.{ending}")


def rows_of(data: object, columns: list[str], labels: tuple[str, ...] = ()) -> list[list[float]]:
    blocks = list(open_source(data, columns, labels=labels).blocks())
    return np.concatenate(blocks).tolist()


@pytest.mark.parametrize("ending", WRITERS)
def test_folders_are_columns(tmp_path: Path, ending: str) -> None:
    write(tmp_path, "region=EU/year=2023", "region=EU/year=2024", "region=US/year=2024",
          ending=ending)  # fmt: skip
    folders = sorted(str(path) for path in tmp_path.glob("*/*"))
    for data in (
        tmp_path,
        str(tmp_path / "*" / "*" / "*"),
        str(tmp_path / "**" / f"*.{ending}"),
        [f"{folder}/p.{ending}" for folder in folders],
        folders,
    ):
        expected = [[2023.0, 0, 0]] * 2 + [[2024.0, 1, 0]] * 2 + [[2024.0, 2, 1]] * 2
        assert rows_of(data, ["year", "x"], ("region",)) == expected
        assert rows_of(data, ["year"]) == [row[:1] for row in expected]
        source = open_source(data, ["x"], labels=["year"])
        assert next(iter(source.blocks()))[:, 1].tolist() == [0, 0, 1, 1, 1, 1]
        assert source.labels[0].named() == {"2023": 0, "2024": 1}
        assert open_source(data, ["year"]).counted() == 6
        with pytest.raises(InputError, match=r"'region' .* text in the names .*\['x', 'year'\]"):
            open_source(data)
    assert open_source(tmp_path / "region=EU").columns == ("x", "year")
    assert open_source(str(tmp_path / "region=EU" / "y*" / "*")).columns == ("x", "year")
    assert open_source(tmp_path / "region=EU" / "year=2024" / f"p.{ending}").columns == ("x",)


@pytest.mark.parametrize(
    "values",
    [
        ["1", "-2147483648"], ["01", "2147483647"], ["2147483648"], ["+1"], [" 1"], ["1.0"], [""],
        ["true"], ["2024-01-01"], ["b=c"], ["b%20c%2Fd", "x+y"], ["1%32"], ["%", "%zz"],
        ["1", "x"], ["1", "__HIVE_DEFAULT_PARTITION__"], ["x", "%5F_HIVE_DEFAULT_PARTITION__"],
    ],
)  # fmt: skip
def test_types_and_values_are_those_of_arrow(tmp_path: Path, values: list[str]) -> None:
    write(tmp_path, *(f"a%20b={value}" for value in values), rows=1)
    table = pa.dataset.dataset(tmp_path, partitioning="hive").to_table().sort_by("x")
    parts = [Part("p", (f"a%20b={value}",)) for value in values]
    found = [keys["a b"] for keys in keys_of(parts)]
    assert [value.type for value in found] == [table.schema.field("a b").type] * len(found)
    assert [value.as_py() for value in found] == table.column("a b").to_pylist()


def test_the_null_folder_is_a_missing_value(tmp_path: Path) -> None:
    write(tmp_path, "a=1/b=x", "a=__HIVE_DEFAULT_PARTITION__/b=__HIVE_DEFAULT_PARTITION__", rows=1)
    source = open_source(tmp_path, ["a", "x"], labels=["b"])
    np.testing.assert_array_equal(next(source.blocks()), [[1, 0, 0], [np.nan, 1, 1]])
    assert source.labels[0].named() == {"x": 0}
    [keys] = keys_of([Part("p", ("b=__HIVE_DEFAULT_PARTITION__",))])
    assert keys["b"].type == pa.string()


def test_a_folder_called_like_a_missing_value_of_csv_is_none(tmp_path: Path) -> None:
    write(tmp_path, "region=NA", "region=EU", ending="csv")
    found = prolate.count(
        tmp_path, budget=BUDGET, by="region", keys=["NA", "EU"], neighbors="add-remove", seed=0
    )
    assert list(found.keys()) == ["NA", "EU"]
    assert open_source(tmp_path, ["x"], labels=["region"]).labels[0].refusal("NA") is None


def test_a_column_of_the_file_comes_before_one_of_its_folder(tmp_path: Path) -> None:
    write(tmp_path, "x=7/a=1", "x=8/a=2", rows=1)
    source = open_source(tmp_path)
    assert source.columns == ("x", "a")
    assert np.concatenate(list(source.blocks())).tolist() == [[0, 1], [1, 2]]


def test_files_of_other_folders_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "a=1/b=2", "a=2")
    with pytest.raises(InputError, match="folders of the same columns") as caught:
        open_source(tmp_path)
    assert "hold the columns 'a', and" in str(caught.value)
    assert "hold the columns 'a', 'b'" in str(caught.value)
    write(tmp_path / "top", ".", "a=1")
    with pytest.raises(InputError, match="hold no columns"):
        open_source(tmp_path / "top")
    with pytest.raises(InputError, match=r"'a=%E9' .* is not UTF-8"):
        keys_of([Part("p", ("a=%E9",))])


def test_folders_in_folders_of_keys_are_read_and_hidden_ones_are_not(tmp_path: Path) -> None:
    write(tmp_path, "a=1/more", "a=2", "other/deep", "_a=3", ".a=4", "a=1/_tmp", "a=1/.b=1")
    (tmp_path / "a=2" / "up").symlink_to("..")
    source = open_source(tmp_path, ["a"])
    assert next(source.blocks()).ravel().tolist() == [1, 1, 2, 2]


def test_schemas_and_counts_know_the_folders(tmp_path: Path) -> None:
    from prolate.ui.schema import read_schema

    write(tmp_path, "region=EU/year=2023", "region=US/year=2024")
    schema = read_schema(str(tmp_path))
    assert schema.numeric == ("x", "year")
    assert list(schema.other) == ["region"]
    assert prolate.count(tmp_path, budget=BUDGET).estimate.tolist() == [4.0]


def test_means_by_folder(tmp_path: Path) -> None:
    write(tmp_path, "region=EU", "region=US", rows=20_000)
    found = prolate.mean(
        tmp_path, budget=BUDGET, by="region", keys=["EU", "US"], bounds=(0, 10), seed=0
    )
    assert abs(found["EU"].estimate[0]) < 0.1
    assert abs(found["US"].estimate[0] - 1.0) < 0.1


def test_keys_may_be_written_as_folders_are(tmp_path: Path) -> None:
    write(tmp_path, "month=01", "month=10", rows=3000)
    for keys in (["01", "10"], [1, 10]):
        found = prolate.count(tmp_path, budget=BUDGET, by="month", keys=keys, seed=0)
        assert all(abs(found[str(key)].n - 3000) < 30 for key in keys)
