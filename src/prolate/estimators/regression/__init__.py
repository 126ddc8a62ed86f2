"""Linear regression: find the rows, sum their products, draw the line."""

from prolate.estimators.regression.fit import regression

__all__ = ["regression"]
