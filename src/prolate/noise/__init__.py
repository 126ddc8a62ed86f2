"""Exact integer Gaussian noise and exact choices from a cryptographic generator."""

from prolate.noise.gaussian import MAX_SCALE, rounded_gaussian
from prolate.noise.kernels import with_noise
from prolate.noise.numbered import PARTS, NumberedBits
from prolate.noise.randomness import RandomBits, SeededBits, SystemBits, random_bits
from prolate.noise.selection import FAN, LEVELS, Cell, choose_cell, choose_cells, falling_weights

__all__ = [
    "FAN",
    "LEVELS",
    "MAX_SCALE",
    "PARTS",
    "Cell",
    "NumberedBits",
    "RandomBits",
    "SeededBits",
    "SystemBits",
    "choose_cell",
    "choose_cells",
    "falling_weights",
    "random_bits",
    "rounded_gaussian",
    "with_noise",
]
