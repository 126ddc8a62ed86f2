"""The account of a curator: what is spent of its budget, and for what.

Where rows are dealt to separate parts, by chance and whatever they are, what is measured of some
parts says nothing of the rows of the others. Given to which parts rows go, one row is in one part,
or in none: so all that is measured of parts, however one measurement follows from another, is a
composition of those of that row's part, with others that do not depend on the row. It costs what
the dearest part does (parallel composition; McSherry 2009, Theorem 4). A mixture over how rows are
dealt, which does not depend on them, is no less private; see `prolate.curator.rows`.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NoReturn

from prolate.errors import BudgetError
from prolate.measurement import Measurement

__all__ = ["Account", "OneProcess", "check_share"]

_here = object()  # another one in each forked process; numbers of processes come again


def _forked() -> None:
    global _here  # noqa: PLW0603 - that is what it is
    _here = object()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class OneProcess:
    """The process in which a budget was charged: a forked one has a copy of what it paid for."""

    def __init__(self) -> None:
        self._where = _here, os.getpid()

    def check(self) -> None:
        """Raise `BudgetError` in a process that was forked since."""
        token, number = self._where
        if token is not _here or number != os.getpid():  # a library may fork unseen by Python
            raise BudgetError(
                "A curator cannot be used in a forked process: both copies would spend the budget."
            )


@dataclass(eq=False)
class Apart:
    """What was spent on separate parts.

    Attributes
    ----------
    spent : list of Fraction
        On each, exactly.
    most : Fraction
        On the dearest.
    """

    spent: list[Fraction]
    most: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        self._about = [float(each) for each in self.spent]

    def cheapest(self, count: int) -> list[int]:
        """Return the parts on which least was spent, up to rounding."""
        return sorted(range(len(self.spent)), key=self._about.__getitem__)[:count]

    def spend(self, price: Fraction, parts: Sequence[int]) -> None:
        """Add a price to what was spent on some parts."""
        for part in parts:
            self.spent[part] += price
            self._about[part] = float(self.spent[part])
            self.most = max(self.most, self.spent[part])


@dataclass(eq=False)
class Account:
    """What a curator, its samples and its copies have spent together, from whichever thread.

    Attributes
    ----------
    charge : callable or None
        Books the whole budget elsewhere; None once that is done.
    spent : Fraction
        Shares of mu**2, added exactly, for what was measured of all rows, or of samples of them.
    apart : list of Apart
        For each time that rows were dealt to separate parts, what was spent on these.
    receipt : list of Measurement
        What was measured, in order.
    process : OneProcess
    """

    charge: Callable[[], object] | None
    spent: Fraction = Fraction(0)
    apart: list[Apart] = field(default_factory=list)
    receipt: list[Measurement] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    process: OneProcess = field(default_factory=OneProcess)

    def __deepcopy__(self, _memo: object) -> Account:
        """Return itself: two accounts would spend one budget twice."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled, for the same reason."""
        raise BudgetError("A curator cannot be pickled: its copy would spend the budget again.")

    @property
    def remaining(self) -> float:
        """The share that is left, rounded down."""
        left = 1 - self._price
        value = float(left)
        return value if Fraction(value) <= left else math.nextafter(value, 0.0)

    @property
    def _price(self) -> Fraction:
        return self.spent + sum((each.most for each in self.apart), Fraction(0))

    def deal(self, parts: int) -> int:
        """Return the number of an account of so many separate parts, on which nothing is spent."""
        with self._lock:
            self.apart.append(Apart([Fraction(0)] * parts))
            return len(self.apart) - 1

    def spend(self, *shares: float) -> None:
        """Take shares of the budget, all or none, and book the whole of it if it is not yet.

        Raises
        ------
        BudgetError
            If they are more than what is left, or this is the copy of a forked process.
        """
        price = self._priced(shares)
        with self._lock:
            self._check(price, price)
            self.spent += price
            self._book()

    def spend_apart(self, dealt: int, count: int, *shares: float) -> tuple[int, ...]:
        """Take shares for what is measured of separate parts; return which parts these are.

        Parameters
        ----------
        dealt : int
            From `deal`.
        count : int
            How many parts: those on which least was spent.
        shares : float

        Raises
        ------
        BudgetError
            If they are more than what is left, or this is the copy of a forked process.
        """
        price = self._priced(shares)
        with self._lock:
            apart = self.apart[dealt]
            parts = apart.cheapest(count)
            then = max(apart.spent[part] for part in parts) + price
            self._check(price, then - apart.most)
            apart.spend(price, parts)
            self._book()
        return tuple(sorted(parts))

    def _priced(self, shares: Sequence[float]) -> Fraction:
        self.process.check()
        return sum(map(Fraction, shares), Fraction(0))

    def _check(self, price: Fraction, more: Fraction) -> None:
        """Raise `BudgetError` if a measurement costs more than what is left."""
        if self._price + max(more, Fraction(0)) > 1:
            raise BudgetError(
                f"This measurement wants {float(price):.6g} of the budget and only "
                f"{self.remaining:.6g} is left."
            )

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
