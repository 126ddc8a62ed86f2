"""The storage of a Spark cluster, in its memory or on its disks, for rows of several passes."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["persisted"]

_JOINED = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"


def persisted(frame: Any, owner: object) -> Any:
    """Return a data frame that is kept once it was computed, for as long as there is `owner`.

    What is lost with a machine is computed again.
    """
    with _few_partitions(frame):
        kept = frame.persist()
    weakref.finalize(owner, _forget, kept).atexit = False
    return kept


@contextmanager
def _few_partitions(frame: Any) -> Iterator[None]:
    """Let Spark join small partitions of what it stores, as it does of what it does not.

    By default a stored shuffle has 200, however little is in them.
    """
    before = None
    with suppress(Exception):  # some clusters let nobody say such things
        conf = frame.sparkSession.conf
        before = conf.get(_JOINED)
        conf.set(_JOINED, "true")
    try:
        yield
    finally:
        if before is not None:
            with suppress(Exception):
                conf.set(_JOINED, before)


def _forget(kept: Any) -> None:
    with suppress(Exception):  # the session may have ended
        kept.unpersist()
