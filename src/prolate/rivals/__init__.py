"""Other people's methods, honest copies for comparison, through the same door."""

from prolate.rivals.adassp import adassp
from prolate.rivals.analyze_gauss import analyze_gauss
from prolate.rivals.boosted_adassp import boosted_adassp
from prolate.rivals.clipped_gaussian import clipped_gaussian
from prolate.rivals.coinpress import coinpress
from prolate.rivals.coinpress_covariance import coinpress_covariance
from prolate.rivals.gradient_descent import gradient_descent
from prolate.rivals.iome import iome
from prolate.rivals.plan import plan
from prolate.rivals.plan_binary import plan_binary
from prolate.rivals.ssp import ssp

__all__ = [
    "adassp",
    "analyze_gauss",
    "boosted_adassp",
    "clipped_gaussian",
    "coinpress",
    "coinpress_covariance",
    "gradient_descent",
    "iome",
    "plan",
    "plan_binary",
    "ssp",
]
