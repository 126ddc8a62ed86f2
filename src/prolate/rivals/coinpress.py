"""CoinPress (Biswas, Dong, Kamath, Ullman 2020): the multivariate mean, spending what it says.

Given a ball that holds the mean and an upper bound sigma**2 I of the covariance, each step
clips the rows to a ball that holds nearly all of them, takes a noisy mean, and has a smaller
ball around that (their Algorithms 1 and 2). The last step gets 3/4 of rho and the others
share the rest. The constants are those of their code: failure probability 0.01 and the
closer of their two clipping radii.
"""

from __future__ import annotations

import math

import numpy as np

from prolate.arrays import Limits
from prolate.curator import Curator
from prolate.errors import InputError
from prolate.estimators.estimate import Estimate
from prolate.queries import ClippedSum
from prolate.rivals.common import need_replace

__all__ = ["coinpress"]

_BETA = 0.01
_LAST = 0.75


def coinpress(
    curator: Curator,
    *,
    sigma: float | None = None,
    radius: float | None = None,
    steps: int = 3,
) -> Estimate:
    """Return CoinPress's mean of every column.

    Parameters
    ----------
    curator : Curator
        With ``neighbors="replace"``; all of its remaining budget is spent.
    sigma : float, optional
        The largest standard deviation that any column (and any mix of columns, of norm 1)
        may have; by default half of the widest bounds.
    radius : float, optional
        Of a ball around 0 that holds the mean; by default the smallest one that holds the bounds.
    steps : int
        2, 3, 4 or 10 in their experiments.

    Raises
    ------
    InputError
        If `sigma` or `radius` is not given and there are no bounds on every column.
    """
    need_replace(curator, "CoinPress")
    if steps < 1:
        raise InputError(f"steps must be at least 1; got {steps}.")
    d = curator.dimension
    at = np.zeros(d)
    if sigma is None or radius is None:
        lower, upper = _bounds(curator)
        half = 0.5 * upper - 0.5 * lower
        sigma = float(half.max()) if sigma is None else sigma
        at = 0.5 * lower + 0.5 * upper
        radius = float(np.linalg.norm(half)) if radius is None else radius
        sigma, radius = max(sigma, 1e-300), max(radius, 1e-300)
    if not (0.0 < sigma < math.inf and 0.0 < radius < math.inf):
        raise InputError("sigma and radius must be positive and finite.")
    rows = float(curator.public_rows())

    # From here in units of sigma: the covariance is at most I.
    tail = math.sqrt(d + 2.0 * math.sqrt(d * math.log(1 / _BETA)) + 2.0 * math.log(1 / _BETA))
    ball = radius / sigma
    early = (1.0 - _LAST) * curator.remaining / max(steps - 1, 1)
    noise = math.inf
    clip = 0.0
    for step in range(steps):
        # sqrt(ball**2 + 6 ball + tail**2), or ball + tail where that is less
        clip = min(math.hypot(ball + 3.0, math.sqrt(tail**2 - 9.0)), ball + tail)
        query = ClippedSum(at, np.ones(d), clip * sigma)
        share = curator.remaining if step == steps - 1 else early
        measured = curator.measure(query, share=share, label=f"step {step + 1}")
        at = at + query.unit * measured.values / rows
        noise = float(query.unit[0] * measured.std) / rows
        ball = tail * math.sqrt(1.0 / rows + (noise / sigma) ** 2)
    return Estimate(
        value=at,
        noise_std=np.full(d, noise),
        sampling_std=None,
        rows=rows,
        details={"radius": clip * sigma, "sigma": sigma, "steps": steps},
    )


def _bounds(curator: Curator) -> Limits:
    if curator.bounds is None or not all(np.all(np.isfinite(side)) for side in curator.bounds):
        raise InputError(
            "CoinPress needs an upper bound of the standard deviations and a ball that holds "
            "the mean: give bounds on every column, known without looking at the data."
        )
    return curator.bounds
