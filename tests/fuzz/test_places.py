"""Places where rows, releases and ledgers should not be, or cannot be; and very wide tables."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from fuzz import harness
from fuzz.harness import check_sentence, command, limit

import prolate
from prolate import Budget, InputError, Ledger, LedgerError, Release, ReleaseError
from prolate.sources import open_source
from prolate.sources.delimited import DelimitedFile

B = Budget(mu=1)
ROWS = np.random.default_rng(0).normal(size=(50, 2))
ENDINGS = (".csv", ".parquet", ".feather", ".csv.gz")


def store(path: Path) -> Path:
    table = pa.table({"a": ROWS[:, 0], "b": ROWS[:, 1]})
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path)
    elif path.suffix == ".feather":
        pa.feather.write_feather(table, path)
    else:
        path.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in ROWS))
    return path


@pytest.mark.parametrize("ending", ENDINGS)
def test_pipes_and_devices(tmp_path, ending) -> None:
    pipe = tmp_path / f"pipe{ending}"
    os.mkfifo(pipe)
    for device in ("null", "zero", "full", "random"):
        (tmp_path / f"{device}{ending}").symlink_to(f"/dev/{device}")
    for path in tmp_path.iterdir():
        with limit(), pytest.raises(InputError, match="is a pipe or a device"):
            prolate.mean(path, budget=B)
        assert command("count", path, "--mu", 1)[0] == 2
    # In a folder they are no data files, so that there are none.
    with limit(), pytest.raises(InputError, match="no data files directly in it"):
        prolate.mean(tmp_path, budget=B)
    with limit(), pytest.raises(InputError, match="No file matches"):
        prolate.mean(tmp_path / "*", budget=B)
    with limit(), pytest.raises(LedgerError, match="is not a ledger"):
        Ledger(pipe)


@pytest.mark.parametrize("ending", ENDINGS)
def test_links_in_circles_folders_and_nothing(tmp_path, ending) -> None:
    loop, folder = tmp_path / f"loop{ending}", tmp_path / f"folder{ending}"
    loop.symlink_to(loop)
    folder.mkdir()
    dangling = tmp_path / f"dangling{ending}"
    dangling.symlink_to("nowhere")
    for path in (loop, folder, dangling, tmp_path / f"no*{ending}", loop / "x.csv"):
        with limit(), pytest.raises(InputError) as caught:
            prolate.mean(path, budget=B)
        check_sentence(str(caught.value))
    for book in (loop, folder, dangling / "x"):
        with limit(), pytest.raises(prolate.ProlateError) as caught:
            Ledger.create(book, limit=B)
        check_sentence(str(caught.value))
    code, _, said = command("mean", store(tmp_path / "a.csv"), "--mu", 1, "-o", loop)
    assert code == 2
    assert "is not the name of a file" in said or "Too many levels" in said


def test_without_permission(tmp_path) -> None:
    """As another user where this one may read everything."""
    inside = tmp_path / "closed"
    inside.mkdir()
    store(inside / "a.csv")
    shut = store(tmp_path / "shut.csv")
    shut.chmod(0)
    inside.chmod(0)
    code = f"""
import os, sys
from prolate.cli import main
import prolate.cli.entry, prolate.sources.files, prolate.sources.delimited
import pyarrow.csv, pyarrow.parquet
if os.geteuid() == 0:
    os.seteuid(65534)
for path in {[str(shut), str(inside / "a.csv"), str(inside)]!r}:
    assert main(["count", path, "--mu", "1"]) == 2
assert main(["count", {str(shut)!r}, "--mu", "1", "--ledger", {str(inside / "x.ledger")!r}]) == 2
"""
    top = tmp_path
    while top != top.parent:  # so that only what was closed is closed
        if os.geteuid() == 0 and not top.stat().st_mode & 0o005:
            top.chmod(0o755)
        top = top.parent
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(Path(prolate.__file__).parents[1])},
        cwd=tmp_path,
        check=False,
    )
    inside.chmod(0o700)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 4
    assert all(line.startswith("prolate: ") for line in lines), lines
    assert sum("ermission" in line for line in lines) >= 3, lines


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather"])
def test_a_file_that_changes_while_it_is_read(tmp_path, ending) -> None:
    path = store(tmp_path / f"rows{ending}")
    before = path.read_bytes()
    source = open_source(path)
    path.write_bytes(before + b"1,1\n")
    with pytest.raises(InputError, match="has changed since it was opened"):
        list(source.blocks())
    path.write_bytes(before)
    source = open_source(path)
    path.unlink()
    with pytest.raises(InputError, match="cannot be read: No such file"):
        list(source.blocks())
    store(path)
    source = open_source(path)
    path.unlink()
    os.mkfifo(path)
    with limit(), pytest.raises(InputError, match="has changed since it was opened"):
        list(source.blocks())


@pytest.mark.parametrize("when", ["before", "within", "after"])
@pytest.mark.parametrize("reading", [1, 2])
def test_a_file_that_grows(tmp_path, monkeypatch, reading, when) -> None:
    """Either all measurements are of the same rows, or there is no release."""
    path = store(tmp_path / "rows.csv")
    read, readings = DelimitedFile.read, 0

    def grow(moment: str) -> None:
        if (readings, moment) == (reading, when):
            with path.open("a") as file:
                file.write("1,1\n")

    def reads(self, *arguments):
        nonlocal readings
        readings += 1
        grow("before")
        for batch in read(self, *arguments):
            yield batch
            grow("within")
        grow("after")

    monkeypatch.setattr(DelimitedFile, "read", reads)
    with limit(), pytest.raises(InputError, match="has changed since it was opened"):
        prolate.mean(path, budget=B)
    assert readings == reading


def test_nothing_replaces_a_ledger_or_rows(tmp_path) -> None:
    rows, book = store(tmp_path / "rows.csv"), tmp_path / "book"
    Ledger.create(book, limit=Budget(mu=5))
    link = tmp_path / "link.json"
    link.symlink_to(rows)
    before = rows.read_bytes(), book.read_bytes()
    for target in (rows, book, link, store(tmp_path / "other.parquet")):
        code, _, said = command("count", rows, "--mu", 1, "--ledger", book, "-o", target)
        assert code == 2
        assert "which nothing here ever replaces" in said
        with pytest.raises(ReleaseError, match="which nothing here ever replaces"):
            prolate.count(rows, budget=B).to_json(target)
    assert (rows.read_bytes(), book.read_bytes()) == before
    assert command("count", rows, "--mu", 1, "--ledger", rows)[0] == 2
    assert command("ledger", "create", rows, "--mu", 1)[0] == 2
    kept = tmp_path / "kept.json"
    assert command("count", rows, "--mu", 1, "-o", kept)[0] == 0
    assert command("report", kept, "-o", kept)[0] == 2
    assert command("show", kept)[0] == 0


def test_nothing_replaces_rows_behind_a_link_or_what_a_ledger_writes(tmp_path) -> None:
    rows, book = tmp_path / "rows.parquet", tmp_path / "book"
    store(rows).rename(tmp_path / "blob")
    rows.symlink_to("blob")
    Ledger.create(book, limit=Budget(mu=5))
    for name, why in (("blob", "nothing here ever replaces"), ("book-journal", "would delete")):
        code, _, said = command("count", rows, "--mu", 1, "-o", tmp_path / name)
        assert code == 2
        assert why in said
    named = tmp_path / "link.csv"  # what stores by content makes: only the link's name says CSV
    store(tmp_path / "rows.csv").rename(tmp_path / "4f1a")
    named.symlink_to("4f1a")
    code, _, said = command("count", named, "--mu", 1, "-o", named)
    assert code == 2
    assert "nothing here ever replaces" in said
    assert prolate.count(named, budget=B).n == len(ROWS)
    assert prolate.count(rows, budget=B).n == len(ROWS)
    assert not (tmp_path / "book-journal").exists()
    assert command("count", rows, "--mu", 1, "-o", tmp_path / "my-journal")[0] == 0


def test_a_folder_that_is_gone(tmp_path) -> None:
    rows, here = store(tmp_path / "rows.csv"), Path.cwd()
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    try:
        gone.rmdir()
        for words in (["-o", "r.json"], ["--ledger", "book"]):
            assert command("count", rows, "--mu", 1, *words)[0] == 2
        assert command("count", "rows.csv", "--mu", 1)[0] == 2
        assert command("count", rows, "--mu", 1)[0] == 0
    finally:
        os.chdir(here)


def test_what_no_file_can_be_called(tmp_path) -> None:
    for name in ("x" * 300, "\ufeff{}" * 100):
        with pytest.raises(ReleaseError, match="cannot be read: File name too long"):
            Release.from_json(name)
        assert command("show", tmp_path / name)[0] == 2


def test_counts_of_several_columns(tmp_path) -> None:
    release = prolate.count(store(tmp_path / "rows.csv"), budget=B)
    assert (release.estimate.tolist(), release.columns) == ([50.0], ("rows",))
    code, out, _ = command("count", tmp_path / "rows.csv", "--mu", 1)
    assert code == 0
    assert "for the number of rows" in out


def test_releases_are_no_devices() -> None:
    for device in ("/dev/zero", "/dev/null", "/dev/full", "/dev/urandom"):
        with limit():
            code, _, said = command("show", device)
        assert code == 2
        assert "is a device" in said


@pytest.mark.parametrize("kind", ["csv", "parquet", "array"])
def test_very_many_columns(tmp_path, kind) -> None:
    """A hundred thousand (files: in the long run), also where what is wrong is one of them."""
    count = 100_000 if kind == "array" or harness.SCALE > 1 else 5_000
    names = [f"column number {j}" for j in range(count)]
    values = np.arange(2.0 * count).reshape(2, count) % 7
    data: object = values
    if kind == "csv":
        data = tmp_path / "wide.csv"
        lines = [",".join(names), *(",".join(map(str, row)) for row in values)]
        data.write_text("\n".join(lines))
    elif kind == "parquet":
        data = tmp_path / "wide.parquet"
        pa.parquet.write_table(pa.table(dict(zip(names, values.T, strict=True))), data)
    with limit(300):
        release = prolate.sum(data, bounds=(0, 7), budget=Budget(mu=1e4), seed=1)
        assert np.max(np.abs(release.estimate - values.sum(axis=0))) < 2
        assert len(repr(release)) < 10_000
        for wrong in ("column number x", names[:2] * 2, [*names[:5], "no"]):
            with pytest.raises(InputError) as caught:
                prolate.sum(data, columns=wrong, bounds=(0, 7), budget=B)
            check_sentence(str(caught.value))
