"""The pre-processing of Kalaja's thesis (2020, sections 3.3 and 3.4) as named steps.

A step turns rows into rows, and says whether it is private. It is not private if it takes
its numbers (means, standard deviations, largest norms) from the rows themselves, as all of
the thesis's experiments do; it is private if it needs none, or if they are given: public, or
released for a price of their own. Whatever the steps do, a method behind a curator clips
rows to the unit ball itself, so a given number that is wrong costs accuracy only.

`kalaja_preprocessing` puts steps together.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats
from prolate.errors import InputError

__all__ = [
    "Clip", "Intercept", "MaximumNorm", "RowNorms", "RowNormsWithTarget", "Rows", "Standardize",
    "Step", "TargetMaximum",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Rows:
    """Features and target on the way through the steps.

    Attributes
    ----------
    x : float64 array of shape (n, k)
    y : float64 array of shape (n,)
    unit : float64 array of shape (n,)
        What a prediction of y must be multiplied by to be in the target's first unit.
    """

    x: Floats
    y: Floats
    unit: Floats

    @classmethod
    def of(cls, x: Floats, y: Floats) -> Rows:
        """Return rows as they come, in the target's own unit."""
        return cls(np.asarray(x, np.float64), np.asarray(y, np.float64), np.ones(len(y)))

    def take(self, index: NDArray[np.intp]) -> Rows:
        """Return some of the rows."""
        return Rows(self.x[index], self.y[index], self.unit[index])

    def over(self, divisor: Floats | float) -> Rows:
        """Return the same features, with the target divided."""
        return Rows(self.x, self.y / divisor, self.unit * divisor)

    def predict(self, theta: Floats, intercept: float = 0.0) -> Floats:
        """Return predictions x @ theta + intercept in the target's first unit; shape (n,)."""
        return np.asarray((self.x @ theta + intercept) * self.unit)


@dataclass(frozen=True, eq=False, kw_only=True)
class Step(ABC):
    """One step of pre-processing.

    Attributes
    ----------
    from_data : bool
        Whether numbers were taken from the rows that it was fitted to.
    """

    name: ClassVar[str]
    from_data: bool = False

    @property
    def complete(self) -> bool:
        """Whether it has all the numbers that it needs."""
        return True

    @property
    def private(self) -> bool:
        """Whether it says nothing about the rows."""
        return self.complete and not self.from_data

    def fit(self, rows: Rows) -> Step:
        """Return the step with the numbers that were not given taken from `rows`."""
        return self if self.complete else replace(self._fitted(rows), from_data=True)

    def _fitted(self, rows: Rows) -> Step:
        return self

    @abstractmethod
    def apply(self, rows: Rows, *, test: bool = False) -> Rows:
        """Return rows of the training set, or of the test set, after the step."""

    def unstandardize(self, theta: Floats, intercept: float) -> tuple[Floats, float]:
        """Return (theta, intercept) for test rows before the step, given those for after it.

        Raises
        ------
        InputError
            If the step is not affine, so that there are none.
        """
        raise InputError(
            f"The step {self.name!r} is not affine, so there are no coefficients in the data's "
            "own units; use the maximum norm, and clip training rows only."
        )

    def _no_numbers(self) -> InputError:
        return InputError(
            f"The step {self.name!r} has no numbers yet; give them, or fit it to rows."
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Columns(Step):
    """A step that needs means and standard deviations of the columns, shape (k,)."""

    center: Floats | None = None
    scale: Floats | None = None

    @property
    def complete(self) -> bool:
        """Whether both are given."""
        return self.center is not None and self.scale is not None

    @property
    def numbers(self) -> tuple[Floats, Floats]:
        """Both; `InputError` if they are neither given nor fitted."""
        if self.center is None or self.scale is None:
            raise self._no_numbers()
        return self.center, self.scale

    def _fitted(self, rows: Rows) -> Step:
        # The deviation of a constant column is not always 0 in floating point.
        constant = np.ptp(rows.x, axis=0) == 0.0
        scale = np.where(constant, 1.0, rows.x.std(axis=0))
        return replace(
            self,
            center=rows.x.mean(axis=0) if self.center is None else self.center,
            scale=scale if self.scale is None else self.scale,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Clip(_Columns):
    """Cut x_j from above at mean_j + c sd_j (3.8), in test rows too if `on_test` (3.9).

    The thesis tries c = 1.3, 1.6, 2 and 3, with means and deviations of the training rows,
    and cuts at the upper end only.
    """

    name = "clip"
    c: float = 2.0
    on_test: bool = False

    def apply(self, rows: Rows, *, test: bool = False) -> Rows:
        """Return min(x, center + c scale), or test rows as they are."""
        center, scale = self.numbers
        if test and not self.on_test:
            return rows
        return replace(rows, x=np.minimum(rows.x, center + self.c * scale))

    def unstandardize(self, theta: Floats, intercept: float) -> tuple[Floats, float]:
        """Return both as they are, unless test rows are clipped."""
        return super().unstandardize(theta, intercept) if self.on_test else (theta, intercept)


@dataclass(frozen=True, eq=False, kw_only=True)
class Standardize(_Columns):
    """(x_j - mean_j) / sd_j; a constant column is centered only."""

    name = "standardize"

    def apply(self, rows: Rows, *, test: bool = False) -> Rows:
        """Return (x - center) / scale."""
        center, scale = self.numbers
        return replace(rows, x=(rows.x - center) / scale)

    def unstandardize(self, theta: Floats, intercept: float) -> tuple[Floats, float]:
        """Return theta / scale, and the intercept less that times the center."""
        center, scale = self.numbers
        raw = theta / scale
        return raw, intercept - math.fsum(raw * center)


@dataclass(frozen=True, eq=False, kw_only=True)
class RowNorms(Step):
    """x / |x|, row by row (3.3), as in Wang (2018): private, and not affine."""

    name = "row norms"

    def apply(self, rows: Rows, *, test: bool = False) -> Rows:
        """Return x / |x|; a row of zeros stays one."""
        return replace(rows, x=rows.x / _norms(rows.x)[:, None])


@dataclass(frozen=True, eq=False, kw_only=True)
class _Largest(Step):
    """A step that needs one number, the largest of some."""

    largest: float | None = None

    @property
    def complete(self) -> bool:
        """Whether it is given."""
        return self.largest is not None

    @property
    def number(self) -> float:
        """The number; `InputError` if it is neither given nor fitted."""
        if self.largest is None:
            raise self._no_numbers()
        return self.largest

    def _fitted(self, rows: Rows) -> Step:
        largest = float(np.max(np.abs(self._of(rows)), initial=0.0))
        return replace(self, largest=largest or 1.0)  # all zero: nothing to divide

    def _of(self, rows: Rows) -> Floats:
        return rows.y


@dataclass(frozen=True, eq=False, kw_only=True)
class RowNormsWithTarget(_Largest):
    """x / |x| and y / |x| / y_max2, y_max2 the largest |y| / |x| (3.4)."""

    name = "row norms with y"

    def apply(self, rows: Rows, *, test: bool = False) -> Rows:
        """Return both over |x|, and y over y_max2 too."""
        norms = _norms(rows.x)
        return replace(rows.over(norms * self.number), x=rows.x / norms[:, None])

    def _of(self, rows: Rows) -> Floats:
        return np.asarray(rows.y / _norms(rows.x))


@dataclass(frozen=True, eq=False, kw_only=True)
class MaximumNorm(_Largest):
    """x / x_max, x_max the largest |x| of the training rows (3.5)."""

    name = "maximum norm"

    def apply(self, rows: Rows, *, test: bool = False) -> Rows:
        """Return x / x_max."""
        return replace(rows, x=rows.x / self.number)

    def unstandardize(self, theta: Floats, intercept: float) -> tuple[Floats, float]:
        """Return theta / x_max, and the intercept."""
        return theta / self.number, intercept

    def _of(self, rows: Rows) -> Floats:
        return np.asarray(np.linalg.norm(rows.x, axis=1))


@dataclass(frozen=True, eq=False, kw_only=True)
class TargetMaximum(_Largest):
    """y / y_max, y_max the largest |y| of the training rows."""

    name = "maximum of y"

    def apply(self, rows: Rows, *, test: bool = False) -> Rows:
        """Return y / y_max."""
        return rows.over(self.number)

    def unstandardize(self, theta: Floats, intercept: float) -> tuple[Floats, float]:
        """Return both times y_max."""
        return theta * self.number, intercept * self.number


@dataclass(frozen=True, eq=False, kw_only=True)
class Intercept(Step):
    """(x, 1) / sqrt 2: a column of ones, and rows of norm 1 stay in the unit ball: private.

    The same as not to divide, and to tell the method that rows have norms up to sqrt 2.
    """

    name = "intercept"

    def apply(self, rows: Rows, *, test: bool = False) -> Rows:
        """Return (x, 1) / sqrt 2."""
        ones = np.ones((rows.x.shape[0], 1))
        return replace(rows, x=np.hstack((rows.x, ones)) / math.sqrt(2.0))

    def unstandardize(self, theta: Floats, intercept: float) -> tuple[Floats, float]:
        """Return all but the last of theta, which goes to the intercept, over sqrt 2."""
        raw = theta / math.sqrt(2.0)
        return raw[:-1], intercept + float(raw[-1])


def _norms(x: Floats) -> Floats:
    """Return the norms of rows, 1 for a row of zeros."""
    norms = np.linalg.norm(x, axis=1)
    return np.where(norms > 0.0, norms, 1.0)
