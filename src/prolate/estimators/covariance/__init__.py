"""The covariance matrix: whiten by rough rounds, measure, undo the clip, take off the noise."""

from prolate.estimators.covariance.covariance import covariance

__all__ = ["covariance"]
