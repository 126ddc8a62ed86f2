"""A better center inside of columns' intervals: the mean of values cut near the one so far."""

from __future__ import annotations

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurer
from prolate.estimators.lengths.norms import fraction_radius, measure_norms
from prolate.estimators.shrink import kept_part
from prolate.queries import ClippedSum

__all__ = ["refine_center", "roughness_of"]

_CUT = 3.5  # spreads at which values are cut for the rough center
_ROUGH = 0.5  # radius of the rough mean, over the square root of d: normal rows' lengths
_LENGTHS, _LONG = 0.1, 0.1  # share of the rows' lengths, and part of them that is clipped


def refine_center(
    curator: Measurer,
    rows: float,
    center: Floats,
    spread: Floats,
    *,
    share: float,
    crowded: bool = False,
) -> tuple[Floats, Floats]:
    """Return the mean of values cut to `_CUT` spreads around `center`, and its noise.

    Cutting each value by itself keeps a column whose center is far off from swallowing
    the others: such a column moves towards its values, and the others hardly notice.

    Where columns are too many for counts in each (`crowded`), the noise may be larger than
    the way to the mean. Then the rows' lengths are measured, not taken from the spreads, and
    the step is shortened by the part of it that is noise (James and Stein).
    """
    radius = np.sqrt(spread.size) + _ROUGH
    if crowded:
        for_lengths = _LENGTHS * share
        share -= for_lengths
        norms = measure_norms(
            curator, center=center, scale=spread, spread=spread, share=for_lengths
        )
        radius = min(radius, max(fraction_radius(norms, _LONG, rows), float(norms.edges[0])))
    reach = _CUT * spread
    query = ClippedSum(center, spread, radius, lower=center - reach, upper=center + reach)
    measured = curator.measure(query, share=share, label="center")
    moved, noise = query.unit * measured.values / rows, query.unit * measured.noise / rows
    if crowded:
        explained = float(np.sum((noise / spread) ** 2))
        moved *= kept_part(float(np.sum((moved / spread) ** 2)), explained)
    return center + np.clip(moved, -reach, reach), noise


def roughness_of(noise: Floats, spread: Floats) -> float:
    """Return how large the noise of all centers together is, in spreads."""
    return float(np.sqrt(np.mean(np.minimum(noise / spread, 10.0) ** 2)))
