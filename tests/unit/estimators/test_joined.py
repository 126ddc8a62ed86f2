"""One estimate of the parts of a table."""

from __future__ import annotations

import numpy as np

from prolate.estimators.estimate import Estimate
from prolate.estimators.joined import join


def test_estimates_are_joined_in_the_columns_order() -> None:
    one, two, three = np.array([1.0]), np.array([2.0, 3.0]), np.array([4.0, 5.0])
    heavy = Estimate(one, one, None, 10.0, ("a", "few: 9 %", "b"), {"radius": 1.0}, one)
    others = Estimate(two, three, two, 11.0, ("b", "few: 8 %"), {"radius": 2.0}, three)
    found = join([(np.array([0, 2]), others), (np.array([1]), heavy)])
    assert found.value.tolist() == [2.0, 1.0, 3.0]
    assert found.noise_std is not None
    assert found.noise_std.tolist() == [4.0, 1.0, 5.0]
    assert found.sampling_std is None
    assert found.rows == 11.0
    assert found.warnings == ("b", "few: 8 %", "a")
    assert found.details == {"radius": 2.0, "columns_apart": 1}
    again = join([(np.array([3, 1, 0]), found), (np.array([2]), heavy)])
    assert again.value.tolist() == [3.0, 1.0, 1.0, 2.0]
    assert again.details["columns_apart"] == 2
