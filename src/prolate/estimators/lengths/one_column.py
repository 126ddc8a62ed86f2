"""A single column: where its bulk is, and how far from there values may be."""

from __future__ import annotations

import math
from dataclasses import dataclass

from prolate.arrays import Floats, Limits
from prolate.curator import Measurer

__all__ = ["ANYWHERE", "OneColumn", "Rooms", "rooms_within"]

Rooms = tuple[float, float]

ANYWHERE: Rooms = (math.inf, math.inf)
"""Rooms of a column without public bounds."""


@dataclass(frozen=True, eq=False)
class OneColumn:
    """A single column that is asked.

    Attributes
    ----------
    curator : Measurer
        Of this column alone.
    rows : float
        How many the curator has.
    center, spread : float64 arrays of shape (1,)
        Of the bulk; spreads are the unit of all distances.
    rooms : tuple of two float
        How far values may be below and above the center, in spreads.
    """

    curator: Measurer
    rows: float
    center: Floats
    spread: Floats
    rooms: Rooms = ANYWHERE


def rooms_within(bounds: Limits | None, center: Floats, spread: Floats, column: int = 0) -> Rooms:
    """Return how far a column's public bounds are below and above its center, in spreads."""
    if bounds is None:
        return ANYWHERE
    lower, upper = (float(each[column]) for each in bounds)
    about, unit = float(center[column]), float(spread[column])
    return max((about - lower) / unit, 0.0), max((upper - about) / unit, 0.0)
