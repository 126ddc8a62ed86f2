"""What doubles hold, and how far off their sums may be: what the loops and their proofs rest on."""

from __future__ import annotations

import sys

__all__ = ["DOUBT", "EXACT", "LARGEST"]

EXACT = 2.0**53
"""Integers up to this are doubles, so their sums are exact in any order."""

DOUBT = 2.0**-51
"""What each of the sums and products of a square may be off by, in whatever order, relatively."""

LARGEST = sys.float_info.max
"""The largest double that is finite."""
