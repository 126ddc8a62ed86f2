"""Spark sessions of other kinds, each in a process of its own: the same bits everywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from spark import releases
from spark.rows import write_rows

pytestmark = pytest.mark.xdist_group("spark")

SCRIPT = Path(releases.__file__)


def run(surroundings: dict[str, str], *words: object) -> dict[str, str]:
    """Return what `releases.py` prints."""
    done = subprocess.run(
        [sys.executable, SCRIPT, *map(str, words)],
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


def check(surroundings: dict[str, str], folder: Path, where: str, *words: str) -> None:
    """Compare all releases, or those with the names in `words`, with those made here."""
    write_rows(folder)
    here = run(surroundings, "here", folder, *(word for word in words if word.isalpha()))
    found = run(surroundings, where, folder, *words)
    assert here
    assert found == {
        f"{name}, {way}": bits for way in ("frame", "files") for name, bits in here.items()
    }


def test_spark_connect_in_short(surroundings: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("grpc", reason="needs pyspark[connect]")
    check(surroundings, tmp_path, "connect", "sum", "mean")


@pytest.mark.long
def test_spark_connect(surroundings: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("grpc", reason="needs pyspark[connect]")
    check(surroundings, tmp_path, "connect")


@pytest.mark.long
def test_a_cluster_of_two_machines(surroundings: dict[str, str], tmp_path: Path) -> None:
    check(surroundings, tmp_path, "local-cluster[2,1,1024]")


@pytest.mark.long
def test_a_machine_of_a_cluster_dies(surroundings: dict[str, str], tmp_path: Path) -> None:
    check(surroundings, tmp_path, "local-cluster[2,1,1024]", "variance", "--kill=executor:6")
    assert (tmp_path / "readings").stat().st_size > 6


@pytest.mark.long
@pytest.mark.parametrize("number", [1, 12])
def test_a_worker_dies(surroundings: dict[str, str], tmp_path: Path, number: int) -> None:
    check(surroundings, tmp_path, "local[2,4]", "mean", "variance", f"--kill=worker:{number}")
    assert (tmp_path / "readings").stat().st_size > number
