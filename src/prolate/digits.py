"""Numbers as text that claims no more than the numbers do."""

from __future__ import annotations

import math

__all__ = ["all_digits", "rounded_up"]


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
