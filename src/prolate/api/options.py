"""The options of the public functions, for type checkers: what comes back depends on `by`.

Each function has two signatures, without `by` and with it, and a dictionary of its other
options, so that they are written once for both. Its own signature says the same to people.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, Required, TypedDict

from prolate.api.group_columns import Keys
from prolate.budget import Budget, Neighbors
from prolate.curator import Progress
from prolate.ledger import Ledger
from prolate.public_numbers import Bounds, Vector

__all__ = [
    "Columns",
    "CountOptions",
    "CovarianceOptions",
    "Engine",
    "MeanOptions",
    "QuantileOptions",
    "RegressOptions",
    "SumOptions",
    "VarianceOptions",
]

Columns = str | int | Sequence[str | int]
Engine = Literal["spark"]


class _Options(TypedDict, total=False):
    """What all functions take."""

    budget: Required[Budget]
    neighbors: Neighbors
    seed: int | None
    ledger: Ledger | str | os.PathLike[str] | None
    progress: bool | Progress
    engine: Engine | None
    unit: str | int | None
    contribution: Literal["mean", "rows"]
    max_rows: int | None
    keys: Keys | None


class CountOptions(_Options, total=False):
    """Those of `prolate.count`."""

    columns: Columns | None


class QuantileOptions(CountOptions, total=False):
    """Those of `prolate.quantile`."""

    bounds: Bounds | None


class CovarianceOptions(QuantileOptions, total=False):
    """Those of `prolate.covariance`."""

    correlation: bool
    exchangeable: bool


class VarianceOptions(QuantileOptions, total=False):
    """Those of `prolate.variance`."""

    error_norm: float | Literal["relative"]
    exchangeable: bool


class SumOptions(QuantileOptions, total=False):
    """Those of `prolate.sum`."""

    error_norm: float | Literal["relative"]
    method: str
    clip: float | Literal["auto", "optimal"]
    center: Vector | None
    scale: Vector | None


class MeanOptions(SumOptions, total=False):
    """Those of `prolate.mean`."""

    rotation: Literal["auto"] | None
    exchangeable: bool


class RegressOptions(_Options, total=False):
    """Those of `prolate.regress`."""

    features: str | Sequence[str] | None
    bounds: Bounds | None
    method: str
    accounting: str
    fit_intercept: bool
    alpha: float | None
