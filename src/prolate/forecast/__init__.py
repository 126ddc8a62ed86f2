"""The error to expect, before any data is touched: estimators rehearsed on imagined rows.

`imagined` says what queries would find in normal rows, `rehearsal` runs an estimator on
these answers under a real curator, `question` varies rows and budget, and `forecast` is what
a user calls and gets.
"""

from prolate.forecast.forecast import METHODS, Forecast, expected_error

__all__ = ["METHODS", "Forecast", "expected_error"]
