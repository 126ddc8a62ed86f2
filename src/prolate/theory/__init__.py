"""What public numbers alone say about noise: scales and expected errors."""

from prolate.theory.shape import noise_moment, optimal_scale

__all__ = ["noise_moment", "optimal_scale"]
