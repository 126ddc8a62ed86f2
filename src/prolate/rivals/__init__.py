"""Other people's methods, honest copies for comparison, through the same door."""

from prolate.rivals.clipped_gaussian import clipped_gaussian
from prolate.rivals.coinpress import coinpress
from prolate.rivals.iome import iome
from prolate.rivals.plan import plan
from prolate.rivals.plan_binary import plan_binary

__all__ = ["clipped_gaussian", "coinpress", "iome", "plan", "plan_binary"]
