"""The elliptical mechanism for known centers and scales: noise, radius, erratum, sensitivity."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import prolate
from prolate import Budget, InputError
from prolate.curator import Curator
from prolate.estimators import elliptical_mean, elliptical_sum
from prolate.queries import ClippedSum, Count
from prolate.sources import open_source
from prolate.theory import ClippedMean, exact_radius, optimal_b

SIGMA = np.array([1.0, 10.0, 100.0])
CENTER = np.array([1e4, 5.0, -3.0])
N = 2000
ROWS = np.random.default_rng(3).normal(CENTER, SIGMA, size=(N, 3))
BUDGET = Budget(mu=0.8)
KNOWN = {"budget": BUDGET, "method": "gaussian-ellipse", "center": CENTER, "scale": SIGMA}


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("clip", ["auto", 0.05, "optimal"])
def test_radius_and_noise_are_those_of_the_theory(neighbors, clip):
    release = prolate.mean(ROWS, clip=clip, neighbors=neighbors, seed=1, **KNOWN)
    left = 1.0 if neighbors == "replace" else 0.99  # a hundredth counts the rows
    theory = ClippedMean(SIGMA, n=release.n, mu=BUDGET.mu * np.sqrt(left), neighbors=neighbors)
    part = {"auto": 1.0 / release.n, "optimal": theory.best().clip}.get(clip, clip)
    assert release.details["clipped_fraction"] == pytest.approx(part, rel=1e-6)
    assert release.details["radius"] == pytest.approx(exact_radius(SIGMA, part), rel=1e-6)
    radius = release.details["radius"]
    unsure = 0.0 if neighbors == "replace" else release.receipt[0].noise_std / release.n
    noise = np.hypot(theory.noise_std(radius), unsure * np.abs(release.estimate - CENTER))
    assert release.noise_std == pytest.approx(noise, rel=1e-6)
    assert sum(entry.share for entry in release.receipt) == pytest.approx(1.0)


def test_the_shape_follows_the_norm():
    for p in (1, 2, 4):
        release = prolate.mean(ROWS, error_norm=p, seed=1, **KNOWN)
        slope = np.log(release.noise_std[2] / release.noise_std[0]) / np.log(100.0)
        assert slope == pytest.approx(2 / (p + 2), abs=1e-6)
    assert prolate.mean(ROWS, **KNOWN).noise_std * optimal_b(SIGMA) == pytest.approx(
        np.full(3, 2.0 * exact_radius(SIGMA, 1 / N) / (BUDGET.mu * N)), rel=1e-6
    )


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("clip", ["auto", 0.05])
def test_mean_and_sum_are_unbiased(neighbors, clip):
    """The average of 200 runs is within 6.5 standard deviations: false alarms below 1e-9.

    Rows come in pairs around the center, so that clipping takes nothing from their mean.
    """
    runs = 200
    rows = np.vstack([ROWS, 2.0 * CENTER - ROWS])
    for face, truth in ((prolate.mean, CENTER), (prolate.sum, len(rows) * CENTER)):
        releases = [
            face(rows, clip=clip, neighbors=neighbors, seed=run, **KNOWN) for run in range(runs)
        ]
        errors = np.array([release.estimate - truth for release in releases])
        std = np.mean([release.noise_std for release in releases], axis=0)
        assert np.all(np.abs(errors.mean(axis=0)) < 6.5 * std / np.sqrt(runs))
        # A ratio of standard deviations of 200 numbers: 6.5 of its own is 0.325.
        assert np.all(np.abs(errors.std(axis=0) / std - 1.0) < 0.325)


def test_the_center_is_added_in_the_datas_own_units():
    """The draft's Algorithm 3 scales the center by b**-1 too: off by 1e4 / b here."""
    release = prolate.mean(ROWS, seed=1, **KNOWN)
    assert np.all(np.abs(release.estimate - ROWS.mean(axis=0)) < 7.0 * release.noise_std)
    as_printed = (CENTER + (release.estimate - CENTER) * optimal_b(SIGMA)) / optimal_b(SIGMA)
    assert not np.all(np.abs(as_printed - ROWS.mean(axis=0)) < 7.0 * release.noise_std)


def test_a_sum_of_a_private_number_of_rows_takes_the_cheaper_way():
    far = prolate.sum(ROWS, neighbors="add-remove", seed=1, **KNOWN)
    assert [entry.label for entry in far.receipt] == ["rows", "rows again", "sum"]
    near = prolate.sum(
        ROWS - CENTER, neighbors="add-remove", seed=1, **{**KNOWN, "center": [0.1, 0.1, 0.1]}
    )
    assert [entry.label for entry in near.receipt] == ["rows", "sum"]
    for release, rows in ((far, ROWS), (near, ROWS - CENTER)):
        assert np.all(np.abs(release.estimate - rows.sum(axis=0)) < 7.0 * release.noise_std)
        assert abs(release.n - N) < 100


HARD = [0.0, 1.0, -1.0, 1e308, -1e308, np.nan, np.inf, 1e4, 1e4 + 4.0, -300.0]


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("estimator", [elliptical_mean, elliptical_sum])
def test_no_pair_of_rows_moves_a_query_by_more_than_its_sensitivity(neighbors, estimator):
    """Everything that is asked of the rows, on neighbors that differ in a hard row."""
    source = open_source(ROWS)
    curator = Curator(source, BUDGET, neighbors=neighbors, seed=0)
    asked = []
    collect = source.collect

    def spy(query, *rest):
        asked.append(query)
        return collect(query, *rest)

    source.collect = spy
    estimator(curator, center=CENTER, scale=SIGMA)
    assert {type(query) for query in asked} <= {ClippedSum, Count}
    assert any(isinstance(query, ClippedSum) for query in asked)
    rows = [np.array(row) for row in itertools.product(HARD, repeat=3)][::3]
    for query in asked:
        vectors = np.array([query(row[np.newaxis]) for row in rows], dtype=np.float64)
        if neighbors == "add-remove":
            moves = np.sum(vectors**2, axis=1)
        else:
            moves = np.sum((vectors[:, np.newaxis] - vectors) ** 2, axis=2)
        assert moves.max() <= query.sensitivity_squared(neighbors)
        if isinstance(query, ClippedSum):  # not only a bound
            assert moves.max() > 0.99 * query.sensitivity_squared(neighbors)


def test_a_missing_value_counts_as_the_center():
    rows = np.full((500, 3), np.nan)
    release = prolate.mean(rows, seed=1, **KNOWN)
    assert np.all(np.abs(release.estimate - CENTER) < 7.0 * release.noise_std)
    total = prolate.sum(rows, seed=1, **KNOWN)
    assert np.all(np.abs(total.estimate - 500 * CENTER) < 7.0 * total.noise_std)


def test_odd_numbers_of_rows_and_odd_scales():
    for rows in (ROWS[:1], ROWS[:2], ROWS[:0]):
        for neighbors in ("replace", "add-remove"):
            if len(rows) == 0 and neighbors == "replace":
                continue
            for clip in ("auto", "optimal"):
                release = prolate.mean(rows, clip=clip, neighbors=neighbors, seed=1, **KNOWN)
                assert np.all(np.isfinite(release.estimate))
    wide = {**KNOWN, "scale": [1e-140, 1.0, 1e140]}
    for clip in ("auto", "optimal"):
        assert np.all(np.isfinite(prolate.mean(ROWS, clip=clip, seed=1, **wide).estimate))


def test_centers_and_scales_may_be_named():
    names = {"x2": -3.0, "x0": 1e4, "x1": 5.0}
    first = prolate.mean(ROWS, seed=1, **{**KNOWN, "center": names})
    assert np.array_equal(first.estimate, prolate.mean(ROWS, seed=1, **KNOWN).estimate)
    with pytest.raises(InputError, match="no number for column 'x2'"):
        prolate.mean(ROWS, **{**KNOWN, "center": {"x0": 1.0, "x1": 1.0}})
    with pytest.raises(InputError, match="names a column that is not used: 'x9'"):
        prolate.mean(ROWS, **{**KNOWN, "center": {"x9": 1.0}})


@pytest.mark.parametrize(
    ("face", "options", "text"),
    [
        ("mean", {"center": 1}, "needs a public scale"),
        ("mean", {"scale": 1}, "needs a public center"),
        ("sum", {}, "needs a public center and a public scale"),
        ("mean", {"center": 1, "scale": 1, "clip": "best"}, "'optimal', for method"),
        ("mean", {"center": 1, "scale": -1}, "positive"),
        ("mean", {"center": 1, "scale": 1, "rotation": "auto"}, "for method='auto'"),
        ("mean", {"method": "auto", "clip": "optimal"}, "use clip='auto'"),
        ("sum", {"method": "auto", "clip": 0.1, "bounds": (0, 1)}, "for method='gaussian-ellipse'"),
        ("sum", {"method": "auto"}, "needs the bounds"),
    ],
)
def test_what_is_missing_or_wrong_is_said(face, options, text):
    with pytest.raises(InputError, match=text):
        getattr(prolate, face)(ROWS, **{"budget": BUDGET, "method": "gaussian-ellipse", **options})


def test_an_interval_says_how_the_sum_was_clipped():
    assert "ellipse" in prolate.sum(ROWS, **KNOWN).interval_covers


def test_a_center_that_is_off_costs_the_noise_of_a_private_number_of_rows() -> None:
    """A mean one standard deviation off stated a third of its noise."""
    rows = np.random.default_rng(1).normal(100.0, 10.0, (2000, 1))
    given = {"neighbors": "add-remove", "method": "gaussian-ellipse", "center": 110.0, "scale": 10}
    budget = prolate.Budget(epsilon=1, delta=1e-6)
    made = [prolate.mean(rows, budget=budget, seed=seed, **given) for seed in range(60)]
    found = np.array([one.estimate[0] for one in made])
    assert 0.7 < np.std(found) / np.mean([one.noise_std[0] for one in made]) < 1.3
