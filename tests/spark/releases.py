"""Make one release of every kind on a Spark session of some kind, and print their bits.

    python releases.py WHERE FOLDER [--kill WHOM:NUMBER] [NAME ...]

WHERE is a master such as local[2], ``connect`` for Spark Connect on this machine, or
``here`` for no Spark at all. FOLDER has rows.parquet. In the reading of a partition that has
the NUMBER, the process that reads (``worker``) or its ``executor`` dies. Of the releases, only
those with a NAME are made, if any is given.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import prolate
from prolate.estimators import shares
from prolate.estimators.search import own_rows
from prolate.sources import spark as on_spark
from prolate.sources import spark_files

BUDGET = prolate.Budget(rho=0.5)
LIMITS = ([-10.0, -200.0, 0.0, -1.0, -1e6], [10.0, 200.0, 1e7, 2.0, 1e6])
# A small file makes several tasks, and is searched on a sample, or on rows of its own for each
# question, as a large one would be.
SMALL = [
    (spark_files, "_LEAST", 60_000),
    (shares, "_CHEAP_VALUES", 1),
    (own_rows, "_VALUES", (1, 1 << 26)),
]
FEATURES = ["a", "b.c", "A b", "flag"]


def releases(
    data: Any, only: Collection[str] = (), **engine: Any
) -> Iterator[tuple[str, prolate.Release]]:
    """Yield a release of each kind, or of `only` some, with its name."""
    given: dict[str, Any] = {"budget": BUDGET, "seed": 3, **engine}
    kinds: dict[str, Callable[[], prolate.Release]] = {
        "sum": lambda: prolate.sum(data, bounds=LIMITS, **given),
        "mean": lambda: prolate.mean(data, **given),
        "hidden": lambda: prolate.mean(data, neighbors="add-remove", **given),
        "quantile": lambda: prolate.quantile(data, [0.25, 0.5], columns=["y", "a"], **given),
        "variance": lambda: prolate.variance(data, columns=FEATURES, **given),
        "covariance": lambda: prolate.covariance(data, columns=FEATURES, **given),
        "regression": lambda: (
            prolate.LinearRegression(rho=0.5, seed=3)
            .fit(data, "y", features=FEATURES, **engine)
            .release_
        ),
    }
    for name, make in kinds.items():
        if not only or name in only:
            yield name, make()


def bits(release: prolate.Release) -> str:
    """Return all that is random in a release."""
    parts = [release.estimate, release.noise_std]
    return b"".join(np.asarray(part, dtype="<f8").tobytes() for part in parts).hex()


class Dying:
    """Hand batches through, but die once, in the reading of the given number."""

    def __init__(self, folder: Path, kill: str) -> None:
        folder.mkdir(exist_ok=True)
        self.whom, number = kill.split(":")
        self.number, self.log = int(number), str(folder / "readings")

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        with Path(self.log).open("ab") as log:
            log.write(b".")
            log.flush()
            reading = os.fstat(log.fileno()).st_size
        for batch in batches:
            if reading == self.number:
                victim = os.getpid()
                if self.whom == "executor":  # it started the daemon that started this process
                    daemon = Path(f"/proc/{os.getppid()}/stat").read_text().rsplit(")", 1)[1]
                    victim = int(daemon.split()[1])
                os.kill(victim, signal.SIGKILL)
                time.sleep(60)
            yield batch


def session(where: str) -> Any:
    """Return a session of Spark's."""
    from pyspark.sql import SparkSession

    if where == "connect":
        return SparkSession.builder.remote("local[2]").getOrCreate()
    return (
        SparkSession.builder.master(where)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "OFF")
        .config("spark.executor.memory", "1g")
        .getOrCreate()
    )


def main() -> None:
    """Print a JSON object: from the name of each release to its bits."""
    warnings.simplefilter("ignore")  # of pyspark, about pandas
    parser = argparse.ArgumentParser()
    parser.add_argument("where")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--kill")
    asked = parser.parse_args()
    for module, name, value in SMALL:
        setattr(module, name, value)
    path = asked.folder / "rows.parquet"
    found: dict[str, str] = {}
    if asked.where == "here":
        found = {name: bits(release) for name, release in releases(path, asked.names)}
    else:
        spark = session(asked.where)
        frame = spark.read.parquet(str(path))
        if asked.kill:
            on_spark._FEW = 0  # so few rows would be stored, and read twice only
            names = frame.columns  # Spark cannot hand over columns with dots in their names
            schema = frame.toDF(*(f"c{j}" for j in range(len(names)))).schema
            dying = Dying(asked.folder, asked.kill)
            frame = frame.toDF(*schema.names).mapInArrow(dying, schema).toDF(*names)
        for way, data, engine in [("frame", frame, {}), ("files", path, {"engine": "spark"})]:
            for name, release in releases(data, asked.names, **engine):
                found[f"{name}, {way}"] = bits(release)
        spark.stop()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
