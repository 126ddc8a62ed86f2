"""The public functions: what a user calls to make a release, each in a module of its own name.

All take the same steps, which are in `job`, or for each group in `groups` (`group_columns` says
which groups there are), and end in `signing`. `terms` is what a budget for persons or groups leaves
for each row, and `options` says to type checkers which arguments there are.
"""

from prolate.api.count import count
from prolate.api.covariance import covariance
from prolate.api.mean import mean
from prolate.api.quantile import quantile
from prolate.api.regress import regress
from prolate.api.sum import sum  # noqa: A004  the name that users look for
from prolate.api.variance import variance

__all__ = ["count", "covariance", "mean", "quantile", "regress", "sum", "variance"]
