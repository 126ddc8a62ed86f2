"""Sums of clipped rows, and where to clip them, privately.

Two radii come out of one histogram of all rows' norms, which costs a single count.

The *safe* radius holds for any data. Noise grows with the clipping radius C as
2 C sqrt(e) / mu, in units of the scaled rows, where e is the effective number of
coordinates; each row longer than C adds at most its excess to the error. So the sum of
both is least where about 2 sqrt(e) / mu rows are longer than C (half of that under
add-remove); it is the k of PLAN's Theorem 6.1.

The *best* radius is smaller if the rows are symmetric: clipping then only shortens rows,
and dividing by the mean factor E min(1, C / |y|) undoes that. What it costs is the noise,
divided by the factor; the fluctuation of the factors over the rows; and a bias where
direction goes with length. The first two follow from the histogram. For the third, a
*tilted* sum measures the correlation of direction and squared length once, at little cost;
its size, after what its noise explains, is extrapolated linearly in the squared length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Measurer
from prolate.queries import ClippedSum, NormHistogram

__all__ = [
    "Norms",
    "best_radius",
    "clipped_sum",
    "fraction_radius",
    "measure_norms",
    "safe_cell",
]

Floats = NDArray[np.float64]

# Fine where clipping radii usually lie, coarse beyond: every cell adds its noise to the tail.
_RATIOS = np.array(
    [
        *(0.25, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98, 1.0, 1.02, 1.04, 1.07, 1.1),
        *(1.15, 1.2, 1.3, 1.4, 1.6, 1.8, 2.1, 2.5, 3.2, 4.5, 7.0, 12.0, 40.0),
    ]
)
_AGAIN = 3
_FARTHER = 100.0
_CLEARLY = 6.0  # standard deviations


@dataclass(frozen=True, eq=False)
class Norms:
    """A noisy histogram of the scaled rows' norms.

    Attributes
    ----------
    edges : float64 array of shape (m,)
        Between m + 1 cells; multiples of `typical`.
    counts : float64 array of shape (m + 1,)
    noise : float
        Standard deviation of each count.
    typical : float
        The root mean square norm that the columns' private scales promise.
    """

    edges: Floats
    counts: Floats
    noise: float
    typical: float

    @property
    def above(self) -> Floats:
        """Noisy number of rows beyond each edge."""
        return np.asarray(np.cumsum(self.counts[::-1])[::-1][1:])

    def fraction_above(self, radius: float, rows: float) -> float:
        """Return about what part of `rows` rows is longer than `radius`, one of the edges."""
        beyond = float(self.above[int(np.argmin(np.abs(self.edges - radius)))])
        return min(max(beyond / rows, 0.0), 1.0)


def measure_norms(
    curator: Measurer,
    *,
    center: Floats,
    scale: Floats,
    spread: Floats,
    share: float,
    about: Floats | None = None,
) -> Norms:
    """Measure how long the rows (x - center) / scale are, for a share of mu**2.

    If rows are clearly beyond the last edge, a scale was far too small: it is measured again
    with larger edges, at most `_AGAIN` times.
    """
    typical = float(np.sqrt(np.sum((spread / scale) ** 2)))
    for _ in range(1 + _AGAIN):
        edges = typical * _RATIOS
        query = NormHistogram(center, 1.0 / scale, edges, about)
        measured = curator.measure(query, share=share, label="radius")
        norms = Norms(edges, measured.values, measured.std, typical)
        if norms.above[-1] <= _CLEARLY * norms.noise:
            break
        typical *= _FARTHER
    return norms


def safe_cell(norms: Norms, wanted: float) -> int:
    """Return the first edge beyond which there are, surely enough, at most `wanted` rows.

    Noise that pretends to be rows far out is dear: the further, the surer they must be.
    """
    noise = norms.noise * np.sqrt(np.arange(norms.edges.size, 0, -1))
    doubt = 1.0 + 0.5 * np.log2(np.maximum(_RATIOS, 1.0))
    enough = np.flatnonzero(norms.above <= wanted + doubt * noise)
    return int(enough[0]) if enough.size else norms.edges.size - 1


def best_radius(
    norms: Norms,
    safe: int,
    *,
    rows: float,
    clipped: float,
    noise_square: float,
    spread_square: float,
    tilt: tuple[float, float],
    tilt_square: float,
) -> tuple[float, float]:
    """Return the radius of least expected error, and the mean factor of its clipping.

    Parameters
    ----------
    norms : Norms
    safe : int
        Cell of the safe radius, the largest that is tried.
    rows, clipped : float
        Number of rows, and how many of them are taken to be beyond the safe radius.
    noise_square : float
        Squared l2 norm of the noise of a mean with radius 1. This and the next two are in
        any common unit.
    spread_square : float
        Squared l2 norm of the columns' scales.
    tilt : tuple of two float
        Norms between which the tilted sum's weight rises from -1 to 1.
    tilt_square : float
        Squared l2 norm of the mean tilted row, without what noise explains.
    """
    inner = np.sqrt(norms.edges[:-1] * norms.edges[1:])
    length = np.concatenate([[0.5 * norms.edges[0]], inner[:safe], [1.1 * norms.edges[safe]]])
    mass = np.maximum(np.append(norms.counts[: safe + 1], min(clipped, 0.01 * rows)), 0.0)
    mass /= mass.sum()
    square = float(mass @ length**2)
    excess = length**2 - square
    low, high = tilt[0] ** 2, tilt[1] ** 2
    weight = np.clip((2.0 * length**2 - high - low) / (high - low), -1.0, 1.0)
    slope = math.sqrt(tilt_square) / max(float(mass @ (excess * weight)), 1e-300)

    best = (math.inf, float(norms.edges[safe]), 1.0)
    for radius in norms.edges[: safe + 1]:
        factor = np.minimum(1.0, radius / length)
        mean = float(mass @ factor)
        off = 1.0 - factor / mean
        noise = noise_square * (radius / mean) ** 2
        fluctuation = spread_square * float(mass @ (length * off) ** 2) / square / rows
        bias = (slope * float(mass @ (excess * off))) ** 2
        best = min(best, (noise + fluctuation + bias, float(radius), mean))
    return best[1], best[2]


def fraction_radius(norms: Norms, fraction: float, rows: float) -> float:
    """Return the radius that about `fraction` of the rows exceed.

    The noisy number of rows beyond each edge is made to fall, and interpolated.
    """
    above = np.maximum.accumulate(norms.above[::-1])[::-1]
    return float(np.interp(-fraction * rows, -above, norms.edges))


def clipped_sum(
    curator: Measurer,
    center: Floats,
    scale: Floats,
    radius: float,
    *,
    share: float,
    label: str,
    tilt: tuple[float, float] | None = None,
) -> tuple[Floats, Floats]:
    """Return the noisy sum of clipped deviations in the data's unit, and its noise."""
    query = ClippedSum(center, scale, radius, tilt=tilt)
    measured = curator.measure(query, share=share, label=label)
    return query.unit * measured.values, query.unit * measured.std
