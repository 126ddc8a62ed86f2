"""How long the rows are: a first look, which may show that scales are too small, and others.

Where some rows are far longer than the others, and hardly any are between them, columns hide values
to speak of that none of the searches saw. In a table of few rows, noise hides these in each column,
in the votes (`search/farthest.py`), and in a cheap count of long rows (`search/floor.py`); the
histogram of lengths is several times as precise. So it is where a column shows a single value, as a
flag of one row in a hundred may.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from prolate.arrays import Floats
from prolate.curator import Measurer
from prolate.estimators.lengths.clumps import MAYBE, clump_edges, find_clumps
from prolate.estimators.lengths.expected import Expected, expect
from prolate.estimators.lengths.norms import (
    CHEAP,
    MeasuredNorms,
    finer_edges,
    fraction_radius,
    is_doubtful,
    measure_norms,
)
from prolate.estimators.search.alike import are_alike
from prolate.estimators.search.floor import with_common_floor
from prolate.estimators.search.longest import ALONE, longest_columns
from prolate.estimators.search.shape import Shape
from prolate.estimators.shares import radius_part
from prolate.theory import effective_columns

__all__ = ["expected_lengths", "with_first_look"]

_FEWEST = 2  # columns that may hide values: a single one has its sides counted
_FAR = 4.4  # typical norms: no column that was seen is so long
_HIDDEN = (
    "The columns have nearly the same value in most rows, such as 0, and noise hides in which "
    "columns a row has another: the intervals of columns that are small compared with others may "
    "be too narrow. More rows, a larger budget or bounds would help."
)
_MORE_LOOKS = 2  # at most, at how long rows are, ...
_LEFT = 0.7  # ... that leave this part for the sum


def with_first_look(
    shape: Shape, weigh: Callable[[Shape], Floats], *, share: float, relative: bool = False
) -> tuple[Shape, MeasuredNorms | None]:
    """Return the shape, its spreads raised if rows show that they are too small, and the lengths.

    Parameters
    ----------
    shape : Shape
    weigh : callable
        Returns what deviations are divided by, given the shape.
    share : float
        Of mu**2, for a mean and all that it needs.
    relative : bool
        Whether errors count relative to spreads: then columns whose spreads differ much, perhaps
        of different units, are not given a floor in common.
    """
    sample, scale = shape.sample, weigh(shape)
    part = radius_part(sample, shape.searched, effective_columns(shape.spread, scale))
    norms = measure_norms(
        sample, center=shape.center, scale=scale, spread=shape.spread, share=part * share, more=0
    )
    found = _with_floor(_with_longest(shape, norms, scale), norms, scale, relative=relative)
    if found is shape:
        found = _with_values_of_constants(shape, norms, scale)
    return (shape, norms) if found is shape else (found, None)


def _with_longest(shape: Shape, norms: MeasuredNorms, scale: Floats) -> Shape:
    """Return the shape with larger spreads of columns that alone make rows far longer than others.

    Of a column of rare values, which were taken to be as small as others', too.
    """
    apart, norm = norms.beyond_gap
    if not apart or scale.size < _FEWEST:
        return shape
    rows = shape.searched
    size, part = longest_columns(
        shape.sample, rows, shape.center, beyond=ALONE * norm * scale, part=apart / rows
    )
    likely = size * np.sqrt(part)
    raised = likely > shape.spread
    if not raised.any():
        return shape
    first, noise = shape.first, shape.center_noise
    if first is not None:
        first = replace(first, step=np.where(raised & first.rare, size, first.step))
    return replace(
        shape,
        spread=np.where(raised, likely, shape.spread),
        center_noise=None if noise is None else np.where(raised, np.inf, noise),  # the bulk's
        constant=~(shape.varies | raised),
        first=first,
    )


def _with_floor(shape: Shape, norms: MeasuredNorms, scale: Floats, *, relative: bool) -> Shape:
    """Return the shape with larger spreads where some rows are far longer than the others."""
    if not norms.apart:
        return shape
    hidden = shape.varies & ~shape.of_rare
    if np.count_nonzero(hidden) < _FEWEST:
        return shape
    floored = hidden & (not relative or are_alike(shape.spread[hidden]))
    rows = shape.searched
    spread = with_common_floor(
        shape.sample, rows, shape.center, shape.spread, wide=floored, part=norms.apart / rows
    )
    if not norms.hidden:  # no column reaches farther than rows do
        spread = np.minimum(spread, np.maximum(shape.spread, norms.farthest * scale))
    if np.array_equal(spread, shape.spread):
        return shape
    noise = shape.center_noise
    if noise is not None:
        noise = np.where(spread > shape.spread, np.inf, noise)  # it was the bulk's
    warnings = (*shape.warnings, _HIDDEN)
    return replace(shape, spread=spread, center_noise=noise, warnings=warnings)


def _with_values_of_constants(shape: Shape, norms: MeasuredNorms, scale: Floats) -> Shape:
    """Return the shape with constant columns as spread as if they made rows long.

    Where rows are together far out, likely one of these does, whose other values noise hid: by
    its tiny scale, a few rows of a flag are a hundred times as long as they need be.
    """
    if shape.varies.all():
        return shape
    length = np.append(norms.middles, norms.edges[-1])
    far = find_clumps(norms, norms.noise, sure=MAYBE) & (length > _FAR * norms.typical)
    if not far.any():
        return shape
    square = float(np.maximum(norms.counts[far], 0.0) @ length[far] ** 2) / shape.searched
    likely = np.maximum(shape.spread, np.sqrt(square) * scale)
    raised = ~shape.varies & (likely > shape.spread)
    return replace(
        shape,
        spread=np.where(raised, likely, shape.spread),
        constant=~(shape.varies | raised),
        warnings=(*shape.warnings, _HIDDEN),
    )


def expected_lengths(
    curator: Measurer,
    shape: Shape,
    scale: Floats,
    *,
    for_radius: float,
    share: float,
    known: MeasuredNorms | None,
    unit: Floats,
) -> tuple[Expected, float]:
    """Return what to expect by how long rows are, and what is left of a share for the sums.

    The shape's sample is searched. Rows far out that may well be noise are looked for again:
    of rows about equally long, noise makes some once in a hundred times, which would double the
    error. Clumps are looked for again in finer cells; and where it is cheap, so are all rows, if
    they are in a few cells.
    """
    before, searched = curator.remaining, shape.sample

    def left() -> float:
        return share - (before - curator.remaining)

    def look(known: MeasuredNorms | None = None, edges: Floats | None = None) -> MeasuredNorms:
        norms = measure_norms(
            searched,
            center=shape.center,
            scale=scale,
            spread=shape.spread,
            share=for_radius,
            known=known,
            edges=edges,
        )
        part = searched.fraction
        return replace(norms, counts=norms.counts / part, noise=norms.noise / part)

    def expected_of(norms: MeasuredNorms) -> Expected:
        rows, spread, part = shape.rows, shape.spread, left()
        return expect(curator, rows, spread, scale, norms, share=part, unit=unit, clumped=True)

    norms = look(known)
    expected = expected_of(norms)
    finer = finer_edges(norms, shape.rows)
    if finer is not None and for_radius < CHEAP * left():
        seen = max(norms.seen, fraction_radius(norms, 0.5, shape.rows))
        norms = replace(look(edges=finer), seen=seen)
        expected = expected_of(norms)
    for _ in range(_MORE_LOOKS):
        if left() - for_radius < _LEFT * share:
            break
        maybe = find_clumps(norms, expected.clipped, sure=MAYBE)
        finer = clump_edges(norms, maybe)
        if finer is not None:
            norms = norms.refined(look(edges=finer))
        elif np.any(maybe & ~expected.clumps) or is_doubtful(norms, expected.clipped):
            norms = norms.averaged(look(edges=norms.edges))
        else:
            break
        expected = expected_of(norms)
    return expected, left()
