"""Other people's methods, honest copies for comparison, through the same door."""

from prolate.rivals.plan import plan

__all__ = ["plan"]
