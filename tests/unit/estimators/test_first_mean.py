"""What a first mean of nearly constant columns says of itself."""

from __future__ import annotations

import numpy as np
import pytest

from prolate.estimators.search.first_mean import FirstMean


def test_it_knows_how_many_rows_are_far_out():
    """Flags of 3 and of 9 % of the rows, of which the second is scaled most."""
    part, step = np.array([0.03, 0.09, 0.0]), np.array([1.0, 1.0, 0.0])
    bulk = np.array([0.0, 0.0, np.nan])
    apart = float(np.sqrt(np.mean(part[:2])))  # root mean square, over rows and columns
    first = FirstMean(part, np.full(3, 1e-3), bulk, step, None, apart, several=False, lost=0.0)
    rows, length = first.far(1000.0, np.array([0.5, 0.1, 1.0]))
    assert rows == pytest.approx(120.0)
    assert length == pytest.approx(10.0)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("side", [None, 1.0])
@pytest.mark.parametrize("rare", [4, 63, 64])
def test_few_rare_values_or_of_several_sizes_do_not_tell_what_clipping_takes(several, side, rare):
    each = np.ones(rare + 1)
    bulk = np.append(np.zeros(rare), np.nan)
    first = FirstMean(
        each, each, bulk, each, None if side is None else side * each, 0.1, several, lost=0.0
    )
    assert first.of_all == ((several or rare < 64) and side is None)
    assert first.mostly_rare != first.of_all
