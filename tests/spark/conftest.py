"""A Spark session for all tests of this folder, and where Java is."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture(scope="session")
def java() -> None:
    """Skip where Spark cannot start."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and (Path(home) / "bin" / "java").exists()):
        pytest.skip("needs Java 17 (Debian: openjdk-17-jre-headless)")
    pytest.importorskip("pyspark", reason="needs pyspark")


@pytest.fixture(scope="session")
def surroundings(java: None) -> dict[str, str]:
    """Return an environment in which Spark's workers find this package."""
    paths = [str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("SPARK_")},
        "PYTHONPATH": os.pathsep.join(paths),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "OMP_NUM_THREADS": "1",
    }


@pytest.fixture(scope="session")
def spark(surroundings: dict[str, str]) -> Iterator[Any]:
    """Start Spark on two cores, where a task may fail three times."""
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        for name, value in surroundings.items():
            patch.setenv(name, value)
        session = (
            SparkSession.builder.master("local[2,4]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.log.level", "OFF")
            .config("spark.sql.shuffle.partitions", "2")
            .getOrCreate()
        )
        yield session
        session.stop()
