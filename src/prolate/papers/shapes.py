"""Figure 6 of PLAN: the shape of Gaussian noise for different scaling parameters.

Two queries, one four times as sensitive as the other, share a budget. Coordinate j is
divided by s_j before noise that is the same in both is added, and multiplied by s_j
afterwards; the sensitivity is then |Delta / s|_2. Nothing is measured here: it is all
theory (Appendix C).
"""

from __future__ import annotations

import numpy as np

from prolate.arrays import Floats
from prolate.papers.measure import Options
from prolate.papers.table import Table
from prolate.theory import noise_moment, optimal_scale

__all__ = ["figure_6", "noise_shape"]

_SENSITIVITY = np.array([4.0, 1.0])
_RHO = 0.5  # mu = 1


def noise_shape(sensitivity: Floats, scale: Floats, rho: float) -> Floats:
    """Return the standard deviation of the noise in every coordinate.

    Examples
    --------
    >>> noise_shape(np.array([3.0, 4.0]), np.ones(2), rho=0.5).tolist()
    [5.0, 5.0]
    """
    return np.asarray(scale * np.linalg.norm(sensitivity / scale) / np.sqrt(2.0 * rho))


def figure_6(_options: Options) -> Table:
    """Compute Figure 6: standard deviations and expected errors of four shapes."""
    shapes = {
        "no scaling": np.ones(2),
        "least first moment (p = 1)": optimal_scale(_SENSITIVITY, 1.0),
        "least second moment (p = 2)": optimal_scale(_SENSITIVITY, 2.0),
        "budget split evenly": _SENSITIVITY,
    }
    rows = []
    for name, scale in shapes.items():
        std = noise_shape(_SENSITIVITY, scale, _RHO)
        errors = noise_moment(std, 1.0), noise_moment(std, 2.0) ** 0.5
        rows.append((name, *map(float, scale), *map(float, std), *errors))
    return Table(
        name="plan-6",
        title="PLAN, Figure 6: shapes of noise, sensitivities 4 and 1, rho = 0.5",
        columns=("scaling", "scale 1", "scale 2", "std 1", "std 2", "mean l1", "rms l2"),
        rows=tuple(rows),
        notes=("Worked out, not measured: --runs and --quick change nothing.",),
    )
