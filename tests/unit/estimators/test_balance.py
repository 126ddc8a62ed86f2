"""Whether the two sides of a single column balance each other."""

from __future__ import annotations

import numpy as np
import pytest

import prolate
from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.clipping.balance import Balance, measure_balance
from prolate.estimators.lengths.expected import expect
from prolate.estimators.lengths.norms import measure_norms
from prolate.sources import open_source

N, ONE, ZERO = 20_000, np.ones(1), np.zeros(1)
CUT = np.maximum(np.random.default_rng(0).standard_normal(N), -2.0)


def balance_of(values: np.ndarray, mu: float) -> Balance:
    curator = Curator(
        open_source(values.reshape(-1, 1)), Budget(mu=mu), neighbors="replace", seed=1
    )
    rows = float(values.size)
    norms = measure_norms(curator, center=ZERO, scale=ONE, spread=ONE, share=0.1)
    expected = expect(curator, rows, ONE, ONE, norms, share=0.5)
    return measure_balance(curator, ZERO, expected, share=0.1, rows=rows)


def far_off(runs: int = 40) -> int:
    """How many means of normal values that end two deviations below are .004 deviations off."""
    count = 0
    for run in range(runs):
        values = np.maximum(np.random.default_rng(run).standard_normal(N), -2.0)
        release = prolate.mean(values.reshape(-1, 1), budget=Budget(rho=0.02), seed=run)
        count += abs(release.estimate[0] - values.mean()) > 0.004
    return count


def test_values_that_end_on_one_side_are_seen_to_do_so():
    """One run in twenty is off by so much, and was nearly every one; seeds are fixed."""
    assert far_off() < 8


def test_the_same_test_fails_where_only_the_tilt_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Balance, "clear", False)
    monkeypatch.setattr(Balance, "bias_square", lambda self, radius: 0.0 * radius)
    assert far_off() > 13


def test_a_tail_on_one_side_is_clear_and_feared():
    normal = np.random.default_rng(1).standard_normal(N)
    alike, cut = balance_of(normal, 1.0), balance_of(CUT, 1.0)
    assert not alike.clear
    assert cut.clear
    lost = np.mean(CUT - np.clip(CUT, -2.2, 2.2))
    assert float(cut.bias_square(2.2)) == pytest.approx(lost**2, rel=0.3)
    assert float(alike.bias_square(2.2)) < 0.1 * lost**2


def test_one_radius_and_many_have_the_same_bias():
    balance, radii = balance_of(CUT, 0.2), np.array([0.5, 1.9, 2.35, 7.0])
    each = [float(balance.bias_square(float(radius))) for radius in radii]
    assert balance.bias_square(radii) == pytest.approx(each)


@pytest.mark.parametrize("mu", [1e-4, 0.02, 300.0])
@pytest.mark.parametrize("values", [CUT, -CUT, np.zeros(N), 1e3 * CUT, 1e-3 * CUT])
def test_any_counts_give_finite_biases(mu: float, values: np.ndarray) -> None:
    square = balance_of(values, mu).bias_square(np.geomspace(1e-3, 1e3, 50))
    assert np.all(np.isfinite(square))
    assert np.all(square >= 0.0)


def test_what_noise_hides_may_be_on_one_side():
    """Of so little is seen that only what columns usually are tells anything."""
    seen, hidden = balance_of(CUT, 1.0), balance_of(CUT, 1e-3)
    assert not hidden.clear
    assert 0.0 < float(hidden.bias_square(2.2)) < float(seen.bias_square(2.2))
