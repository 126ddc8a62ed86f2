"""The rows that a regression asks, and what the searches found of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from prolate.curator import Curator
from prolate.estimators.lengths.norms import MeasuredNorms
from prolate.estimators.regression.standard import Standard

__all__ = ["StandardRows"]


@dataclass(frozen=True, eq=False)
class StandardRows:
    """Rows that are asked in standard units.

    Attributes
    ----------
    curator : Curator
        Whose last column is the target.
    count : float
        How many rows it has, or a private estimate of it.
    standard : Standard
        Their units.
    norms : MeasuredNorms
        How long the features of these rows are in these units.
    """

    curator: Curator
    count: float
    standard: Standard
    norms: MeasuredNorms

    def sampled(self, sample: Curator) -> StandardRows:
        """Return those of a sample, or all of them."""
        part = sample.fraction
        norms = replace(self.norms, counts=self.norms.counts * part, noise=self.norms.noise * part)
        return replace(self, curator=sample, count=self.count * part, norms=norms)
