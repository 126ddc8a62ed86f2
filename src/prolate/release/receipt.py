"""The receipt of a release: what was measured, and what each measurement cost."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from prolate.budget import Budget
from prolate.errors import ReleaseError
from prolate.release.json import read_fields, read_integer, read_number, read_text

__all__ = ["ReceiptEntry", "check_paid"]

_OVERSPENT = 1e-9  # rounding allowed when the receipt is held against the budget


@dataclass(frozen=True)
class ReceiptEntry:
    """One measurement: what was measured, and what it cost.

    Attributes
    ----------
    label : str
        What the measurement was for, such as ``"radius"``.
    query : str
        The query in one line, with its public parameters.
    size : int
        How many integers the query returned.
    share : float
        Its part of the budget, as a fraction of ``mu**2``.
    mu : float
        Its cost in Gaussian differential privacy: ``sensitivity / noise_std``.
    sensitivity, noise_std : float
        The l2 sensitivity and the standard deviation of the noise, both in the
        integer units of the query.
    """

    label: str
    query: str
    size: int
    share: float
    mu: float
    sensitivity: float
    noise_std: float

    def __post_init__(self) -> None:
        for name in ("share", "mu", "sensitivity", "noise_std"):
            value = float(getattr(self, name))
            object.__setattr__(self, name, value)
            if not (math.isfinite(value) and value >= 0.0):
                raise ReleaseError(
                    f"{name} of measurement {self.label!r} must be finite and not negative."
                )

    @staticmethod
    def from_dict(fields: Any, where: str) -> ReceiptEntry:
        """Return the entry at the place `where` of a stored release, or raise `ReleaseError`."""
        return ReceiptEntry(**read_fields(fields, where, _FIELDS))


_FIELDS = {
    "label": read_text,
    "query": read_text,
    "size": read_integer,
    "share": read_number,
    "mu": read_number,
    "sensitivity": read_number,
    "noise_std": read_number,
}


def check_paid(receipt: Iterable[ReceiptEntry], budget: Budget) -> None:
    """Raise `ReleaseError` if measurements cost more than the budget."""
    spent = math.hypot(*(entry.mu for entry in receipt))
    if spent > budget.mu * (1.0 + _OVERSPENT):
        raise ReleaseError(
            f"The receipt adds up to mu = {spent:.6g}, more than the budget's "
            f"mu = {budget.mu:.6g}; do not use this release."
        )
