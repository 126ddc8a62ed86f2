"""What an estimator hands back: numbers made of measurements only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from prolate.arrays import Floats

__all__ = ["Estimate", "FoundMean"]


@dataclass(frozen=True, eq=False)
class Estimate:
    """An estimate, with what is known of its error.

    Attributes
    ----------
    value : float64 array
        The estimate, in the data's unit.
    noise_std : float64 array, same shape, or None
        Standard deviation of the privacy noise alone; None where it cannot be stated.
    sampling_std : float64 array, same shape, or None
        Standard deviation of the sampling error, from private scales.
    rows : float
        Number of rows: exact under replace, noisy under add-remove.
    warnings : tuple of str
        What the user should know.
    details : dict
        Whatever else was found, ready for JSON.
    clipping_std : float64 array, same shape, or None
        An allowance for what clipping may have taken, as a standard deviation.
    error_covariance : float64 array of shape (d, d), or None
        Of a regression: of the errors, sampling and privacy noise together.
    """

    value: Floats
    noise_std: Floats | None
    sampling_std: Floats | None
    rows: float
    warnings: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)
    clipping_std: Floats | None = None
    error_covariance: Floats | None = None

    @property
    def columns_apart(self) -> int:
        """How many columns were a table of their own, with an answer of their own."""
        return int(self.details.get("columns_apart", 0))


@dataclass(frozen=True, eq=False)
class FoundMean:
    """A mean of clipped rows, with what its errors are stated from.

    Attributes
    ----------
    value, noise_std : float64 arrays of shape (d,)
        The mean, and the standard deviation of the privacy noise.
    details : dict
        Whatever else was found, ready for JSON.
    variation : float, or float64 array of shape (d,)
        Standard deviations of the columns, over their spreads.
    clipping_std : float64 array of shape (d,), or None
        An allowance for what clipping may have taken; None if that is not measured.
    guessed : float64 array of shape (d,), or None
        The part of it that rests on a guess.
    hidden : bool
        Whether noise hides how far some values are from the others.
    unseen_rows : float
        How many rows may be anywhere, as far as noise lets see.
    """

    value: Floats
    noise_std: Floats
    details: dict[str, Any]
    variation: float | Floats = 1.0
    clipping_std: Floats | None = None
    guessed: Floats | None = None
    hidden: bool = False
    unseen_rows: float = 0.0
