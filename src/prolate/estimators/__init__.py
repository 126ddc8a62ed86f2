"""What to ask of the rows, and what to make of the answers. Never sees a row."""

from prolate.estimators.asked import Asked
from prolate.estimators.covariance import covariance
from prolate.estimators.estimate import Estimate
from prolate.estimators.gaussian_ellipse import elliptical_mean, elliptical_sum
from prolate.estimators.mean import mean
from prolate.estimators.quantile import quantile
from prolate.estimators.sum import bounded_sum
from prolate.estimators.variance import variance
from prolate.estimators.within_bounds import bounded_mean

__all__ = [
    "Asked",
    "Estimate",
    "bounded_mean",
    "bounded_sum",
    "covariance",
    "elliptical_mean",
    "elliptical_sum",
    "mean",
    "quantile",
    "variance",
]
