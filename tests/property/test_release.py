"""A release written and read back is the same release, to the last bit."""

from __future__ import annotations

import json
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from prolate.budget import Budget
from prolate.release import ReceiptEntry, Release

finite = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=0.0, allow_infinity=False)
plain: SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
budgets = st.one_of(
    st.builds(Budget, mu=st.floats(1e-6, 1e3)),
    st.builds(Budget, rho=st.floats(1e-6, 1e3)),
    st.builds(Budget, epsilon=st.floats(1e-2, 30.0), delta=st.floats(1e-12, 0.1)),
).flatmap(lambda b: st.sampled_from([b, b.for_zcdp()]))


@st.composite
def releases(draw: st.DrawFn) -> Release:
    d = draw(st.integers(1, 4))
    shape = draw(st.sampled_from([(d,), (2, d)]))

    def array(of: SearchStrategy[float]) -> np.ndarray:
        size = math.prod(shape)
        return np.array(draw(st.lists(of, min_size=size, max_size=size))).reshape(shape)

    budget = draw(budgets)
    share = draw(st.floats(0.0, 1.0))
    entry = ReceiptEntry(
        draw(st.text()),
        draw(st.text()),
        draw(st.integers(0, 2**63)),
        share,
        budget.mu * math.sqrt(share) * (1 - 1e-12),
        draw(positive),
        draw(positive),
    )
    return Release(
        statistic=draw(st.sampled_from(["mean", "sum", "variance", "quantile"])),
        estimate=array(finite),
        columns=tuple(draw(st.lists(st.text(), min_size=d, max_size=d))),
        noise_std=array(positive),
        sampling_std=array(positive) if draw(st.booleans()) else None,
        n=draw(finite),
        budget=budget,
        neighbors=draw(st.sampled_from(["replace", "add-remove"])),
        method=draw(st.text()),
        error_norm=draw(st.just(0.0) | st.floats(min_value=1.0)),
        receipt=(entry,),
        warnings=tuple(draw(st.lists(st.text(), max_size=2))),
        private=draw(st.booleans()),
        details=draw(st.dictionaries(st.text(), plain, max_size=3)),
    )


@given(releases())
def test_round_trip(release: Release) -> None:
    text = release.to_json()
    again = Release.from_json(text)
    assert again == release
    assert again.to_json() == text
    for name in ("estimate", "noise_std", "sampling_std"):
        before, after = getattr(release, name), getattr(again, name)
        assert (before is None) == (after is None)
        if before is not None:
            np.testing.assert_array_equal(after.view(np.int64), before.view(np.int64))
    assert again.budget.mu.hex() == release.budget.mu.hex()


@given(releases(), st.data())
def test_reading_a_release_with_a_field_removed_or_added_fails(
    release: Release, data: st.DataObject
) -> None:
    fields = json.loads(release.to_json())
    name = data.draw(st.sampled_from(sorted(fields)))
    missing = {k: v for k, v in fields.items() if k != name}
    for broken in (missing, {**fields, name + "_": 0}):
        try:
            Release.from_json(json.dumps(broken))
        except ValueError:
            continue
        raise AssertionError(f"read without complaint: {name}")


@given(releases(), st.floats(0.001, 0.998))
def test_wider_levels_give_wider_intervals_around_the_estimate(
    release: Release, level: float
) -> None:
    inner, outer = release.interval(level), release.interval(level + 0.001)
    assert np.all(outer[..., 0] <= inner[..., 0])
    assert np.all(inner[..., 1] <= outer[..., 1])
    cut = {"variance": [0.0], "count": [0.0], "covariance": [0.0], "correlation": [-1.0, 1.0]}
    least = np.isin(inner, cut.get(release.statistic, []))  # an estimate beyond is impossible
    assert np.all((inner[..., 0] <= release.estimate) | least[..., 0])
    assert np.all((release.estimate <= inner[..., 1]) | least[..., 1])


@given(releases())
def test_text_never_fails(release: Release) -> None:
    assert release.statistic in str(release)
    assert release.guarantee.endswith(".")
