"""The account of a curator: what is spent of its budget, and for what."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NoReturn

from prolate.errors import BudgetError
from prolate.measurement import Measurement

__all__ = ["Account", "check_share"]


@dataclass(eq=False)
class Account:
    """What a curator, its samples and its copies have spent together, from whichever thread.

    Attributes
    ----------
    charge : callable or None
        Books the whole budget elsewhere; None once that is done.
    spent : Fraction
        Shares of mu**2, added exactly.
    receipt : list of Measurement
        What was measured, in order.
    """

    charge: Callable[[], object] | None
    spent: Fraction = Fraction(0)
    receipt: list[Measurement] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _process: int = field(default_factory=os.getpid)

    def __deepcopy__(self, _memo: object) -> Account:
        """Return itself: two accounts would spend one budget twice."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled, for the same reason."""
        raise BudgetError("A curator cannot be pickled: its copy would spend the budget again.")

    @property
    def remaining(self) -> float:
        """The share that is left, rounded down."""
        left = 1 - self.spent
        value = float(left)
        return value if Fraction(value) <= left else math.nextafter(value, 0.0)

    def spend(self, *shares: float) -> None:
        """Take shares of the budget, all or none, and book the whole of it if it is not yet.

        Raises
        ------
        BudgetError
            If they are more than what is left, or this is the copy of a forked process.
        """
        if os.getpid() != self._process:
            raise BudgetError(
                "A curator cannot be used in a forked process: both copies would spend the budget."
            )
        price = sum(map(Fraction, shares), Fraction(0))
        with self._lock:
            if self.spent + price > 1:
                raise BudgetError(
                    f"This measurement wants {float(price):.6g} of the budget and only "
                    f"{self.remaining:.6g} is left."
                )
            self.spent += price
            self._book()

    def book(self) -> None:
        """Charge the whole budget elsewhere, once."""
        with self._lock:
            self._book()

    def _book(self) -> None:
        if self.charge is not None:
            self.charge()
            self.charge = None


def check_share(share: float) -> None:
    """Raise `BudgetError` unless a share is positive and at most one."""
    if not 0.0 < share <= 1.0:
        raise BudgetError(f"A share must lie in (0, 1]; got {share:g}.")
