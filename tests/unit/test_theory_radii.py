"""Radii: the exact one against the norm's own distribution, the closed forms against the drafts."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from prolate.errors import InputError
from prolate.theory import radii

SOURCES = Path(radii.__file__).resolve().parents[2]
SIGMA = np.array([4.0, 1.0, 1.0, 0.25])
MANY = np.linspace(1.0, 1.5, 400)


def test_lemma_4_1() -> None:
    b = radii.optimal_b(SIGMA)
    assert b == pytest.approx(1.0 / np.sqrt(SIGMA * 6.25))
    assert np.sum((b * SIGMA) ** 2) == pytest.approx(1.0)
    assert radii.squared_norm(SIGMA).mean == pytest.approx(1.0)


@pytest.mark.parametrize("p", [0.5, 1e-3, 1e-9])
def test_the_exact_radius_of_equal_columns_is_chi(p: float) -> None:
    expected = math.sqrt(stats.chi2.isf(p, 7) / 7)
    assert radii.exact_radius(np.full(7, 3.0), p) == pytest.approx(expected, rel=1e-12)
    plain = radii.exact_radius(np.full(7, 3.0), p, b=np.ones(7))
    assert plain == pytest.approx(3.0 * math.sqrt(stats.chi2.isf(p, 7)), rel=1e-12)


def test_the_exact_radius_clips_as_often_as_it_says() -> None:
    offset = np.array([1.0, -0.5, 0.0, 0.25])
    radius = radii.exact_radius(SIGMA, 0.1, center_offset=offset)
    rng = np.random.default_rng(3)
    y = (rng.normal(size=(200_000, 4)) * SIGMA + offset) * radii.optimal_b(SIGMA)
    clipped = np.mean(np.linalg.norm(y, axis=1) > radius)
    assert abs(clipped - 0.1) < 6.5 * math.sqrt(0.09 / 200_000)  # false alarms below 1e-10
    assert radii.exact_radius(SIGMA, 0.1) < radius


def test_closed_forms_as_the_drafts_write_them() -> None:
    p, total = 1e-4, SIGMA.sum()
    table = radii.radius_table(SIGMA, clip=p)
    # Theorem 4's proof: C**2 = sqrt(8 ln(n) sum(sigma**2)) / sum(sigma) + 1.
    bernstein = math.sqrt(8 * math.log(1 / p) * np.sum(SIGMA**2)) / total + 1
    assert table["Bernstein"].radius ** 2 == pytest.approx(bernstein)
    # "Extra": t = -(C ln(p/2) - sqrt(ln(p/2) (-18 Var + C**2 ln(p/2)))) / 3, at p = 0.0001.
    var, c, log = 2 * np.sum(SIGMA**2) / total**2, SIGMA.max() * 16 / total, math.log(p / 2)
    t = -(c * log - math.sqrt(log * (-18 * var + c**2 * log))) / 3
    assert table["Bernstein, 1 + t"].radius ** 2 == pytest.approx(1 + t)
    # It solves 2 exp(-(t**2 / 2) / (Var + C t / 3)) = p.
    assert 2 * math.exp(-(t**2) / 2 / (var + c * t / 3)) == pytest.approx(p)
    assert table["Chebyshev"].radius ** 2 == pytest.approx(1 + math.sqrt(var / p))


@pytest.mark.parametrize("sigma", [SIGMA, MANY, np.ones(3), 1.0 / np.arange(1.0, 101.0)])
@pytest.mark.parametrize("p", [0.1, 1e-3, 1e-9])
def test_bounds_are_bounds_where_their_condition_holds(sigma: np.ndarray, p: float) -> None:
    table = radii.radius_table(sigma, clip=p)
    for row in table.rows:
        assert row.clips == pytest.approx(radii.squared_norm(sigma).sf(row.radius**2))
        assert row.noise == pytest.approx((row.radius / table["exact"].radius) ** 2)
        if row.holds:
            assert row.clips <= (2.0 if row.name.endswith("t") else 1.0 + 1e-9) * p
    need, limit = math.log(1 / p), np.sum(sigma**2) / (18 * sigma.max() ** 2)
    assert table["Bernstein"].holds == (need <= limit)
    assert table["Chebyshev"].holds


def test_lemma_4_2_is_no_bound_without_its_condition() -> None:
    row = radii.radius_table([1.0, 0.01], clip=1e-12)["Bernstein"]
    assert not row.holds
    assert row.clips > 10 * 1e-12


def test_the_table_prints_all_radii() -> None:
    text = str(radii.radius_table(SIGMA, n=1000))
    lines = text.splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == [
        "exact", "Bernstein", "Bernstein, 1 + t", "Chebyshev"
    ]  # fmt: skip
    assert "FAILS: ln(1/p) = 6.91 > 0.06" in text
    assert "0.001" in lines[1]
    assert "holds: ln(1/p) = 6.91 <= 15.6" in str(radii.radius_table(MANY, n=1000))
    with pytest.raises(KeyError):
        radii.radius_table(SIGMA, n=1000)["Hoeffding"]


def test_theorem_4() -> None:
    found = radii.theorem_4(MANY, n=1000, mu=0.5)
    assert found.holds
    assert found.exact < found.bound < 2 * found.exact
    square = radii.exact_radius(MANY, 1e-3) ** 2
    assert found.exact == pytest.approx(4 * square / 0.25 * MANY.sum() ** 2)
    by_lemma = radii.radius_table(MANY, n=1000)["Bernstein"].radius ** 2
    assert found.bound / found.exact == pytest.approx(by_lemma / square)
    assert not radii.theorem_4(SIGMA, n=1000, mu=0.5).holds


def test_noise_follows_the_neighbors() -> None:
    both = [
        radii.expected_noise(SIGMA, 2.0, mu=3.0, neighbors=neighbors)
        for neighbors in ("replace", "add-remove")
    ]
    assert both[0] == pytest.approx(4 * both[1])
    assert both[1] == pytest.approx((2.0 / 3.0) ** 2 * SIGMA.sum() ** 2)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: radii.exact_radius([1.0, 0.0], 0.1), "sigma must be a list of positive"),
        (lambda: radii.exact_radius([], 0.1), "sigma must be a list of positive"),
        (lambda: radii.exact_radius(["x"], 0.1), "sigma must be numbers"),
        (lambda: radii.exact_radius([1.0], 0.0), "clip must lie between 0 and 1"),
        (lambda: radii.exact_radius([1.0], 1.0), "clip must lie between 0 and 1"),
        (lambda: radii.exact_radius([1.0], 0.1, b=[1.0, 2.0]), "b must have a number for each"),
        (lambda: radii.exact_radius([1.0], 0.1, center_offset=[1.0, 2.0]), "center_offset must"),
        (lambda: radii.exact_radius([1.0], 0.1, center_offset=math.nan), "center_offset must"),
        (lambda: radii.exact_radius([1.0], 0.1, center_offset="far"), "center_offset must"),
        (lambda: radii.radius_table([1.0]), "Give either n"),
        (lambda: radii.radius_table([1.0], n=10, clip=0.1), "Give either n"),
        (lambda: radii.radius_table([1.0], n=1), "n must be larger than 1"),
        (lambda: radii.theorem_4([1.0], n=1, mu=1.0), "n must be larger than 1"),
        (lambda: radii.expected_noise([1.0], 1.0, mu=0.0), "mu must be positive"),
        (lambda: radii.sensitivity(1.0, "both"), "neighbors must be"),
    ],
)
def test_bad_arguments(call, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        call()


def test_the_room_opens_its_modules_when_asked() -> None:
    script = (
        "import sys, prolate; before = [m for m in sys.modules if m.startswith('prolate.theory.')];"
        "from prolate import theory; assert all(hasattr(theory, name) for name in theory.__all__);"
        "assert not hasattr(theory, 'nothing'); print(before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=SOURCES
    )
    assert "prolate.theory.contour" not in done.stdout
