"""The audits of `tests/audit`, of rows on Spark: replay, planted faults, black box, secrets."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from audit.recorder import record
from audit.subjects import PLACE, SUBJECTS
from audit.tape import Tape
from audit.test_black_box import audit
from audit.test_secrets import NUMBERS, secrets_in

import prolate
from prolate import Budget
from prolate.sources import open_source
from prolate.sources.spark import SparkSource

pytestmark = pytest.mark.long

BUDGET = Budget(epsilon=5, delta=1e-6)


def frame(spark: Any, rows: np.ndarray) -> Any:
    """Return rows as a data frame of several partitions."""
    names = [f"x{j}" for j in range(rows.shape[1])]
    return spark.createDataFrame([tuple(map(float, row)) for row in rows], names).repartition(3)


def taped(
    spark: Any, name: str, relation: str, pair: str, patch: pytest.MonkeyPatch
) -> tuple[Tape, Any]:
    subject = SUBJECTS[name]
    rows, other = (frame(spark, side) for side in subject.neighbors(pair, relation))
    gone = PLACE if relation == "add-remove" else None
    options = {"budget": BUDGET, "neighbors": relation, "gone": gone}
    return record(subject.make, rows, other, patch, **options), other


@pytest.mark.parametrize(
    ("name", "relation"),
    [
        ("sum", "replace"),
        ("mean", "add-remove"),
        ("quantile", "replace"),
        ("variance", "add-remove"),
        ("regression", "replace"),
    ],
)
def test_replay_on_spark(spark: Any, name: str, relation: str, monkeypatch) -> None:
    for pair in ("features flip", "wild"):
        tape, other = taped(spark, name, relation, pair, monkeypatch)
        tape.check()
        assert tape.spent > 0
        tape.replay(other, monkeypatch)


def a_task_that_counts_twice(patch: pytest.MonkeyPatch) -> None:
    honest = SparkSource.collect

    def collect(self: SparkSource, query: Any, size: int, progress: Any = None) -> np.ndarray:
        return honest(self, query, size, progress) * 2

    patch.setattr(SparkSource, "collect", collect)


def rows_that_are_looked_at(patch: pytest.MonkeyPatch) -> None:
    honest = prolate.curator.Curator.measure_together

    def peek(self: Any, wanted: Any) -> Any:
        found = honest(self, wanted)
        self._rows.source.collect(wanted[0][0], wanted[0][0].size)
        self._rows.sum(self._rows.fit(wanted[0][0]), "peek")
        return found

    patch.setattr(prolate.curator.Curator, "measure_together", peek)


@pytest.mark.parametrize("fault", [a_task_that_counts_twice, rows_that_are_looked_at])
def test_a_fault_on_spark_is_seen(spark: Any, fault: Any, monkeypatch) -> None:
    fault(monkeypatch)
    with pytest.raises(AssertionError):
        taped(spark, "sum, plain", "replace", "corners", monkeypatch)[0].check()


def test_black_box_on_spark(spark: Any, monkeypatch) -> None:
    def form(_: int, rows: np.ndarray) -> Any:
        return frame(spark, rows).cache()

    budget = Budget(mu=1.5)
    assert audit("sum", "replace", "corners", budget, 40, monkeypatch, form=form) <= 1.0


def test_secrets_stay_in_on_spark(spark: Any, capfd, caplog, recwarn) -> None:
    caplog.set_level(logging.DEBUG)
    rows = frame(spark, NUMBERS[:500])
    told: list[str] = []

    def progress(label: str, *_: object) -> None:
        told.append(label)

    for relation in ("replace", "add-remove"):
        budget = Budget(mu=1)
        release = prolate.mean(rows, budget=budget, neighbors=relation, progress=progress)
        told += [repr(release), str(release.table()), release.to_json(), release.to_html()]
    told += [repr(open_source(rows)), str(vars(open_source(rows)).keys())]
    written = capfd.readouterr()
    told += [written.out, written.err, *(str(warning.message) for warning in recwarn)]
    ours = [entry.getMessage() for entry in caplog.records if not entry.name.startswith("py4j")]
    for text in told + ours:
        assert not secrets_in(text, rows_are_private=False), text[:300]
    assert secrets_in(f"mean {NUMBERS[5, 0]!r}", rows_are_private=False)
