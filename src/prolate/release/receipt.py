"""The receipt of a release: what was measured, and what each measurement cost."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from prolate.budget import Budget
from prolate.errors import ReleaseError
from prolate.release.json import (
    read_fields,
    read_integer,
    read_list,
    read_mapping,
    read_number,
    read_text,
)

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
    questions : tuple of ReceiptEntry
        Where this is all that was asked of separate parts of the rows: the measurements. A row
        is in one part at most, so all of them together cost what the dearest part does, and
        that is this entry's `share` and `mu`; its sensitivity is that of all answers over their
        noise.
    parts : tuple of int
        Of one of these questions: the numbers of the parts.
    """

    label: str
    query: str
    size: int
    share: float
    mu: float
    sensitivity: float
    noise_std: float
    questions: tuple[ReceiptEntry, ...] = ()
    parts: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("share", "mu", "sensitivity", "noise_std"):
            value = float(getattr(self, name))
            object.__setattr__(self, name, value)
            if not (math.isfinite(value) and value >= 0.0):
                raise ReleaseError(
                    f"{name} of measurement {self.label!r} must be finite and not negative."
                )
        object.__setattr__(self, "questions", tuple(self.questions))
        object.__setattr__(self, "parts", tuple(self.parts))
        for one in self.questions:
            if one.questions or not one.parts or min(one.parts) < 0:
                raise ReleaseError(
                    f"{one.label!r} is no measurement of numbered parts of the rows, as all below "
                    f"{self.label!r} must be."
                )
        spent = max(_by_part(self.questions, "mu", math.hypot).values(), default=0.0)
        if spent > self.mu * (1.0 + _OVERSPENT):
            raise ReleaseError(
                f"What one part of the rows was asked adds up to mu = {spent:.6g}, more than the "
                f"mu = {self.mu:.6g} of {self.label!r}; do not use this release."
            )

    @classmethod
    def apart(cls, questions: Sequence[ReceiptEntry]) -> ReceiptEntry:
        """Return the entry of all that was asked of separate parts of the rows."""
        spent = _by_part(questions, "mu", math.hypot)
        mu = max(spent.values())
        return cls(
            label="searches",
            query=f"{len(questions)} measurements of {len(spent)} separate random parts of the "
            "rows, over their noise",
            size=sum(one.size for one in questions),
            share=max(_by_part(questions, "share", _sum).values()),
            mu=mu,
            sensitivity=mu,
            noise_std=1.0,
            questions=tuple(questions),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as plain Python values, ready for JSON."""
        fields = asdict(replace(self, questions=()))
        fields |= {
            "parts": list(self.parts),
            "questions": [one.to_dict() for one in self.questions],
        }
        return {name: value for name, value in fields.items() if value != []}

    @staticmethod
    def from_dict(fields: Any, where: str) -> ReceiptEntry:
        """Return the entry at the place `where` of a stored release, or raise `ReleaseError`."""
        known = read_fields(fields, where, _FIELDS, _OPTIONAL)
        known["questions"] = tuple(
            ReceiptEntry.from_dict(one, f"{where}.questions[{i}]")
            for i, one in enumerate(known.get("questions", ()))
        )
        return ReceiptEntry(**known)


_FIELDS = {
    "label": read_text,
    "query": read_text,
    "size": read_integer,
    "share": read_number,
    "mu": read_number,
    "sensitivity": read_number,
    "noise_std": read_number,
}
_OPTIONAL = {"questions": read_list(read_mapping), "parts": read_list(read_integer)}


def _by_part(
    questions: Iterable[ReceiptEntry], name: str, together: Callable[..., float]
) -> dict[int, float]:
    """Return what a field of the questions that each part was asked comes to."""
    found: defaultdict[int, list[float]] = defaultdict(list)
    for one in questions:
        for part in one.parts:
            found[part].append(getattr(one, name))
    return {part: together(*each) for part, each in found.items()}


def _sum(*numbers: float) -> float:
    return math.fsum(numbers)


def check_paid(receipt: Iterable[ReceiptEntry], budget: Budget) -> None:
    """Raise `ReleaseError` if measurements cost more than the budget."""
    spent = math.hypot(*(entry.mu for entry in receipt))
    if spent > budget.mu * (1.0 + _OVERSPENT):
        raise ReleaseError(
            f"The receipt adds up to mu = {spent:.6g}, more than the budget's "
            f"mu = {budget.mu:.6g}; do not use this release."
        )
