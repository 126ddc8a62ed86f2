"""The Gaussian mechanism around a known center, with a known clipping radius.

What is left of every private mean when all searching is done. With the true center and the
best radius it is the oracle of isotropic methods; with the true scales too, that of all.
"""

from __future__ import annotations

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Curator
from prolate.errors import InputError
from prolate.estimators.estimate import Estimate
from prolate.queries import ClippedSum
from prolate.rivals.common import need_replace

__all__ = ["clipped_gaussian"]


def clipped_gaussian(
    curator: Curator, *, radius: float, center: Floats | None = None, scale: Floats | None = None
) -> Estimate:
    """Return the mean of rows clipped to a ball, or an ellipsoid, of public shape.

    Parameters
    ----------
    curator : Curator
        With ``neighbors="replace"``; all of its remaining budget is spent.
    radius : float
        Longest norm of (x - center) / scale that is not clipped.
    center, scale : float64 arrays of shape (d,), optional
        Public knowledge; by default zeros and ones.
    """
    need_replace(curator, "The Gaussian mechanism with a clipping radius")
    rows, d = float(curator.public_rows()), curator.dimension
    about = np.zeros(d) if center is None else np.asarray(center, dtype=np.float64)
    shape = np.ones(d) if scale is None else np.asarray(scale, dtype=np.float64)
    if not radius > 0.0 or about.shape != (d,) or shape.shape != (d,):
        raise InputError(f"radius must be positive, and center and scale {d} numbers each.")
    query = ClippedSum(about, shape, radius)
    measured = curator.measure(query, share=curator.remaining, label="mean")
    return Estimate(
        value=about + query.unit * measured.values / rows,
        noise_std=query.unit * measured.std / rows,
        sampling_std=None,
        rows=rows,
        details={"radius": radius},
    )
