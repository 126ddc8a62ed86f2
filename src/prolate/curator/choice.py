"""The exponential mechanism on exact counts of the rows behind a curator.

Each of the K quantiles of `prolate.queries.Ranks` is a choice of its own. The proofs are in
`Ranks` (one row moves the distance of a cell by at most 1) and in `prolate.noise.selection`
(weights that fall by e**-fall per distance make a choice fall**2 / 2-zCDP).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from prolate.arrays import Integers
from prolate.curator.rows import Rows
from prolate.errors import InputError
from prolate.neighbors import rows_changed
from prolate.noise import Cell, RandomBits, choose_cell, choose_cells, falling_weights
from prolate.queries import Query, Ranks

__all__ = ["choose", "first_counts"]


def first_counts(rows: Rows, ranks: Ranks) -> Query:
    """Return the query that every choice begins with, if one row enters each rank only once."""
    query = rows.fit(ranks.histogram(range(ranks.count), [(0, 0)] * ranks.count))
    cells_changed = rows_changed(rows.neighbors)
    if query.sensitivity_squared(rows.neighbors) != cells_changed * ranks.count:
        raise InputError("The ranks must be of something that one row enters only once.")
    return query


def choose(
    rows: Rows, ranks: Ranks, fall_squared: Fraction, bits: RandomBits, label: str
) -> list[int]:
    """Return a cell of the grid for each of K ranks: K choices, each fall_squared / 2-zCDP."""

    def ask(numbers: Sequence[int], nodes: Sequence[Cell]) -> Integers:
        query = rows.fit(ranks.histogram(numbers, nodes))
        return rows.sum(query, label).reshape(len(nodes), -1)

    def distance(below: Integers, upto: Integers, total: int) -> Integers:
        return ranks.distance(below, upto, total, rows.neighbors)

    weights = falling_weights(fall_squared)
    searches = [choose_cell(weights, distance, bits) for _ in range(ranks.count)]
    return choose_cells(searches, ask)
