"""The door: the only place where rows and results meet.

A curator holds a source of rows and a budget. `Curator.measure` charges a share of the
budget, then adds the query up over the rows, then adds exact Gaussian noise, and writes
the receipt. Estimators see a curator and the measurements that it returns; they never
see rows, nor a sum without noise.

Guarantee. A measurement with l2 sensitivity D and noise scale s is D/s-GDP, and the
squares of mu add up over adaptively chosen measurements (Dong, Roth, Su 2019,
Corollary 2). Measurement i may spend mu_i**2 = share_i mu**2; the shares are added as
exact fractions and never exceed one; and s is the smallest integer with
s**2 mu_i**2 >= D**2, compared as exact fractions. So the release is mu-GDP with no
rounding error in the accounting.

`Curator.select` is the exponential mechanism instead, and asks for a budget in zCDP
(`Budget.for_zcdp`): its share is one of rho = mu**2 / 2, which adds up in the same way, and
the release is then rho-zCDP, not mu-GDP.
"""

from __future__ import annotations

import copy
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from prolate.budget import Budget, Neighbors
from prolate.errors import BudgetError, InputError
from prolate.measurement import Measurement, Measurer, Progress, Searcher
from prolate.noise import (
    MAX_SCALE,
    Cell,
    NumberedBits,
    choose_cell,
    choose_cells,
    falling_weights,
    random_bits,
    rounded_gaussian,
)
from prolate.queries import Count, Cut, Query, Ranks, Together
from prolate.sources import Source, Thinning
from prolate.sources.threads import thread_count

__all__ = ["Curator", "Measurement", "Measurer", "Progress", "Searcher"]

_FINE = 34  # steps of 2**-33, or noise of about 2**33 steps: far below anything that matters


@dataclass
class _Account:
    """What a curator, its samples and its copies have spent together, from whichever thread."""

    spent: Fraction
    receipt: list[Measurement]
    charge: Callable[[], object] | None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __deepcopy__(self, _memo: object) -> _Account:
        """Return itself: two accounts would spend one budget twice."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled, for the same reason."""
        raise BudgetError("A curator cannot be pickled: its copy would spend the budget again.")

    def book(self) -> None:
        """Charge the whole budget elsewhere, once; whoever calls holds the lock."""
        if self.charge is not None:
            self.charge()
            self.charge = None


class Curator:
    """Rows and a budget, behind one door.

    Parameters
    ----------
    source : Source
        The rows.
    budget : Budget
        What all measurements together may spend; its `mu`.
    neighbors : {"replace", "add-remove"}
        ``"replace"``: the number of rows is public.
    bounds : (lower, upper), optional
        Public bounds, float64 arrays of shape (d,), -inf and inf where there are none.
        Every query sees values cut to them.
    seed : int, optional
        Makes the noise repeatable, and the release not private.
    charge : callable, optional
        Called once, before anything private is read: books the whole budget elsewhere. What
        may be read before is the number of rows, where it is public.
    progress : callable, optional
        Called as rows are read.
    exchangeable : bool
        Whether the first rows are as good a sample as any, so that they are searched where
        otherwise a random sample is.
    """

    def __init__(
        self,
        source: Source,
        budget: Budget,
        *,
        neighbors: Neighbors = "replace",
        bounds: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
        seed: int | None = None,
        charge: Callable[[], object] | None = None,
        progress: Progress | None = None,
        exchangeable: bool = False,
    ) -> None:
        if neighbors not in ("replace", "add-remove"):
            raise InputError(f"neighbors must be 'replace' or 'add-remove'; got {neighbors!r}.")
        self._source = source
        self._bits = random_bits(seed)
        self._progress = progress
        self._threads = thread_count()
        self._mu_squared = Fraction(budget.mu) ** 2
        self._account = _Account(Fraction(0), [], charge)
        self._rows: int | None = None
        self._fraction = 1.0
        self._exchangeable, self._leading = exchangeable, False
        self._bounds = bounds
        self.budget = budget
        self.neighbors: Neighbors = neighbors

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self._source.columns

    @property
    def dimension(self) -> int:
        """Number of columns d."""
        return len(self._source.columns)

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Public bounds, float64 arrays of shape (d,), if there are any."""
        return self._bounds

    @property
    def private(self) -> bool:
        """Whether the noise comes from the system's generator."""
        return self._bits.private

    @property
    def remaining(self) -> float:
        """The share of mu**2 that is left, rounded down."""
        left = 1 - self._account.spent
        value = float(left)
        return value if Fraction(value) <= left else math.nextafter(value, 0.0)

    @property
    def receipt(self) -> tuple[Measurement, ...]:
        """Every measurement so far, in order."""
        return tuple(self._account.receipt)

    def public_rows(self) -> int:
        """Return the number of rows, which is public under ``"replace"`` only."""
        if self.neighbors != "replace" or self._leading:
            raise InputError("The number of rows is private under neighbors='add-remove'.")
        if self._rows is None:
            rows = self._source.n_rows
            self._rows = int(self._sum(Count(self.dimension), "rows")[0]) if rows is None else rows
        return self._rows

    def mu_of(self, share: float) -> float:
        """Return the mu that `share` of the budget makes."""
        return math.sqrt(share) * self.budget.mu

    def measure(self, query: Query, *, share: float, label: str) -> Measurement:
        """Charge `share` of mu**2, then sum `query` over the rows and add noise.

        Parameters
        ----------
        query : Query
            What to ask.
        share : float
            In (0, 1]; all shares together at most 1.
        label : str
            What it is for; goes into the receipt.

        Returns
        -------
        Measurement

        Raises
        ------
        BudgetError
            If the share is not positive, or more than what is left.
        InputError
            If the query does not fit the columns or the neighbor relation.
        """
        return self.measure_together([(query, share, label)])[0]

    def measure_together(
        self, wanted: Sequence[tuple[Query, float, str]]
    ) -> tuple[Measurement, ...]:
        """Measure several queries in one pass over the rows; see `measure`.

        Parameters
        ----------
        wanted : sequence of (query, share, label)

        Returns
        -------
        tuple of Measurement

        Raises
        ------
        BudgetError, InputError
            As for `measure`; then nothing is measured.
        """
        queries = [self._fit(query) for query, _, _ in wanted]
        squares = [self._sensitivity_squared(query) for query in queries]
        shares = [share for _, share, _ in wanted]
        scales = [
            self._noise_scale(square, share) for square, share in zip(squares, shares, strict=True)
        ]
        self._spend(*shares)
        together = Together(tuple(queries))
        alone = len(queries) == 1
        total = self._sum(queries[0] if alone else together, wanted[0][2])
        found = []
        for k, part in enumerate(together.parts(total)):
            scale, shift = scales[k]
            noise = rounded_gaussian(scale, part.size, self._bits, threads=self._threads)
            # The sum, in steps of 2**-shift, plus the noise, exactly; rounding that to a
            # double is post-processing.
            values = (part + (noise >> shift)).astype(np.float64)
            rest = (noise & ((1 << shift) - 1)).astype(np.float64)
            values += np.ldexp(rest, -shift, out=rest)
            found.append(
                Measurement(
                    values=values,
                    std=math.ldexp(scale, -shift),
                    label=wanted[k][2],
                    query=queries[k].describe() + self._sampled_words(),
                    share=shares[k],
                    mu=self.mu_of(shares[k]),
                    sensitivity=math.sqrt(squares[k]),
                )
            )
        self._account.receipt.extend(found)
        return tuple(found)

    @property
    def fraction(self) -> float:
        """The probability with which each row was kept: 1 but for samples."""
        return self._fraction

    def sampled(self, wanted: float, rows: float) -> Curator:
        """Return a curator of a random sample of the rows, with the same account.

        Searches on it cost one pass over the rows in all, and their noise is larger
        compared with the sample than it would be compared with all rows.

        Parameters
        ----------
        wanted : float
            At least so many rows, if there are.
        rows : float
            How many there are: public, or a private estimate.

        Returns
        -------
        Curator
            Itself, where `wanted` is more than half of `rows`.

        Notes
        -----
        Each row is kept with probability 2**-j by secret fair bits of its own
        (`prolate.noise.NumberedBits`: fair for whoever does not know the key). Given the
        bits of all rows, neighbors have samples that are neighbors or equal, so that a
        measurement of the sample is as private as one of all rows with the same
        sensitivity; and a mixture over bits that do not depend on the rows is no less
        private (hockey-stick divergences are jointly convex). This holds for any order of
        the rows: the bits can be assigned to a row wherever it stands. No amplification
        is claimed. The size of the sample is not looked at.

        The first m rows are the sample where rows were said to be exchangeable. Replacing a
        row replaces one of them, or none. Adding or removing a row shifts others, so that
        one of the first m is replaced; or, if there are fewer than m, added or removed. So
        `neighbors` of such a sample is always ``"replace"``, each sensitivity is the larger
        of both, and its number of rows is private.
        """
        steps = math.floor(math.log2(rows / wanted)) if rows > wanted > 0.0 else 0
        if steps < 1:
            return self
        with self._account.lock:
            self._account.book()
        sample = copy.copy(self)
        if self._exchangeable:
            sample._source = self._source.leading(math.ceil(wanted), self._report("sample"))
            sample._leading, sample.neighbors = True, "replace"
            part = math.ceil(wanted) / rows
        else:
            keep = Thinning(NumberedBits.from_bits(self._bits), min(steps, 16))
            sample._source = self._source.thinned(keep, self._report("sample"))
            part = 2.0 ** -min(steps, 16)
        sample._rows = None
        sample._fraction = self._fraction * part
        return sample

    def _sampled_words(self) -> str:
        if self._fraction == 1.0:
            return ""
        kind = "the first rows," if self._leading else "a random sample of"
        return f", of {kind} one row in {round(1.0 / self._fraction)}"

    def select(self, ranks: Ranks, *, share: float, label: str) -> Measurement:
        """Charge `share` of rho, then choose values of given ranks: the exponential mechanism.

        Each of the K quantiles of `ranks` is a choice of its own, on exact counts, with
        weights that fall by e**-fall per row of rank error, fall**2 = share mu**2 / K. By
        the proofs in `Ranks` and `prolate.noise.selection` it is fall**2 / 2-zCDP, and all
        K together are share rho, compared as exact fractions.

        The rows are read as often as the draws need, which depends on the rows, as does
        the time that it takes.

        Parameters
        ----------
        ranks : Ranks
            Which quantiles, of what, on which grid.
        share, label
            As for `measure`.

        Returns
        -------
        Measurement
            `values` are the chosen values, in the data's unit. `sensitivity` is that of
            all utilities together, in rows; `std` is that of Gaussian counts of the same
            price, for comparison: no Gaussian was added.

        Raises
        ------
        BudgetError
            As for `measure`, and if the budget is not one for zCDP.
        InputError
            As for `measure`.
        """
        if self.budget.composition != "zcdp":
            raise BudgetError(
                "The exponential mechanism is not Gaussian, so it can only be charged in rho; "
                "give the curator budget.for_zcdp()."
            )

        def ask(numbers: Sequence[int], nodes: Sequence[Cell]) -> NDArray[np.int64]:
            query = self._fit(ranks.histogram(numbers, nodes))
            return self._sum(query, label).reshape(len(nodes), -1)

        def distance(
            below: NDArray[np.int64], upto: NDArray[np.int64], rows: int
        ) -> NDArray[np.int64]:
            return ranks.distance(below, upto, rows, self.neighbors)

        root = self._fit(ranks.histogram(range(ranks.count), [(0, 0)] * ranks.count))
        cells_changed = 2 if self.neighbors == "replace" else 1
        if root.sensitivity_squared(self.neighbors) != cells_changed * ranks.count:
            raise InputError("The ranks must be of something that one row enters only once.")
        _check_share(share)
        self._spend(share)
        weights = falling_weights(Fraction(share) * self._mu_squared / ranks.count)
        searches = [choose_cell(weights, distance, self._bits) for _ in range(ranks.count)]
        cells = choose_cells(searches, ask)
        sensitivity = ranks.sensitivity(self.neighbors) * math.sqrt(ranks.count)
        mu = self.mu_of(share)
        measurement = Measurement(
            values=ranks.values(cells),
            std=sensitivity / mu,
            label=label,
            query=f"{ranks.describe()} ({root.describe()})",
            share=share,
            mu=mu,
            sensitivity=sensitivity,
        )
        self._account.receipt.append(measurement)
        return measurement

    def _fit(self, query: Query) -> Query:
        """Return the query on values cut to the public bounds, if it fits the columns."""
        if self.bounds is not None:
            query = Cut(query, *self.bounds)
        if query.columns != self.dimension:
            raise InputError(
                f"The query is made for {query.columns} columns; the data has {self.dimension}."
            )
        if query.pairs_rows and not self._source.ordered:
            raise InputError(
                "This method pairs neighboring rows, and rows on Spark have no places of their "
                "own; use method='auto'."
            )
        return query

    def _sensitivity_squared(self, query: Query) -> int:
        """Return the squared sensitivity, for what neighbors do to these rows; see `sampled`."""
        square = query.sensitivity_squared(self.neighbors)
        return max(square, query.sensitivity_squared("add-remove")) if self._leading else square

    def _noise_scale(self, sensitivity_squared: int, share: float) -> tuple[int, int]:
        """Return the smallest fine enough integer scale, in steps of 2**-shift."""
        _check_share(share)
        variance = Fraction(sensitivity_squared) / (Fraction(share) * self._mu_squared)
        shift = max(0, _FINE - (math.ceil(variance).bit_length() + 1) // 2)
        steps = math.ceil(variance * 4**shift)
        scale = math.isqrt(max(steps - 1, 0)) + 1
        if scale > MAX_SCALE:
            raise BudgetError(
                f"A share of {share:.3g} of mu = {self.budget.mu:.3g} is too small to measure "
                "anything; use a larger budget."
            )
        return scale, shift

    def _spend(self, *shares: float) -> None:
        account, price = self._account, sum(map(Fraction, shares), Fraction(0))
        with account.lock:
            if account.spent + price > 1:
                raise BudgetError(
                    f"This measurement wants {float(price):.6g} of the budget and only "
                    f"{self.remaining:.6g} is left."
                )
            account.spent += price
            account.book()

    def _sum(self, query: Query, label: str) -> NDArray[np.int64]:
        return self._source.collect(query, query.size, self._report(label))

    def _report(self, label: str) -> Callable[[int], None] | None:
        if self._progress is None:
            return None
        progress, rows = self._progress, self._source.n_rows

        def report(done: int) -> None:
            progress(label, done, rows)

        return report


def _check_share(share: float) -> None:
    if not 0.0 < share <= 1.0:
        raise BudgetError(f"A share must lie in (0, 1]; got {share:g}.")
