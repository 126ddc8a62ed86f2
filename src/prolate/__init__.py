"""Prolate: differentially private statistics of tables, honest to the last bit.

>>> import numpy as np
>>> import prolate
>>> rows = np.random.default_rng(0).normal(100, 15, size=(10_000, 3))
>>> r = prolate.mean(rows, budget=prolate.Budget(epsilon=1, delta=1e-6), seed=0)
>>> r.estimate.round().tolist()
[100.0, 100.0, 100.0]
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prolate.api.count import count
    from prolate.api.covariance import covariance
    from prolate.api.mean import mean
    from prolate.api.quantile import quantile
    from prolate.api.regress import regress
    from prolate.api.sum import sum  # noqa: A004  users look for sum
    from prolate.api.variance import variance
    from prolate.budget import Budget
    from prolate.errors import BudgetError, InputError, LedgerError, ProlateError, ReleaseError
    from prolate.forecast import Forecast, expected_error
    from prolate.ledger import Ledger
    from prolate.regression import LinearRegression
    from prolate.release import GroupedRelease, Release

    __version__: str

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

_HOMES = {
    "api": ("count", "covariance", "mean", "quantile", "regress", "sum", "variance"),
    "budget": ("Budget",),
    "errors": ("BudgetError", "InputError", "LedgerError", "ProlateError", "ReleaseError"),
    "forecast": ("Forecast", "expected_error"),
    "ledger": ("Ledger",),
    "regression": ("LinearRegression",),
    "release": ("GroupedRelease", "Release"),
}


def __getattr__(name: str) -> Any:
    """Return what is in another module, which is loaded with this one or at its first use."""
    if name == "__version__":
        return import_module("prolate.release").installed_version()
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"prolate.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# The command (`prolate`, or `python -m prolate`) loads the rest where it can be stopped without a
# word; for all others, the first call would take longer. scikit-learn waits for its first use.
if Path(*getattr(sys, "argv", [])[:1]).stem not in ("prolate", "-m"):
    for _home in _HOMES.keys() - {"regression"}:
        import_module(f"prolate.{_home}")


def __dir__() -> list[str]:
    """Return the names that completion shows, before their first use as well."""
    return sorted(__all__)
