"""What can be computed about noise from public numbers alone: scales, radii, expected errors.

All but `shape` is imported at first use, so that `import prolate` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from prolate.theory.shape import (
    RELATIVE,
    effective_columns,
    error_unit,
    noise_moment,
    optimal_scale,
)

if TYPE_CHECKING:
    from prolate.theory import chi2_mixture, clipping, constraint, radii
    from prolate.theory.chi2_mixture import ChiSquareMixture
    from prolate.theory.clipping import ClippedMean, best_clip
    from prolate.theory.constraint import ball_scaling
    from prolate.theory.radii import exact_radius, optimal_b, radius_table

__all__ = [
    "RELATIVE",
    "ChiSquareMixture",
    "ClippedMean",
    "ball_scaling",
    "best_clip",
    "chi2_mixture",
    "clipping",
    "constraint",
    "effective_columns",
    "error_unit",
    "exact_radius",
    "noise_moment",
    "optimal_b",
    "optimal_scale",
    "radii",
    "radius_table",
]

_MODULES = ("chi2_mixture", "clipping", "constraint", "radii")
_HOMES = {
    "ChiSquareMixture": "chi2_mixture",
    "ClippedMean": "clipping",
    "ball_scaling": "constraint",
    "best_clip": "clipping",
    "exact_radius": "radii",
    "optimal_b": "radii",
    "radius_table": "radii",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES and name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_HOMES.get(name, name)}")
    found = module if name in _MODULES else getattr(module, name)
    globals()[name] = found
    return found
