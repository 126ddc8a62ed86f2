"""The steps of Kalaja's thesis put together, and fits that say whether they are private.

>>> wang = Preprocessing((Standardize(), RowNorms(), TargetMaximum()), when="before")
>>> wang.private
False
>>> public = Standardize(center=np.zeros(2), scale=np.ones(2))
>>> Preprocessing((public, RowNorms(), TargetMaximum(largest=10.0))).private
True
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats
from prolate.errors import InputError
from prolate.papers.kalaja_steps import (
    Clip,
    Intercept,
    MaximumNorm,
    RowNorms,
    RowNormsWithTarget,
    Rows,
    Standardize,
    Step,
    TargetMaximum,
)

__all__ = [
    "Clip", "Fit", "Intercept", "MaximumNorm", "Prepared", "Preprocessing", "RowNorms",
    "RowNormsWithTarget", "Rows", "Standardize", "Step", "TargetMaximum", "When",
]  # fmt: skip

Predict = Callable[[Floats], Floats]
Found = tuple[Floats, float] | tuple[Floats, float, Predict]
When = Literal["before", "after"]
_BEFORE = "normalized before the split"


@dataclass(frozen=True, eq=False)
class Prepared:
    """A training and a test set after the steps, and what that gave away.

    Attributes
    ----------
    train, test : Rows
    steps : tuple of Step
        As fitted.
    not_private : tuple of str
        Names of the steps that took numbers from the data, and ``"normalized before the
        split"`` if the test rows were among that data.
    """

    train: Rows
    test: Rows
    steps: tuple[Step, ...]
    not_private: tuple[str, ...]

    @property
    def private(self) -> bool:
        """Whether a private method fitted to `train` is private for the rows behind it."""
        return not self.not_private

    def fit(self, solve: Callable[[Rows], Found], *, private: bool = True) -> Fit:
        """Return the coefficients that a method finds on the training rows.

        Parameters
        ----------
        solve : callable
            From the training rows to theta, shape (k,), and an intercept, and, if the line
            is not what predicts, a function from features (m, k) to predictions (m,).
        private : bool
            Whether the method itself is.
        """
        theta, intercept, *rest = solve(self.train)
        also = () if private else ("method",)
        return Fit(np.asarray(theta), intercept, self, self.not_private + also, *rest)


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients for prepared rows, and whether they are private.

    Attributes
    ----------
    theta : float64 array of shape (k,)
    intercept : float
        Both for rows after all steps; the column of the step `Intercept` is in theta.
    prepared : Prepared
    not_private : tuple of str
        Of `prepared`, and ``"method"`` if the method was not private.
    predict : callable, optional
        From prepared features to predictions, if that is not the line.
    """

    theta: Floats
    intercept: float
    prepared: Prepared
    not_private: tuple[str, ...]
    predict: Predict | None = None

    @property
    def private(self) -> bool:
        """Whether all of it is private."""
        return not self.not_private

    def error(self, target: Floats) -> float:
        """Return the mean squared error on the test rows, whose target is `target`."""
        test = self.prepared.test
        if self.predict is not None:
            predicted = self.predict(test.x) * test.unit
        else:
            predicted = test.predict(self.theta, self.intercept)
        return float(np.mean((target - predicted) ** 2))

    def unstandardized(self) -> tuple[Floats, float]:
        """Return coefficients and intercept for the data's own units (3.6 and 3.7).

        They hold the steps' numbers, and are as private as these.

        Raises
        ------
        InputError
            If a step is not affine.

        Examples
        --------
        >>> x, y = np.array([[1.0], [2.0], [6.0]]), np.array([3.0, 5.0, 13.0])
        >>> steps = (Standardize(), MaximumNorm(), Intercept(), TargetMaximum())
        >>> prepared = Preprocessing(steps).prepare(Rows.of(x, y), np.arange(3), np.arange(3))
        >>> fit = prepared.fit(lambda rows: (np.linalg.lstsq(rows.x, rows.y, rcond=None)[0], 0.0))
        >>> coef, intercept = fit.unstandardized()
        >>> coef.round(9).tolist(), round(intercept, 9), fit.private
        ([2.0], 1.0, False)
        """
        theta, intercept = self.theta, self.intercept
        for step in reversed(self.prepared.steps):
            theta, intercept = step.unstandardize(theta, intercept)
        return theta, intercept


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """Steps in the order in which they run, and which rows their numbers come from.

    Attributes
    ----------
    steps : tuple of Step
    when : {"after", "before"}
        ``"after"`` the split into training and test set: steps are fitted to the training
        rows, and the test rows get the same numbers. ``"before"``: they are fitted to all
        rows, and run on them as if they were one training set, as in Wang (2018).

    Raises
    ------
    InputError
        If `when` is neither.
    """

    steps: tuple[Step, ...] = ()
    when: When = "after"

    def __post_init__(self) -> None:
        """Check when."""
        if self.when not in ("before", "after"):
            raise InputError(f"when must be 'before' or 'after'; got {self.when!r}.")

    @property
    def private(self) -> bool:
        """Whether nothing will be learned from the rows."""
        return all(step.private for step in self.steps)

    def prepare(self, rows: Rows, train: NDArray[np.intp], test: NDArray[np.intp]) -> Prepared:
        """Return training and test rows after the steps.

        Parameters
        ----------
        rows : Rows
            All rows.
        train, test : int array
            Which rows are which.
        """
        before = self.when == "before"
        fitted_to, tried = (rows, rows) if before else (rows.take(train), rows.take(test))
        steps: list[Step] = []
        for step in self.steps:
            fitted = step.fit(fitted_to)
            fitted_to = fitted.apply(fitted_to)
            if not before:
                tried = fitted.apply(tried, test=True)
            steps.append(fitted)
        not_private = tuple(step.name for step in steps if not step.private)
        if before:
            fitted_to, tried = fitted_to.take(train), fitted_to.take(test)
            not_private += (_BEFORE,) if not_private else ()
        return Prepared(fitted_to, tried, tuple(steps), not_private)
