"""How many values there are, where private counts show that some are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from prolate.estimators.present import MISSING
from prolate.measurement import Measurement
from prolate.queries import Count

__all__ = ["counted_values"]

_CLEARLY = 4.0  # standard deviations of a count
_LEAST = 0.02  # part of the rows


def counted_values(
    receipt: Sequence[Measurement], columns: Sequence[str], rows: float, warnings: Sequence[str]
) -> dict[str, Any]:
    """Return details of a release: noisy counts of what is there, if some clearly is not.

    That is ``"values"``, of each column with missing ones, or ``"complete_rows"``, where rows with
    one are left out.

    Parameters
    ----------
    receipt : sequence of Measurement
    columns : sequence of str
    rows : float
        Their number, or a private estimate of it.
    warnings : sequence of str
        Of the release.
    """
    counts = [one.std for one in receipt if one.query == Count(len(columns)).describe()]
    unsure = min(counts, default=0.0)
    whole = [one for one in receipt if one.label == "whole rows"]
    # Where a column has no values, the others' are counted.
    if whole and MISSING not in warnings:
        last = whole[-1]
        number = float(np.clip(last.values[0], 0.0, rows))
        clear = rows - number > max(_CLEARLY * float(np.hypot(last.std, unsure)), _LEAST * rows)
        return {"complete_rows": number} if clear else {}
    present = [one for one in receipt if one.label == "present" and one.values.size == len(columns)]
    if not present:
        return {}
    precision = np.array([(one.fraction / one.std) ** 2 for one in present])
    each = np.array([one.values / one.fraction for one in present])
    found = np.clip(precision @ each / precision.sum(), 0.0, rows)
    noise = float(np.hypot(precision.sum() ** -0.5, unsure))
    clear = rows - found > max(_CLEARLY * noise, _LEAST * rows)
    of = zip(columns, found.tolist(), clear.tolist(), strict=True)
    values = {name: number for name, number, some in of if some}
    return {"values": values} if values else {}
