"""Other people's methods, honest copies for comparison, through the same door."""

from prolate.rivals.adassp import adassp
from prolate.rivals.boosted_adassp import boosted_adassp
from prolate.rivals.clipped_gaussian import clipped_gaussian
from prolate.rivals.coinpress import coinpress
from prolate.rivals.gradient_descent import gradient_descent
from prolate.rivals.iome import iome
from prolate.rivals.plan import plan
from prolate.rivals.plan_binary import plan_binary
from prolate.rivals.ssp import ssp

__all__ = [
    "adassp",
    "boosted_adassp",
    "clipped_gaussian",
    "coinpress",
    "gradient_descent",
    "iome",
    "plan",
    "plan_binary",
    "ssp",
]
