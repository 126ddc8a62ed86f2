"""Prolate: differentially private statistics of tables, honest to the last bit.

>>> import numpy as np
>>> import prolate
>>> rows = np.random.default_rng(0).normal(100, 15, size=(10_000, 3))
>>> r = prolate.mean(rows, budget=prolate.Budget(epsilon=1, delta=1e-6), seed=0)
>>> r.estimate.round().tolist()
[100.0, 100.0, 100.0]
"""

from typing import TYPE_CHECKING, Any

from prolate.api import (
    count,
    covariance,
    mean,
    quantile,
    regress,
    sum,  # noqa: A004  users look for sum
    variance,
)
from prolate.budget import Budget
from prolate.errors import BudgetError, InputError, LedgerError, ProlateError, ReleaseError
from prolate.forecast import Forecast, expected_error
from prolate.ledger import Ledger
from prolate.release import GroupedRelease, Release, installed_version

if TYPE_CHECKING:
    from prolate.regression import LinearRegression

__all__ = [
    "Budget",
    "BudgetError",
    "Forecast",
    "GroupedRelease",
    "InputError",
    "Ledger",
    "LedgerError",
    "LinearRegression",
    "ProlateError",
    "Release",
    "ReleaseError",
    "__version__",
    "count",
    "covariance",
    "expected_error",
    "mean",
    "quantile",
    "regress",
    "sum",
    "variance",
]

__version__ = installed_version()


def __getattr__(name: str) -> Any:
    """Load `LinearRegression` at its first use, because it imports scikit-learn."""
    if name == "LinearRegression":
        from prolate.regression import LinearRegression

        return LinearRegression
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the names that completion shows, `LinearRegression` before its first use as well."""
    return sorted({*globals(), *__all__})
