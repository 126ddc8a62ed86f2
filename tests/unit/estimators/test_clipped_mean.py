"""The mean of clipped rows: what it may spend."""

from __future__ import annotations

import numpy as np
import pytest

from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.clipping.clipped_mean import clipped_mean
from prolate.estimators.search.learn import learn_shape
from prolate.sources import open_source
from prolate.theory import optimal_scale


@pytest.mark.parametrize("part", [0.1, 0.5, 0.99])
def test_what_is_for_others_is_left(part) -> None:
    """Though the tilt of symmetric rows is worth a larger share than usual."""
    rows = np.random.default_rng(0).standard_normal((1000, 64))
    curator = Curator(open_source(rows), Budget(rho=0.5), seed=1)
    table, shape = learn_shape(curator, 1000.0)
    left = table.remaining
    scale = optimal_scale(shape.spread, 2.0)
    clipped_mean(table, shape, scale, share=part * left, sample=shape.sample)
    assert table.remaining == pytest.approx((1.0 - part) * left)
