"""Spark: the same bits as here, from data frames and from files, and errors without rows."""

from __future__ import annotations

import gc
import sys
import traceback
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spark import releases
from spark.rows import ROWS, write_rows

import prolate
from prolate.curator import Curator
from prolate.errors import InputError
from prolate.noise import PARTS, NumberedBits, SeededBits, SystemBits
from prolate.queries import Count, CountBelow, Gram, Pairs
from prolate.sources import Dealing, Source, Thinning, open_source, spark_files
from prolate.sources import spark as on_spark
from prolate.sources.spark_tasks import _PIECE

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SECRET = "secret-4711"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("rows"))


@pytest.fixture(scope="module", autouse=True)
def carried(java: None) -> None:
    """Send this file's code to the workers, which do not find it by its name."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    cloudpickle.register_pickle_by_value(releases)


@pytest.fixture(scope="module")
def frame(spark: Any, path: Path) -> Any:
    return spark.createDataFrame(pq.read_table(path)).repartitionByRange(3, "`b.c`").persist()


@pytest.fixture(scope="module")
def ordered(spark: Any, path: Path) -> Any:
    """Return the file's rows, in the file's order, in several partitions."""
    spark.conf.set("spark.sql.files.maxPartitionBytes", "900k")
    return spark.read.parquet(str(path))


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in releases.SMALL:
        monkeypatch.setattr(module, name, value)


def sources(frame: Any, path: Path, columns: list[str] | None = None) -> list[Source]:
    return [open_source(frame, columns), open_source(path, columns, engine="spark")]


def test_every_release_has_the_bits_that_it_has_here(ordered: Any, path: Path) -> None:
    # The others, and all on sessions of other kinds: test_spark_sessions.py.
    here = dict(releases.releases(path, ["mean", "quantile", "covariance"]))
    assert any(entry.questions for entry in here["mean"].receipt)
    assert any("random sample" in entry.query for entry in here["covariance"].receipt)
    frame = releases.releases(ordered, ["mean", "quantile"])
    files = releases.releases(path, ["covariance"], engine="spark")
    for name, found in chain(frame, files):
        assert releases.bits(found) == releases.bits(here[name]), name


def test_sources_know_their_rows(ordered: Any, path: Path) -> None:
    frame, files = sources(ordered, path, ["y", "a"])
    for source in frame, files:
        assert source.columns == ("y", "a")
        assert source.collect(Count(2), 1).tolist() == [ROWS]
        assert source.n_rows == ROWS
        seen: list[int] = []
        source.collect(Count(2), 1, seen.append)
        assert seen == [ROWS]
    assert len(frame._rows) > 1
    assert min(frame._rows.values()) > 0


def test_a_sample_is_the_same_sample(ordered: Any, path: Path) -> None:
    keep = Thinning(NumberedBits.from_bits(SeededBits(1)), PARTS // 8)
    width = len(open_source(path).columns)
    ask = CountBelow(np.array([1.0, -50.0, 1e6, 0.5, 100.0]))
    here = open_source(path).thinned(keep)
    assert here.n_rows is not None
    assert abs(here.n_rows - ROWS / 8) < 6 * np.sqrt(ROWS / 8)
    for source in sources(ordered, path):
        sample = source.thinned(keep)
        assert sample.n_rows == here.n_rows
        for _ in range(2):
            np.testing.assert_array_equal(sample.collect(ask, width), here.collect(ask, width))
        # A sample of a sample, too: its rows are numbered afresh.
        again = Thinning(NumberedBits.from_bits(SeededBits(2)), PARTS // 2)
        np.testing.assert_array_equal(
            sample.thinned(again).collect(ask, width), here.thinned(again).collect(ask, width)
        )


def test_parts_are_the_same_parts(ordered: Any, path: Path) -> None:
    deal = Dealing(NumberedBits.from_bits(SeededBits(1)), PARTS // 2, 8)
    width = len(open_source(path).columns)
    ask = CountBelow(np.array([1.0, -50.0, 1e6, 0.5, 100.0]))
    here = open_source(path).dealt(deal)
    for source in sources(ordered, path):
        seen: list[int] = []
        there = source.dealt(deal, seen.append)
        assert seen == [here(range(8)).n_rows]
        del source  # what is stored stays as long as the parts do
        for parts in ([3], [7, 0, 2], range(8), [3]):
            some, same = there(parts), here(parts)
            assert some.n_rows == same.n_rows
            np.testing.assert_array_equal(some.collect(ask, width), same.collect(ask, width))


def test_parts_of_rows_in_another_order_are_refused(
    ordered: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a machine has lost is computed again; then rows may come in another order."""
    monkeypatch.setattr(on_spark, "_CELLS", 1)  # few rows would be joined to fewer tasks

    def shuffled(batches: Any) -> Any:
        for batch in batches:
            yield batch.take(np.random.default_rng().permutation(batch.num_rows))

    plain = ordered.select("a")
    for frame, fails in ((plain, False), (plain.mapInArrow(shuffled, plain.schema), True)):
        source = open_source(frame)
        there = source.dealt(Dealing(NumberedBits.from_bits(SeededBits(1)), PARTS, 4))
        ask = CountBelow(np.zeros(1))
        first = there([0]).collect(ask, 1)
        there.args[0]._frame.unpersist(blocking=True)
        if fails:
            with pytest.raises(InputError, match="has not the rows that it had before"):
                there([1]).collect(ask, 1)
        else:
            there([1]).collect(ask, 1)
            assert there([0]).collect(ask, 1) == first


def test_order_and_partitions_do_not_matter_to_a_query(frame: Any, path: Path) -> None:
    ask = CountBelow(np.array([1.0, -50.0, 1e6, 0.5, 100.0]))
    expected = open_source(path).collect(ask, 5)
    for data in frame, frame.repartition(7), frame.coalesce(1):
        np.testing.assert_array_equal(open_source(data).collect(ask, 5), expected)


def test_a_tree_of_sums(ordered: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ["a", "b.c", "A b"]
    here = open_source(path, columns)
    monkeypatch.setattr(on_spark, "_FAN", 2)
    ask = CountBelow(np.array([1.0, -50.0, 1e6]))
    for source in sources(ordered, path, columns):
        source.collect(Count(3), 1)
        assert source.n_rows == ROWS
        np.testing.assert_array_equal(source.collect(ask, 3), here.collect(ask, 3))
    # Vectors of several records are added up on the cluster, whatever the fan.
    monkeypatch.setattr(on_spark, "_TO_DRIVER", 1)
    monkeypatch.setattr(on_spark, "_FAN", 64)
    size = _PIECE + 17
    for source in sources(ordered, path, columns):
        total = source.collect(Wide(size), size)
        np.testing.assert_array_equal(total, np.arange(size) * ROWS)


@pytest.mark.parametrize("unit", [None, "who"])
def test_the_plan_of_a_few_rows_runs_twice_at_most(
    spark: Any, tmp_path: Path, unit: str | None
) -> None:
    log, many = str(tmp_path / "partitions"), 30

    def noted(batches: Any) -> Any:
        with Path(log).open("ab") as file:
            file.write(b".")
        for batch in batches:
            x = batch.column(0).to_numpy()
            yield pa.RecordBatch.from_pydict({"x": x * 1.0, "who": x // 2})

    plan = spark.range(0, 3000, 1, many).mapInArrow(noted, "x double, who long")
    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    source = open_source(plan, ["x"], labels=[unit] if unit else [])
    source = source.persons() if unit else source
    rows = 1500 if unit else 3000
    half = 749 if unit else 1500  # persons' means are .5, 2.5, ...
    for _ in range(4):
        below = source.collect(CountBelow(np.array([1498.0 if unit else 1499.5])), 1)
        assert below.tolist() == [half]
    wide = source.collect(Wide(300), 300)
    np.testing.assert_array_equal(wide, np.arange(300) * rows)
    assert Path(log).stat().st_size <= (1 if unit else 2) * many
    # Nothing of it stays behind.
    del source
    gc.collect()
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == before


def test_small_shuffles_are_stored_in_few_partitions(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
    before = [spark.conf.get(key) for key in (name, "spark.sql.shuffle.partitions")]
    spark.conf.set("spark.sql.shuffle.partitions", "40")
    try:
        frame = spark.range(0, 300, 1, 2).selectExpr("id % 100 as who", "id * 1.5 as x")
        grouped = frame.groupBy("who").avg("x").toDF("who", "x")
        persons = open_source(frame, ["x"], labels=["who"]).persons()
        for source in (open_source(grouped, ["x"]), persons):
            for _ in range(3):
                assert source.collect(Count(1), 1).tolist() == [100]
            assert source._is_stored
            assert len(source._rows) < 5
        assert spark.conf.get(name) == before[0]
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before[1])


def test_many_rows_are_not_stored(ordered: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_spark, "_FEW", 5 * ROWS - 1)
    source = open_source(ordered)
    for _ in range(3):
        assert source.collect(Count(5), 1).tolist() == [ROWS]
    assert not source._is_stored


class Wide:
    """A query with a vector of more than one record."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self, block: np.ndarray) -> np.ndarray:
        return np.arange(self.size) * np.int64(block.shape[0])


def test_a_worker_that_dies_changes_nothing(ordered: Any, path: Path, tmp_path: Path) -> None:
    given = {"bounds": ([0, 0], [5, 5]), "budget": prolate.Budget(mu=1), "seed": 2}
    data = ordered.select("a", "y")
    for number in (1, 4):  # of the pass that counts rows, and of the sum
        dying = releases.Dying(tmp_path / str(number), f"worker:{number}")
        found = prolate.sum(data.mapInArrow(dying, data.schema), **given)
        assert Path(dying.log).stat().st_size > number
        here = prolate.sum(path, columns=["a", "y"], **given)
        assert releases.bits(found) == releases.bits(here)


def test_rows_that_move_between_partitions_end_a_sample(spark: Any, tmp_path: Path) -> None:
    """As many as before in all, but two of them would have one number."""
    moved = str(tmp_path / "moved")

    def rows(batches: Any) -> Any:
        from pyspark import TaskContext

        further = 1 - 2 * TaskContext.get().partitionId() if Path(moved).exists() else 0
        list(batches)
        yield pa.RecordBatch.from_pydict({"x": np.arange(100.0 + further)})

    source = open_source(spark.range(0, 2, 1, 2).mapInArrow(rows, "x double"))
    keep = Thinning(NumberedBits.from_bits(SystemBits()), PARTS // 2)
    assert source.thinned(keep).n_rows < 200
    Path(moved).touch()
    with pytest.raises(InputError, match=r"has not the rows that it had before.*checkpoint"):
        source.thinned(keep)


def test_empty_frames_and_files(spark: Any, tmp_path: Path) -> None:
    table = pa.table({"x": pa.array([], pa.float64()), "z": pa.array([], pa.int8())})
    pq.write_table(table, tmp_path / "none.parquet")
    for source in sources(spark.read.parquet(str(tmp_path)), tmp_path / "none.parquet"):
        assert source.collect(Count(2), 1).tolist() == [0]
        assert source.n_rows == 0
        with pytest.raises(InputError, match="no rows"):
            prolate.mean(source, budget=prolate.Budget(mu=1))
    prolate.mean(source, budget=prolate.Budget(mu=1), neighbors="add-remove", seed=0)


def test_names_and_types_are_those_of_the_frame(spark: Any) -> None:
    text = pa.table({"a.b": [1.0, 2.0], "A.B": [3, 4], "city": [SECRET] * 2, "n": [None, None]})
    data = spark.createDataFrame(text.select(["a.b", "A.B", "city"]))
    with pytest.raises(InputError, match=r"'city' of the Spark DataFrame is of type string") as bad:
        open_source(data)
    assert SECRET not in str(bad.value)
    assert open_source(data, ["A.B", "a.b"]).columns == ("A.B", "a.b")
    below = open_source(data, ["A.B", "a.b"]).collect(CountBelow(np.array([3.5, 2.5])), 2)
    assert below.tolist() == [1, 2]
    with pytest.raises(InputError, match="no column 'a'"):
        open_source(data, ["a"])


def failing(batches: Any) -> Any:
    for _ in batches:
        raise ValueError(SECRET)
    yield


@pytest.mark.parametrize("way", ["a function", "a cast"])
def test_errors_quote_no_rows(spark: Any, capfd: pytest.CaptureFixture[str], way: str) -> None:
    text = spark.createDataFrame(pa.table({"x": ["1.5", SECRET]}))
    bad = (
        text.mapInArrow(failing, "x double")
        if way == "a function"
        else text.selectExpr("cast(x as double) x")
    )
    with pytest.raises(InputError, match="The Spark job failed") as caught:
        prolate.mean(bad, budget=prolate.Budget(mu=1))
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    captured = capfd.readouterr()
    assert SECRET not in captured.out + captured.err


def test_what_a_task_has_to_say_arrives(spark: Any, tmp_path: Path) -> None:
    table = pa.table({"x": np.arange(1000.0)})
    pq.write_table(table, tmp_path / "rows.parquet")
    source = open_source(tmp_path / "rows.parquet", engine="spark")
    pq.write_table(table.slice(1), tmp_path / "rows.parquet")
    with pytest.raises(InputError, match=r"rows\.parquet has changed since it was opened"):
        source.collect(Count(1), 1)
    (tmp_path / "rows.parquet").write_bytes(b"PAR1" + SECRET.encode())
    with pytest.raises(InputError, match=r"cannot be read as Parquet"):
        open_source(tmp_path / "rows.parquet", engine="spark")


def test_a_frame_that_changes_between_passes_is_an_error(spark: Any, tmp_path: Path) -> None:
    counter = str(tmp_path / "passes")

    def growing(batches: Any) -> Any:
        with Path(counter).open("ab") as log:
            log.write(b".")
        rows = Path(counter).stat().st_size
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"x": np.zeros(rows)})

    source = open_source(spark.range(0, 1, 1, 1).mapInArrow(growing, "x double"))
    source.collect(Count(1), 1)
    with pytest.raises(InputError, match="not the rows that it had before"):
        source.collect(Count(1), 1)


def test_rows_stay_where_they_are(frame: Any, path: Path) -> None:
    model = prolate.LinearRegression(rho=1, seed=0).fit(path, "y", features=["a", "flag"])
    with pytest.raises(InputError, match="Rows on Spark stay there"):
        model.predict(frame)
    with pytest.raises(InputError, match="name of the target's column"):
        prolate.LinearRegression().fit(frame, np.zeros(ROWS))
    with pytest.raises(InputError, match="engine goes with the name"):
        prolate.LinearRegression().fit(np.zeros((5, 2)), np.zeros(5), engine="spark")


def test_rows_are_paired_where_they_have_places(
    frame: Any, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = ["a", "flag"]
    pairs = Pairs(CountBelow(np.array([0.1, 0.0])))
    source = open_source(path, columns, engine="spark")  # its odd row groups go in twos
    expected = open_source(path, columns).collect(pairs, 2)
    np.testing.assert_array_equal(source.collect(pairs, 2), expected)
    given = {"budget": prolate.Budget(rho=0.5), "columns": ["flag"]}
    monkeypatch.setattr(spark_files, "_LEAST", 10_000)
    pq.write_table(pa.table({"flag": [True]}), tmp_path / "a.parquet")
    more = pa.table({"flag": np.ones(60_000)})
    pq.write_table(more, tmp_path / "b.parquet", row_group_size=10_000)
    book = prolate.Ledger.create(tmp_path / "a.ledger", limit=prolate.Budget(rho=1))
    for data, engine in [(frame, {}), (tmp_path, {"engine": "spark"})]:
        with pytest.raises(InputError, match="no pairs of rows"):
            prolate.mean(data, ledger=book, method="plan", **given, **engine)
        with pytest.raises(InputError, match="so there are no first rows"):
            prolate.mean(data, ledger=book, exchangeable=True, **given, **engine)
        with pytest.raises(InputError, match="pairs neighboring rows"):
            Curator(open_source(data, ["flag"], **engine), given["budget"]).measure(
                Pairs(Count(1)), share=0.1, label="pairs"
            )
    assert book.spent is None


def test_first_rows_are_the_first_rows(path: Path) -> None:
    given = {"budget": prolate.Budget(rho=0.5), "exchangeable": True, "seed": 1}
    here = prolate.mean(path, **given)
    assert any("of the first" in entry.query for entry in here.receipt)
    assert releases.bits(prolate.mean(path, engine="spark", **given)) == releases.bits(here)
    ask = CountBelow(np.array([1.0, -50.0, 1e6, 0.5, 100.0]))
    for count in (1, 20_000, ROWS + 5):
        first = open_source(path, engine="spark").leading(count)
        assert first.n_rows == min(count, ROWS)
        expected = open_source(path).leading(count).collect(ask, 5)
        np.testing.assert_array_equal(first.collect(ask, 5), expected)


def test_folders_are_columns(java: None, spark: Any, tmp_path: Path) -> None:
    for number, folder in enumerate(["year=2023/ward=a", "year=__HIVE_DEFAULT_PARTITION__/ward=b"]):
        (tmp_path / folder).mkdir(parents=True)
        table = pa.table({"x": np.full(3, float(number))})
        pq.write_table(table, tmp_path / folder / "p.parquet", row_group_size=2)
    ask = CountBelow(np.array([2024.0, 0.5]))
    source = open_source(tmp_path, ["year", "x"], engine="spark")
    here = open_source(tmp_path, ["year", "x"]).collect(ask, 2)
    np.testing.assert_array_equal(source.collect(ask, 2), here)
    alone = open_source(tmp_path, ["year"], engine="spark").collect(CountBelow(ask.points[:1]), 1)
    np.testing.assert_array_equal(alone, here[:1])


def test_other_methods_work(ordered: Any, path: Path) -> None:
    given = {"columns": ["a", "flag"], "seed": 1, "budget": prolate.Budget(rho=0.5)}
    for method in ("gaussian", "coinpress"):
        both = [
            prolate.mean(data, method=method, bounds=([-5, 0], [5, 1]), **given, **engine)
            for data, engine in [(path, {}), (ordered, {}), (path, {"engine": "spark"})]
        ]
        assert len({releases.bits(release) for release in both}) == 1


def test_a_gram_matrix(ordered: Any, path: Path) -> None:
    columns = ["a", "b.c", "A b", "flag"]
    ask = gram(4)
    here = open_source(path, columns).collect(ask, ask.size)
    for source in sources(ordered, path, columns):
        np.testing.assert_array_equal(source.collect(ask, ask.size), here)


def gram(d: int) -> Gram:
    return Gram(np.zeros(d), np.ones(d), radius=1e3)


def test_the_command_reads_on_spark(spark: Any, path: Path, capfd: Any) -> None:
    from prolate.cli import main

    words = ["-c", "a,flag", "--rho", "0.5", "--seed", "4", "--json"]
    assert main(["mean", str(path), *words]) == 0
    here = capfd.readouterr().out
    assert main(["mean", str(path), "--spark", *words]) == 0
    found, kept = (prolate.Release.from_json(text) for text in (capfd.readouterr().out, here))
    assert releases.bits(found) == releases.bits(kept)
    line = ["regress", str(path), "--target", "y", "-f", "a,flag", *words[2:]]
    assert main(line) == 0
    here = capfd.readouterr().out
    assert main([*line, "--spark"]) == 0
    found, kept = (prolate.Release.from_json(text) for text in (capfd.readouterr().out, here))
    assert releases.bits(found) == releases.bits(kept)


def test_rows_of_files_with_text_are_counted(spark: Any, tmp_path: Path) -> None:
    pq.write_table(pa.table({"city": ["a", "b"], "x": [1, 2]}), tmp_path / "a.parquet")
    for neighbors in ("replace", "add-remove"):
        given = {"budget": prolate.Budget(mu=50), "neighbors": neighbors}
        assert round(prolate.count(tmp_path, engine="spark", **given).estimate[0]) == 2


def test_engines_and_kinds(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="engine must be 'spark' or None; got 'dask'"):
        open_source(tmp_path, engine="dask")
    with pytest.raises(InputError, match="paths of Parquet files; got ndarray"):
        open_source(np.zeros((3, 2)), engine="spark")
    (tmp_path / "rows.csv").write_text("x,y\n1,2\n3,4\n")
    with pytest.raises(InputError, match="is not a Parquet file"):
        open_source(tmp_path / "rows.csv", engine="spark")
    with pytest.raises(InputError, match="Prolate reads data frames"):
        open_source(spark)
    stream = spark.readStream.format("rate").load()
    with pytest.raises(InputError, match="streaming"):
        open_source(stream)
