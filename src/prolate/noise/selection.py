"""An exact choice by the exponential mechanism, among very many ordered cells.

The cells are the leaves of a tree with `FAN` branches at each of `LEVELS` nodes. Each has
a distance r >= 0, an integer: how far its ranks are from the rank that is wanted. It is
chosen with a probability proportional to ``weights[r]``, a falling list of integers.

Guarantee. Let a neighbor change every distance by at most 1. By construction
``weights[r + 1] >= weights[r] e**-fall`` as real numbers (`falling_weights` rounds up), so
all weights change by factors within e**-fall and e**fall: the choice has bounded range
2 fall (Durfee, Rogers 2019) and is fall**2 / 2-zCDP (Cesar, Rogers 2021: bounded range
epsilon is epsilon**2 / 8-zCDP). Drawing is exact: integers below an integer, from fair bits.
The list stops falling where rounding up keeps it, or after 2**18 steps; its last entry stands
for all larger distances, which keeps the guarantee.

No leaf is looked at but those drawn. A node's leaves are no nearer to the wanted rank than
the node itself, so ``weights[r of the node]`` times its number of leaves is an upper bound
of what they weigh. A node is drawn by these bounds; it is then opened and a child drawn by
the children's bounds, or none, with the probability that they fall short of the node's; if
none, the sharper bounds replace the old ones and all begins again (adaptive rejection:
each round accepts a leaf with a probability proportional to its own weight, whatever the
bounds were).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Integers
from prolate.noise.exact import exact_context
from prolate.noise.randomness import RandomBits

__all__ = ["FAN", "LEVELS", "Cell", "choose_cell", "choose_cells", "falling_weights"]

FAN = 1 << 10
LEVELS = 4

Cell = tuple[int, int]  # level (0: the root), place among the nodes of that level

_HEAD = 1 << 96
_LONGEST = 1 << 18


def falling_weights(fall_squared: Fraction) -> NDArray[np.object_]:
    """Return integers that fall by a factor of at most e**-fall from one to the next.

    From 2**96 until they no longer fall, or for 2**18 steps.

    Examples
    --------
    >>> weights = falling_weights(Fraction(1, 4))
    >>> round(float(Fraction(weights[1], weights[0])), 6), len(weights) < 200
    (0.606531, True)
    """
    with localcontext(exact_context(60)):
        # Both functions are correctly rounded; the two factors cover that rounding.
        fall = (Decimal(fall_squared.numerator) / Decimal(fall_squared.denominator)).sqrt()
        ratio = (-fall * (1 - Decimal("1e-50"))).exp() * (1 + Decimal("1e-50"))
        factor = min(math.floor(ratio * _HEAD) + 1, _HEAD)
    weights = [_HEAD]
    while len(weights) < _LONGEST:
        following = -(-weights[-1] * factor // _HEAD)
        if following == weights[-1]:
            break
        weights.append(following)
    return np.array(weights, dtype=np.object_)


def uniform_below(limit: int, bits: RandomBits) -> int:
    """Return an integer from 0 to `limit` - 1, each with the same probability, exactly."""
    length = limit.bit_length()
    words = -(-length // 64)
    while True:
        value = int.from_bytes(bits.words(words).tobytes(), "little") >> (64 * words - length)
        if value < limit:
            return value


class _Node:
    """An opened node: what is below each child, and how much each may weigh at most."""

    def __init__(
        self,
        cell: Cell,
        below: int,
        counts: Integers,
        weigh: Callable[[Integers, Integers], NDArray[np.object_]],
        levels: int,
    ) -> None:
        self.level, self.place = cell
        upto = below + np.cumsum(counts)
        self.below = upto - counts
        self.mass = weigh(self.below, upto) * len(counts) ** (levels - self.level - 1)
        self.children: dict[int, _Node] = {}

    def draw(self, limit: int | None, bits: RandomBits) -> int | None:
        """Return a child by mass, or None with the probability that `limit` is not reached."""
        sums = np.cumsum(self.mass)
        drawn = uniform_below(int(sums[-1]) if limit is None else limit, bits)
        return int(np.searchsorted(sums, drawn, side="right")) if drawn < sums[-1] else None


def choose_cell(
    weights: NDArray[np.object_],
    distance: Callable[[Integers, Integers, int], Integers],
    bits: RandomBits,
    *,
    levels: int = LEVELS,
) -> Generator[Cell, Integers, int]:
    """Draw a leaf; ask for the counts of the nodes that are needed on the way.

    Parameters
    ----------
    weights : array of int
        From `falling_weights`.
    distance : callable
        From how many rows are below a cell, below or in it (both arrays), and in all, to
        its distance: an integer >= 0, larger for a cell inside another.
    bits : RandomBits
    levels : int

    Yields
    ------
    (level, place)
        A node. Send the number of rows in each of its children, int64; (0, 0) comes first.

    Returns
    -------
    int
        The place of the leaf, from 0 to (number of children) ** levels - 1.
    """
    counts = yield 0, 0
    rows = int(counts.sum())

    def weigh(below: Integers, upto: Integers) -> NDArray[np.object_]:
        steps = np.minimum(distance(below, upto, rows), len(weights) - 1)
        return np.asarray(weights[steps])

    root = _Node((0, 0), 0, counts, weigh, levels)
    fan = len(counts)
    while True:
        path = []
        node: _Node | None = root
        while node is not None:
            drawn = node.draw(None, bits)
            assert drawn is not None  # noqa: S101  no limit was given
            place = drawn
            path.append((node, place))
            node = node.children.get(place)
        found: int | None = place
        while found is not None:
            parent, place = path[-1]
            cell = parent.level + 1, parent.place * fan + place
            if cell[0] == levels:
                return cell[1]
            node = _Node(cell, int(parent.below[place]), (yield cell), weigh, levels)
            parent.children[place] = node
            found = node.draw(int(parent.mass[place]), bits)
            path.append((node, -1 if found is None else found))
        for parent, place in reversed(path[:-1]):
            parent.mass[place] = parent.children[place].mass.sum()


def choose_cells(
    searches: Sequence[Generator[Cell, Integers, int]],
    ask: Callable[[Sequence[int], Sequence[Cell]], Integers],
) -> list[int]:
    """Run several `choose_cell` side by side, and return their leaves.

    `ask` gets the numbers of the searches that go on and the node that each needs, and
    returns their counts, one row each: one pass over the data for all of them.
    """
    wanted = {number: next(search) for number, search in enumerate(searches)}
    found = {}
    while wanted:
        numbers = list(wanted)
        for number, counts in zip(numbers, ask(numbers, list(wanted.values())), strict=True):
            try:
                wanted[number] = searches[number].send(counts)
            except StopIteration as end:
                found[number] = int(end.value)
                del wanted[number]
    return [found[number] for number in range(len(searches))]
