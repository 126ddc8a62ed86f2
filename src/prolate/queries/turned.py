"""Queries on rows in other coordinates, and on the products of their columns."""

from __future__ import annotations

from dataclasses import dataclass

from prolate.arrays import Floats
from prolate.errors import InputError
from prolate.queries import kernels
from prolate.queries.base import check_vectors
from prolate.queries.mapped import Mapped

__all__ = ["Products", "Turned"]


@dataclass(frozen=True, eq=False)
class Turned(Mapped):
    """`query` asked of (x - center) times a matrix, such as an orthogonal one, or a single column.

    A value that is not finite counts as no deviation from the center.

    Sensitivity. That of `query`: each row is mapped by itself, column after column in
    doubles, in the same way wherever it stands.
    """

    center: Floats
    matrix: Floats

    def __post_init__(self) -> None:
        """Check the shapes."""
        d = self.center.size
        check_vectors(d, center=self.center)
        if self.matrix.shape != (d, self.query.columns):
            raise InputError(
                f"The matrix must be made for {d} columns and the query's {self.query.columns}."
            )

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.center.size

    @property
    def effort(self) -> int:
        """A product for each column of the matrix."""
        return int(self.matrix.shape[1])

    def map(self, rows: Floats) -> Floats:
        """Return the turned rows."""
        return kernels.turn(rows, self.center, self.matrix)

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"{self.query.describe()}, in turned coordinates"


@dataclass(frozen=True, eq=False)
class Products(Mapped):
    """`query` asked of the products z_j z_k, j <= k, of z = (x - center) / scale.

    Row by row of the upper triangle; those with j < k are multiplied by sqrt 2, so that
    the norm of the products is |z|**2. A value that is not finite counts as z_j = 0.

    Sensitivity. That of `query`: each row is mapped by itself.
    """

    center: Floats
    scale: Floats

    def __post_init__(self) -> None:
        """Check the shapes."""
        d = self.center.size
        check_vectors(d, center=self.center, scale=self.scale)
        if self.query.columns != d * (d + 1) // 2:
            raise InputError(f"The query on products must be made for {d * (d + 1) // 2} columns.")

    @property
    def columns(self) -> int:
        """Number of columns before the products."""
        return self.center.size

    @property
    def effort(self) -> int:
        """A product for each column."""
        return self.center.size

    def map(self, rows: Floats) -> Floats:
        """Return the products, (m, d (d + 1) / 2)."""
        return kernels.products(rows, self.center, self.scale)

    def describe(self) -> str:
        """Return one line for the receipt."""
        return f"{self.query.describe()}, of the products of columns"
