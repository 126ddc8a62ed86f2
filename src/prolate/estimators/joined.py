"""One estimate of a table, by those of its parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prolate.arrays import Floats, Integers
from prolate.estimators.estimate import Estimate

__all__ = ["join", "scattered"]


def scattered(places: Sequence[Integers], parts: Sequence[Floats | float]) -> Floats:
    """Return a vector that has each part's numbers at that part's places.

    Examples
    --------
    >>> scattered([np.array([2, 0]), np.array([1])], [np.array([5.0, 6.0]), 7.0])
    array([6., 7., 5.])
    """
    whole = np.empty(sum(index.size for index in places))
    for index, values in zip(places, parts, strict=True):
        whole[index] = values
    return whole


def join(parts: Sequence[tuple[Integers, Estimate]]) -> Estimate:
    """Return the estimate of all columns, by those of the columns of each part.

    Most columns are in the first, whose rows and details are taken.
    """
    places, found = zip(*parts, strict=True)
    first: Estimate = found[0]

    def whole(values: Sequence[Floats | None]) -> Floats | None:
        known = [each for each in values if each is not None]
        return scattered(places, known) if len(known) == len(values) else None

    said: dict[str, str] = {}
    for text in (text for each in found for text in each.warnings):
        said.setdefault(text.partition(":")[0], text)  # what is said of both, with other numbers
    apart = sum(index.size for index in places[1:]) + first.columns_apart
    return Estimate(
        value=scattered(places, [each.value for each in found]),
        noise_std=whole([each.noise_std for each in found]),
        sampling_std=whole([each.sampling_std for each in found]),
        clipping_std=whole([each.clipping_std for each in found]),
        rows=first.rows,
        warnings=tuple(said.values()),
        details={**first.details, "columns_apart": apart},
    )
