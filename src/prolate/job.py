"""What every statistic does in the same way: open the rows, charge, measure, sign the release."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from prolate.arguments import Bounds, check_budget, read_bounds
from prolate.budget import Budget, Neighbors
from prolate.curator import Curator, Progress
from prolate.errors import InputError
from prolate.estimators import Estimate
from prolate.ledger import Ledger
from prolate.release import ReceiptEntry, Release
from prolate.sources import open_source

__all__ = ["Columns", "Job"]

Columns = str | int | Sequence[str | int]


@dataclass(frozen=True, kw_only=True)
class Job:
    """One statistic, from checked arguments to a signed release.

    Attributes
    ----------
    statistic, method : str
        Their names, for the release.
    error_norm : float
        The p of the l_p error that is to be small.
    estimate : callable
        What to ask and what to make of the answers.
    needs_bounds : bool
        Whether every column needs public bounds.
    needs_zcdp : bool
        Whether a step is not Gaussian, so that the release is charged, and stated, in rho.
    """

    statistic: str
    method: str
    error_norm: float
    estimate: Callable[[Curator], Estimate]
    needs_bounds: bool = False
    needs_zcdp: bool = False

    def release(
        self,
        data: object,
        *,
        columns: Columns | None,
        bounds: Bounds | None,
        budget: Budget,
        neighbors: Neighbors,
        seed: int | None,
        ledger: Ledger | str | os.PathLike[str] | None,
        progress: bool | Progress,
    ) -> Release:
        """Open the rows, charge, measure, estimate and sign; arguments as for `prolate.mean`.

        Raises
        ------
        InputError, BudgetError
            If an argument, the schema or the budget will not do; never because of a value.
        LedgerError
            If the ledger refuses.
        """
        price = check_budget(budget)
        if self.needs_zcdp:
            price = price.for_zcdp()
        source = open_source(data, columns)
        limits = read_bounds(bounds, source.columns, required=self.needs_bounds)
        book = Ledger(ledger) if isinstance(ledger, str | os.PathLike) else ledger
        label = f"{self.statistic} of {len(source.columns)} columns"
        with _reporter(progress) as report:
            curator = Curator(
                source,
                price,
                neighbors=neighbors,
                bounds=limits,
                seed=seed,
                charge=None if book is None else lambda: book.charge(price, label),
                progress=report,
            )
            if neighbors == "replace" and curator.public_rows() == 0:
                raise InputError("The data has no rows; there is nothing to release.")
            found = self.estimate(curator)
        return self.sign(curator, found, price)

    def sign(self, curator: Curator, found: Estimate, price: Budget) -> Release:
        """Return the release of what was found: with its price, receipt and noise."""
        return Release(
            statistic=self.statistic,
            estimate=_finite(found.value),
            columns=curator.columns,
            noise_std=_finite(found.noise_std),
            sampling_std=None if found.sampling_std is None else _finite(found.sampling_std),
            n=found.rows,
            budget=price,
            neighbors=curator.neighbors,
            method=self.method,
            error_norm=self.error_norm,
            receipt=tuple(
                ReceiptEntry(
                    label=m.label,
                    query=m.query,
                    size=m.values.size,
                    share=m.share,
                    mu=m.mu,
                    sensitivity=m.sensitivity,
                    noise_std=m.std,
                )
                for m in curator.receipt
            ),
            warnings=found.warnings,
            private=curator.private,
            details=found.details,
        )


@contextmanager
def _reporter(progress: bool | Progress) -> Iterator[Progress | None]:
    if callable(progress):
        yield progress
    elif progress:
        from prolate.terminal import progress_bar

        with progress_bar() as bar:
            yield cast("Progress", bar) if callable(bar) else None
    else:
        yield None


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `values` cut to what a float can hold: noise may lead past the largest one."""
    largest = float(np.finfo(np.float64).max)
    return np.nan_to_num(values, nan=0.0, posinf=largest, neginf=-largest)
