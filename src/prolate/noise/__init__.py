"""Exact integer Gaussian noise from a cryptographic generator."""

from prolate.noise.gaussian import MAX_SCALE, rounded_gaussian
from prolate.noise.randomness import RandomBits, SeededBits, SystemBits, random_bits

__all__ = [
    "MAX_SCALE",
    "RandomBits",
    "SeededBits",
    "SystemBits",
    "random_bits",
    "rounded_gaussian",
]
