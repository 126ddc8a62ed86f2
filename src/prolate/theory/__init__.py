"""What public numbers alone say about noise: scales and expected errors."""

from prolate.theory.shape import effective_columns, noise_moment, optimal_scale

__all__ = ["effective_columns", "noise_moment", "optimal_scale"]
