"""Where to clip the scaled rows, privately.

Noise grows with the clipping radius C as 2 C sqrt(e) / mu, in units of the scaled rows,
where e is the effective number of coordinates; each row longer than C adds at most its
excess to the error. So the sum of both is least where about 2 sqrt(e) / mu rows are
longer than C (half of that under add-remove), whatever the data look like; it is the
k of PLAN's Theorem 6.1. One histogram of all rows' norms, which costs a single count,
shows where that is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator
from prolate.queries import NormHistogram

__all__ = ["measure_radius"]

# Fine where clipping radii usually lie, coarse beyond: every cell adds its noise to the tail.
_RATIOS = np.array(
    [
        *(0.25, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.6),
        *(1.8, 2.1, 2.5, 3.2, 4.5, 7.0, 12.0, 40.0),
    ]
)


def measure_radius(
    curator: Curator,
    rows: float,
    *,
    center: NDArray[np.float64],
    scale: NDArray[np.float64],
    spread: NDArray[np.float64],
    share: float,
    final_share: float,
    about: NDArray[np.float64] | None = None,
) -> tuple[float, float]:
    """Return the clipping radius, and about what part of the rows is longer.

    Parameters
    ----------
    curator : Curator
    rows : float
        Number of rows, or a private estimate of it.
    center, scale, spread : float64 arrays of shape (d,)
        Rows are (x - center) / scale; `spread` is the columns' private scales.
    share : float
        Share of mu**2 for this.
    final_share : float
        Share of mu**2 that the clipped sum will have.
    about : float64 array of shape (d,), optional
        Where squared deviations are taken from, if these are to be summed.
    """
    typical = float(np.sqrt(np.sum((spread / scale) ** 2)))
    edges = typical * _RATIOS
    query = NormHistogram(center, 1.0 / scale, edges, about)
    measured = curator.measure(query, share=share, label="radius")
    counts = measured.values

    # Rows longer than each edge; sums of k cells have noise sqrt(k) times as large.
    above = np.cumsum(counts[::-1])[::-1][1:]
    noise = measured.std * np.sqrt(np.arange(edges.size, 0, -1))

    weight = scale**2 / np.sum(scale**2)
    effective = np.sum((spread / scale) ** 2) / np.sum(weight * (spread / scale) ** 2)
    sensitivity = 2.0 if curator.neighbors == "replace" else 1.0
    wanted = sensitivity * math.sqrt(effective) / curator.mu_of(final_share)
    # Noise that pretends to be rows far out is dear: the further, the surer they must be.
    doubt = 1.0 + 0.5 * np.log2(np.maximum(_RATIOS, 1.0))
    enough = np.flatnonzero(above <= wanted + doubt * noise)
    place = int(enough[0]) if enough.size else edges.size - 1
    clipped = float(np.clip(above[place] / max(rows, 1.0), 0.0, 1.0))
    return float(edges[place]), clipped
