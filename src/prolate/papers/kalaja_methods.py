"""The methods that Kalaja's figures compare, and ours: from training rows to coefficients.

The thesis hides whether a row is there at all, and so do the private methods here, all at
the same (epsilon, delta). The rivals get rows in the unit ball; Prolate gets them as they
are, and finds its own center and scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from prolate.budget import Budget
from prolate.curator import Curator
from prolate.estimators.regression.linear_fit import LinearFit
from prolate.papers.kalaja_preprocessing import Found
from prolate.papers.kalaja_steps import Rows
from prolate.papers.methods import OURS
from prolate.rivals.adassp import adassp
from prolate.rivals.ssp import ssp
from prolate.sources import open_source

__all__ = ["DELTA", "SOLVERS", "Solver"]

DELTA = 1e-6
_RIDGE = 1.0


@dataclass(frozen=True)
class Solver:
    """A method.

    Attributes
    ----------
    solve : callable
        From training rows and epsilon to coefficients and intercept, and to what predicts,
        if that is not the line.
    private : bool
        Whether it is, given rows that say nothing about others.
    noisy : bool
        Whether it depends on epsilon.
    as_is : bool
        Whether it gets the target as it is, not centered and divided.
    cost : float
        About how long it takes, in passes over the rows.
    """

    solve: Callable[[Rows, float], Found]
    private: bool = True
    noisy: bool = True
    as_is: bool = False
    cost: float = 4.0

    def at(self, epsilon: float) -> Callable[[Rows], Found]:
        """Return the method at one budget."""
        return lambda rows: self.solve(rows, epsilon)


def _trivial(rows: Rows, _epsilon: float) -> Found:
    return np.zeros(rows.x.shape[1]), 0.0


def _ridge(rows: Rows, _epsilon: float) -> Found:
    gram = rows.x.T @ rows.x + _RIDGE * np.eye(rows.x.shape[1])
    return np.asarray(np.linalg.solve(gram, rows.x.T @ rows.y)), 0.0


def _ours(rows: Rows, epsilon: float) -> Found:
    from prolate.estimators.regression import regression

    found = regression(_curator(rows, epsilon))
    return found.coef, found.intercept, found.predict


def _ssp(*, fixed: bool) -> Callable[[Rows, float], Found]:
    return lambda rows, epsilon: _line(
        ssp(_curator(rows, epsilon), fit_intercept=False, accounting="basic", fixed=fixed)
    )


def _adassp(*, fixed: bool) -> Callable[[Rows, float], Found]:
    return lambda rows, epsilon: _line(
        adassp(_curator(rows, epsilon), fit_intercept=False, accounting="basic", fixed=fixed)
    )


def _line(found: LinearFit) -> Found:
    return found.coef, found.intercept


def _curator(rows: Rows, epsilon: float) -> Curator:
    source = open_source(np.column_stack((rows.x, rows.y)))
    return Curator(source, Budget(epsilon=epsilon, delta=DELTA), neighbors="add-remove")


SOLVERS = {
    "trivial": Solver(_trivial, noisy=False, cost=0.1),
    "ridge": Solver(_ridge, private=False, noisy=False, cost=0.3),
    "SSP": Solver(_ssp(fixed=False)),
    "SSP fixed": Solver(_ssp(fixed=True)),
    "AdaSSP": Solver(_adassp(fixed=False)),
    "AdaSSP fixed": Solver(_adassp(fixed=True)),
    OURS: Solver(_ours, as_is=True, cost=10.0),
}
