"""What a budget for persons, or for groups, leaves for each row: the arithmetic and its proofs.

A release is made by a curator that knows rows and nothing of persons or groups. It gets a part
of the budget, so that what holds for rows, multiplied, is what was promised. *Neighbors* below
are the data sets of the promise; *steps* is how many rows must be added or removed, one after
the other, to come from the rows that are measured of one neighbor to those of the other.

**Groups of rows.** A release that is m-GDP for adding or removing one row is exactly s m-GDP for
s such steps (Dong, Roth, Su 2019, Theorem 3: group privacy of Gaussian trade-off functions); and
one that is r-zCDP is s**2 r-zCDP (Bun, Steinke 2016, Proposition 27). So the curator gets
m = mu / s, rounded down.

- One row of each person (`contribution="mean"`): neighbors differ in one row, as they do where
  rows are the unit. The relation is the same, s = 1.
- k rows of each person: a person comes or goes with at most k rows, s = k; taking another
  person's place is going and coming, s = 2 k.
- Groups are disjoint, and each is measured by a curator of its own, with noise of its own, as if
  it were all there is. A row that comes or goes is in one group at most; the releases of the
  others have the same distributions for both neighbors. So the release of all groups is m-GDP
  for one step where each is, and s steps, in whatever groups, are as before: s = 1, or k. Under
  ``"replace"`` a row may change inside its group, or leave it for another: it goes and comes,
  s = 2, or 2 k.

The number of rows of a group, or of rows kept of persons, is private in all these cases, so
their curators measure it (``"add-remove"``).

**Private keys.** Which keys there are is private, too, where they are not given. A group exists
if a row that counts is in it; a person's rows that do not count make none. Each group is
counted with a part of the budget, and goes on only if its count is above a threshold t; only
then is its key shown. (The counts are the cells of one histogram. Each has noise of its own, of
the scale that one count has by itself, and a row is in one cell: as if each were measured alone.)
The groups that exist for both of two neighbors, or for neither, are
together as above, mu-GDP, so (epsilon, delta_mu) with delta_mu the delta of mu at epsilon. If a
group exists for one of them only, all its rows are one person's, at most k; then it is shown
with probability at most P(k + noise > t) = delta_group, and what is shown of it otherwise is
nothing, as of a group that does not exist. So in that group neighbors' releases are
(0, delta_group)-close. Releases of different groups are independent, and each group that only
one neighbor has takes a step at least, so there are j of them, at most s:

- j < s: (epsilon, delta_mu + j delta_group), by basic composition of independent releases;
- j = s: no step is left for the other groups, which are the same: (0, s delta_group).

With delta_mu = delta / 2 and delta_group = delta / 2 / max(1, s - 1) all are (epsilon, delta).
At another epsilon, delta_mu is another one, and the release is private with that and delta / 2
together, or with delta if that is more: j delta_group is at most delta / 2 where j < s, and
s delta_group at most delta. So its budget says (`Budget.with_keys`), and nothing of smaller deltas.

**Private keys, on a ledger.** Both cases say more than (epsilon, delta). Let the event be that
no group that exists for one neighbor only is shown: it depends on the noise of these groups'
counts alone, and has probability at least 1 - s delta_group for either neighbor. Given it, such
groups show nothing for both; so the release is that of the common groups, mu-GDP, or rho-zCDP.
This is what a ledger adds up (`prolate.ledger.account`): mu, and s delta_group beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from prolate.budget import Budget, Neighbors
from prolate.ledger import Ledger
from prolate.ledger.entry import Promise
from prolate.measurement import Measurement
from prolate.release import ReceiptEntry
from prolate.release.unit import Unit

__all__ = ["FOR_COUNT", "FOR_THE_REST", "Terms", "for_keys", "keys_price", "passes"]

FOR_COUNT, FOR_THE_REST = Fraction(7, 25), Fraction(24, 25)
"""Parts of mu for the count that decides whether a key is shown, and for what is then measured:
their squares are 1 together."""


@dataclass(frozen=True)
class Terms:
    """What is promised, and what the curators of rows get for it.

    Attributes
    ----------
    price : Budget
        What the release may cost, as promised.
    neighbors : {"replace", "add-remove"}
        What the promise hides.
    unit : Unit or None
        Whom it protects; None is a row.
    grouped : bool
        Whether there are groups.
    """

    price: Budget
    neighbors: Neighbors
    unit: Unit | None = None
    grouped: bool = False

    @property
    def counted(self) -> bool:
        """Whether the number of rows that are measured is private whatever the promise."""
        return self.grouped or (self.unit is not None and self.unit.max_rows is not None)

    @property
    def steps(self) -> int:
        """How many steps neighbors are apart; see the module."""
        rows = 1 if self.unit is None else self.unit.rows
        return 2 * rows if self.counted and self.neighbors == "replace" else rows

    @property
    def relation(self) -> Neighbors:
        """What neighbors are to the curators of rows."""
        return "add-remove" if self.counted else self.neighbors

    def budget(self, part: Fraction = Fraction(1)) -> Budget:
        """Return what a curator of rows may spend, of a part of mu."""
        return self.price.divided(self.steps / part)

    @property
    def promise(self) -> Promise:
        """What a ledger is told to be promised."""
        return Promise(self.neighbors, None if self.unit is None else self.unit.column)

    def charging(
        self, ledger: Ledger | None, price: Budget | None, label: str, delta: float = 0.0
    ) -> Callable[[], object]:
        """Return what charges a ledger, if there is one, for what is promised.

        `price` is None where it costs nothing; `delta` is for finding groups.
        """
        promise = self.promise

        def charge() -> None:
            if ledger is not None:
                ledger.charge(
                    price, label, delta=delta, neighbors=promise.neighbors, unit=promise.unit
                )

        return charge

    def receipt(self, measured: Sequence[Measurement]) -> tuple[ReceiptEntry, ...]:
        """Return the lines of the receipt: one for all that separate parts were asked."""
        lines: list[ReceiptEntry] = []
        for one in measured:
            if one.place is None:
                lines.append(self._entry(one))
                continue
            others = [
                each for each in measured if each.place and each.place.dealt == one.place.dealt
            ]
            if one is others[0]:
                lines.append(ReceiptEntry.apart([self._entry(each) for each in others]))
        return tuple(lines)

    def _entry(self, measured: Measurement) -> ReceiptEntry:
        """Return what a measurement costs by what is promised."""
        mu = measured.mu * self.steps
        return ReceiptEntry(
            label=measured.label,
            query=measured.query,
            size=measured.values.size,
            share=measured.share if not self.counted else (mu / self.price.mu) ** 2,
            mu=mu,
            sensitivity=measured.sensitivity * self.steps,
            noise_std=measured.std,
            parts=() if measured.place is None else measured.place.parts,
        )


def for_keys(price: Budget) -> tuple[Budget, float]:
    """Return what is left of a budget for measurements, and the delta for showing keys."""
    delta = price.stated["delta"] / 2.0
    return price.with_delta(delta), delta


def keys_price(terms: Terms, delta: float) -> float:
    """Return what showing keys costs on a ledger: s delta_group of the module, rounded up."""
    exact = Fraction(delta) * Fraction(terms.steps, max(1, terms.steps - 1))
    value = float(exact)
    return value if Fraction(value) >= exact else math.nextafter(value, math.inf)


def passes(
    counts: NDArray[np.float64], std: float, terms: Terms, delta: float
) -> NDArray[np.bool_]:
    """Return which groups' noisy counts are large enough to show that they are there.

    All of one person's groups together, there for that person alone, pass with probability at
    most `delta`, or twice that where nothing else tells the person; see the module. The noise is a
    Gaussian, rounded to a fraction of one, and the threshold is whole, so that rounded noise
    above threshold - rows, a whole number, is noise above it.
    """
    from scipy.special import ndtri_exp

    rows = 1 if terms.unit is None else terms.unit.rows
    quantile = -float(ndtri_exp(math.log(delta / max(1, terms.steps - 1))))
    return np.asarray(counts > threshold_of(quantile, std, rows))


def threshold_of(quantile: float, std: float, rows: int) -> float:
    """Return the threshold of a count; safe against rounding in the quantile."""
    return float(rows + math.ceil(std * quantile * (1.0 + 1e-9)))
