"""What is asked of a mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from prolate.arrays import Floats
from prolate.theory import RELATIVE

__all__ = ["PLAIN", "Asked", "Clip"]

Clip = float | Literal["auto"]


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of a mean.

    Attributes
    ----------
    error_norm : float
        The p of the l_p error that is to be small, or `RELATIVE`.
    clip : "auto" or float
        ``"auto"`` chooses the radius from measurements; a number is the part of the rows
        that are clipped.
    center, scale : float64 arrays of shape (d,), optional
        Public centers and scales; what is given is not searched.
    rotate : bool
        Whether to look for correlated columns, and to sum along their principal axes,
        where the rows can pay for it and an l_2 error is wanted.
    """

    error_norm: float = 2.0
    clip: Clip = "auto"
    center: Floats | None = None
    scale: Floats | None = None
    rotate: bool = False

    @property
    def relative(self) -> bool:
        """Whether errors count relative to the columns' spreads."""
        return self.error_norm == RELATIVE

    @property
    def given(self) -> bool:
        """Whether a clip, centers or scales are, so that rows are clipped by their length."""
        return self.clip != "auto" or self.center is not None or self.scale is not None


PLAIN = Asked()
"""Nothing but a small l_2 error."""
