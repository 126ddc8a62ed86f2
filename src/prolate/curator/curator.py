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
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from prolate.arrays import Bools, Integers, Limits
from prolate.budget import Budget, Neighbors, check_neighbors
from prolate.curator.account import Account, check_share
from prolate.curator.choice import choose, first_counts
from prolate.curator.parts import Parts
from prolate.curator.rows import Rows, cuts_of
from prolate.errors import BudgetError, InputError
from prolate.measurement import Measurement, Place, Progress
from prolate.noise import (
    MAX_SCALE,
    PARTS,
    NumberedBits,
    random_bits,
    rounded_gaussian,
    with_noise,
)
from prolate.queries import Query, Ranks, Together
from prolate.sources import Source
from prolate.sources.threads import thread_count

__all__ = ["Curator"]

_FINE = 34  # steps of 2**-33, or noise of about 2**33 steps: far below anything that matters


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
        otherwise random ones are.
    """

    def __init__(
        self,
        source: Source,
        budget: Budget,
        *,
        neighbors: Neighbors = "replace",
        bounds: Limits | None = None,
        seed: int | None = None,
        charge: Callable[[], object] | None = None,
        progress: Progress | None = None,
        exchangeable: bool = False,
    ) -> None:
        self._account = Account(charge)
        cuts = cuts_of(bounds, source)
        self._rows = Rows(source, check_neighbors(neighbors), bounds, cuts, progress)
        self.exchangeable = exchangeable
        self._bits = random_bits(seed)
        self._threads = thread_count()
        self._parts: Parts | None = None  # if they are measured, and not `_rows`
        self._mu_squared = Fraction(budget.mu) ** 2
        self.budget = budget

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self._rows.source.columns

    @property
    def dimension(self) -> int:
        """Number of columns d."""
        return len(self.columns)

    @property
    def neighbors(self) -> Neighbors:
        """What may happen to one row."""
        return self._rows.neighbors

    @property
    def bounds(self) -> Limits | None:
        """Public bounds, float64 arrays of shape (d,), if there are any."""
        return self._rows.bounds

    @property
    def which_flags(self) -> Bools:
        """Which columns are 0, 1 or missing, by their types and bounds: shape (d,)."""
        source, bounds = self._rows.source, self._rows.bounds
        if source.averaged or bounds is None:
            return np.zeros(self.dimension, np.bool_)
        typed = source.flags | source.whole
        known = np.array([name in typed for name in source.columns])
        return np.asarray(known & (bounds[0] == 0.0) & (bounds[1] == 1.0))

    @property
    def are_flags(self) -> bool:
        """Whether all columns are 0, 1 or missing, by their types and bounds."""
        return bool(np.all(self.which_flags))

    @property
    def are_whole(self) -> Bools:
        """Which columns hold whole numbers, cut to such as well, by their types: shape (d,)."""
        source, bounds = self._rows.source, self._rows.bounds
        known = frozenset() if source.averaged else source.whole
        whole = np.array([name in known for name in source.columns])
        return whole if bounds is None else whole & np.all(np.rint(bounds) == bounds, axis=0)

    @property
    def fraction(self) -> float:
        """The probability with which each row was kept: 1 but for samples."""
        parts = self._parts
        return self._rows.fraction if parts is None else parts.count * parts.fraction

    @property
    def private(self) -> bool:
        """Whether the noise comes from the system's generator."""
        return self._bits.private

    @property
    def remaining(self) -> float:
        """The share of mu**2 that is left, rounded down."""
        return self._account.remaining

    @property
    def receipt(self) -> tuple[Measurement, ...]:
        """Every measurement so far, in order."""
        return tuple(self._account.receipt)

    def public_rows(self) -> int:
        """Return the number of rows, if it is public: that of all rows, under ``"replace"``."""
        self._check_whole()
        if self.neighbors != "replace" or self._rows.leading or self._rows.whole is not None:
            raise InputError("The number of these rows is private.")
        return self._rows.count

    def book(self) -> None:
        """Charge the whole budget now: what is public for this release may not be for others."""
        self._account.book()

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
        rows = self._rows
        queries = [rows.fit(query) for query, _, _ in wanted]
        squares = [rows.sensitivity_squared(query) for query in queries]
        shares = [share for _, share, _ in wanted]
        scales = [
            self._noise_scale(square, share) for square, share in zip(squares, shares, strict=True)
        ]
        place, rows = self._pay(shares)
        together = Together(tuple(queries))
        alone = len(queries) == 1
        total = self._total(rows, queries[0] if alone else together, wanted[0][2])
        parts = zip(wanted, queries, squares, scales, together.parts(total), strict=True)
        found = []
        for (_, share, label), query, square, (scale, shift), part in parts:
            noise = rounded_gaussian(scale, part.size, self._bits, threads=self._threads)
            found.append(
                Measurement(
                    values=with_noise(part, noise, shift),
                    std=math.ldexp(scale, -shift),
                    label=label,
                    query=rows.describe(query),
                    share=share,
                    mu=self.mu_of(share),
                    sensitivity=math.sqrt(square),
                    fraction=rows.fraction,
                    place=place,
                )
            )
        self._account.receipt.extend(found)
        return tuple(found)

    def _pay(self, shares: Sequence[float]) -> tuple[Place | None, Rows]:
        """Spend shares; return the rows to be measured for them, and which parts these are."""
        if self._parts is None:
            self._account.spend(*shares)
            return None, self._rows
        return self._parts.pay(shares, self._account)

    def _total(self, rows: Rows, query: Query, label: str) -> Integers:
        """Return the sum of a query over rows that are paid for."""
        total = rows.sum(query, label)
        self._account.process.check()  # whoever was told of progress may have forked it
        return total

    def sampled(self, wanted: float, rows: float) -> Curator:
        """Return a curator of a random sample of the rows, with the same account.

        Searches on it cost one pass over the rows in all, and their noise is larger
        compared with the sample than it would be compared with all rows.

        Parameters
        ----------
        wanted : float
            About so many rows.
        rows : float
            How many there are: public, or a private estimate.

        Returns
        -------
        Curator
            Itself, where `wanted` is more than half of `rows`.

        Notes
        -----
        What is measured on a sample costs as much as on all rows, and is as private: the
        proof is in `prolate.curator.rows`. Where rows were said to be exchangeable, the
        sample is the first of them, and the number of its rows is private.
        """
        self._check_whole()
        if not 0.0 < wanted <= 0.5 * rows:
            return self
        self._account.book()
        sample = copy.copy(self)
        if self.exchangeable:
            sample._rows = self._rows.first(math.ceil(wanted), rows)
        else:
            secret = NumberedBits.from_bits(self._bits)
            sample._rows = self._rows.thinned(secret, math.ceil(PARTS * wanted / rows))
        return sample

    def apart(self, wanted: float, rows: float, parts: int) -> Curator:
        """Return a curator of separate random parts of the rows, with the same account.

        A measurement is of the part on which least was spent so far, or of several (`some`). A row
        is in one part, and pays for what is measured of that one alone: all together cost what the
        dearest part does.

        Parameters
        ----------
        wanted : float
            About so many rows in all parts together.
        rows : float
            How many there are: public, or a private estimate.
        parts : int
            How many parts: a power of two, at most 256.

        Raises
        ------
        InputError
            If the first rows are to be searched: one that is added or removed moves others from
            part to part. And if `parts` is none of these numbers, or no rows are wanted.

        Notes
        -----
        The proofs are in `prolate.curator.account` and `prolate.curator.rows`.
        """
        self._check_whole()
        if self.exchangeable:
            raise InputError("Only random rows can be dealt to separate parts, not the first ones.")
        if parts not in (1 << power for power in range(1, 9)) or not 0.0 < wanted <= rows:
            raise InputError(
                "parts must be a power of two, at most 256, and wanted some of the rows."
            )
        self._account.book()
        secret, part = NumberedBits.from_bits(self._bits), math.ceil(PARTS * wanted / rows)
        part = min(part, PARTS)
        others = copy.copy(self)
        found, fraction = self._rows.dealt(secret, part, parts), part / PARTS / parts
        others._parts = Parts(found, self._account.deal(parts), self.fraction * fraction, parts)
        return others

    def some(self, count: int) -> Curator:
        """Return the same, of which each measurement is of so many separate parts."""
        if self._parts is None:
            raise InputError("These rows are not in separate parts.")
        if not 1 <= count <= self._parts.every:
            raise InputError(f"count must be 1 to {self._parts.every}, the number of parts.")
        others = copy.copy(self)
        others._parts = replace(self._parts, count=count)
        return others

    def _check_whole(self) -> None:
        if self._parts is not None:
            raise InputError("This is not for separate parts of the rows.")

    def whole(self, required: Bools | None = None) -> Curator:
        """Return a curator of the rows of which no value is missing, with the same account.

        How many these are is private, as what is missing is; see `WholeRows`.

        Parameters
        ----------
        required : bool array of shape (d,), optional
            Columns whose values must be there: all, if it is not given.
        """
        self._check_whole()
        every = np.ones(self.dimension, dtype=np.bool_) if required is None else required
        others = copy.copy(self)
        others._rows = replace(self._rows, whole=every)
        return others

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
        first = first_counts(self._rows, ranks)
        check_share(share)
        place, rows = self._pay([share])
        fall_squared = Fraction(share) * self._mu_squared / ranks.count
        cells = choose(rows, ranks, fall_squared, self._bits, label)
        self._account.process.check()
        sensitivity = ranks.sensitivity(self.neighbors) * math.sqrt(ranks.count)
        mu = self.mu_of(share)
        measurement = Measurement(
            values=ranks.values(cells),
            std=sensitivity / mu,
            label=label,
            query=f"{ranks.describe()} ({first.describe()})",
            share=share,
            mu=mu,
            sensitivity=sensitivity,
            place=place,
        )
        self._account.receipt.append(measurement)
        return measurement

    def _noise_scale(self, sensitivity_squared: int, share: float) -> tuple[int, int]:
        """Return the smallest fine enough integer scale, in steps of 2**-shift."""
        check_share(share)
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
