"""Numbers of budgets: read, rounded, and written as text that claims no more than they do."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from prolate.errors import BudgetError, shown

__all__ = ["all_digits", "number", "percent", "root_below", "rounded_up"]


def root_below(square: float) -> float:
    """Return the square root, rounded down: its exact square is not above `square`."""
    root = math.sqrt(square)
    return root if Fraction(root) ** 2 <= Fraction(square) else math.nextafter(root, 0.0)


def number(name: str, value: object) -> float:
    """Return a number of a budget as a float, or raise `BudgetError`."""
    try:
        flag = str(getattr(value, "dtype", "")) == "bool"
        if flag or isinstance(value, bool | str | bytes) or getattr(value, "ndim", 0) > 0:
            raise TypeError  # an array of one number is one to some versions of NumPy
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise BudgetError(f"{name} must be a finite number; this one is too large.") from None
    except (TypeError, ValueError):
        raise BudgetError(f"{name} must be a number; got {shown(value)}.") from None


def percent(level: float) -> str:
    """Return a level of confidence, never rounded to certainty.

    Examples
    --------
    >>> percent(0.95), percent(0.9999999), percent(2 / 3)
    ('95%', '99.99999%', '66.6667%')
    """
    short = f"{100.0 * level:.6g}"
    if float(short) < 100.0:
        return f"{short}%"
    return f"{format((100 * Decimal(repr(float(level)))).normalize(), 'f')}%"


def all_digits(value: float) -> str:
    """Return a number as it is read again: in six digits, or in all that it needs.

    Examples
    --------
    >>> all_digits(1.0), all_digits(1e-6), all_digits(1 / 3)
    ('1', '1e-06', '0.3333333333333333')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def rounded_up(value: float) -> str:
    """Return four digits of a number, rounded up, so that what is claimed is true.

    Examples
    --------
    >>> rounded_up(0.236719), rounded_up(0.5), rounded_up(4.8870001)
    ('0.2368', '0.5', '4.888')
    """
    if float(f"{value:.4g}") >= value:
        return f"{value:.4g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - 3)
    return f"{value + 0.5 * unit:.4g}"
