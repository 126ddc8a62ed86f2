"""What public numbers alone say about noise: scales, norms, radii and expected errors."""

from prolate.theory import chi2_mixture, clipping, constraint, radii
from prolate.theory.chi2_mixture import ChiSquareMixture
from prolate.theory.clipping import ClippedMean, best_clip, expected_error_curve
from prolate.theory.constraint import ball_scaling
from prolate.theory.radii import exact_radius, optimal_b, radius_table
from prolate.theory.shape import effective_columns, noise_moment, optimal_scale

__all__ = [
    "ChiSquareMixture",
    "ClippedMean",
    "ball_scaling",
    "best_clip",
    "chi2_mixture",
    "clipping",
    "constraint",
    "effective_columns",
    "exact_radius",
    "expected_error_curve",
    "noise_moment",
    "optimal_b",
    "optimal_scale",
    "radii",
    "radius_table",
]
