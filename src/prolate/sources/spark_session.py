"""The Spark session to use: the one that is there, or a new one."""

from __future__ import annotations

import os
import sys
from typing import Any

from prolate.errors import InputError

__all__ = ["spark_session"]


def spark_session() -> Any:
    """Return the session in use, or start one, as Spark's own settings say.

    Raises
    ------
    InputError
        If there is no pyspark, or Spark does not start.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError(
            "Spark needs pyspark; install it with: pip install 'prolate[spark]'."
        ) from None
    try:
        return SparkSession.getActiveSession() or _start(SparkSession.builder.appName("prolate"))
    except Exception as error:  # noqa: BLE001 - of many kinds
        raise InputError(
            f"Spark did not start ({type(error).__name__}). It needs Java 17 or newer, or, for "
            "Spark Connect, the server that SPARK_REMOTE names."
        ) from None


def _start(builder: Any) -> Any:
    if not os.environ.get("SPARK_REMOTE"):
        if "SPARK_ENV_LOADED" not in os.environ:  # not by spark-submit: most likely local
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        # What Spark logs of a failed task may quote values of rows.
        builder = builder.config("spark.log.level", "FATAL")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
    return builder.getOrCreate()
