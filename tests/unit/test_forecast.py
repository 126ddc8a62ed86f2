"""Forecasts: what imagined rows answer against real ones, and what a forecast says."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy import integrate, stats

import prolate
from prolate import Budget, BudgetError, InputError, expected_error
from prolate.forecast import rehearsal
from prolate.forecast.imagined import ImaginedRows
from prolate.forecast.question import Question
from prolate.forecast.rehearsal import moment
from prolate.noise import PARTS, NumberedBits, SeededBits
from prolate.queries import (
    RADIUS,
    ClippedSum,
    Count,
    CountBelow,
    Cut,
    EdgesGrid,
    FarthestHistogram,
    Histogram,
    LinearGrid,
    MagnitudeGrid,
    Magnitudes,
    NormHistogram,
    Norms,
    Pairs,
    PooledHistogram,
    Rotated,
    Selected,
)
from prolate.sources import Thinning

D, N = 8, 60000
MEAN = np.linspace(-3.0, 20.0, D)
SIGMA = np.geomspace(0.5, 4.0, D)
BUDGET = Budget(mu=0.5)
rng = np.random.default_rng(1)
ROWS = rng.normal(size=(N, D))
ROWS = (ROWS - ROWS.mean(axis=0)) / ROWS.std(axis=0) * SIGMA + MEAN
OFF = MEAN + 0.3 * SIGMA * rng.normal(size=D)
SCALE = np.sqrt(SIGMA)
LENGTH = float(np.sqrt(SIGMA.sum()))


@pytest.fixture(autouse=True)
def few_rehearsals(monkeypatch):
    monkeypatch.setattr(rehearsal, "_MOST", 4)


def imagined(n: int = N, fluctuation: np.ndarray | None = None) -> ImaginedRows:
    return ImaginedRows(n, MEAN, SIGMA, np.zeros(D) if fluctuation is None else fluctuation, 0)


COUNTS = {
    "count": Count(D),
    "linear": Histogram(LinearGrid(MEAN - SIGMA, SIGMA / 4, 9)),
    "edges": Histogram(EdgesGrid(MEAN[:, np.newaxis] + np.outer(SIGMA, [-2.0, 0.1, 1.0]))),
    "magnitude": Histogram(MagnitudeGrid(np.zeros(D), np.zeros(D, dtype=np.int64), 512, 54)),
    "half octaves": Histogram(MagnitudeGrid(OFF, np.arange(2020, 2020 + 2 * D, 2), 60, 51)),
    "norms": NormHistogram(OFF, 1 / SCALE, LENGTH * np.linspace(0.3, 2.0, 12)),
    "farthest": NormHistogram(OFF, 1 / SIGMA, np.linspace(0.3, 4.0, 12), farthest=True),
    "farthest columns": FarthestHistogram(OFF, 2 / SIGMA, 4),
    "below": CountBelow(MEAN + 0.5 * SIGMA),
    "pairs": Pairs(Magnitudes(CountBelow(0.7 * SIGMA))),
    "norm below": Norms(CountBelow(np.array([LENGTH])), OFF, 1 / SCALE),
    "pooled": PooledHistogram(MagnitudeGrid(OFF, np.full(D, 1015), 20, 52)),
    "some columns": Selected(CountBelow(MEAN[[5, 2]] + 0.5), np.array([5, 2]), D),
    "cut": Cut(CountBelow(MEAN), MEAN - 30, MEAN + 30),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_imagined_rows_are_those_of_real_ones(name):
    """Within six standard deviations of a count of N rows, or of two."""
    query = COUNTS[name]
    expected = imagined().collect(query, query.size).astype(float)
    found = query(ROWS).astype(float)
    assert np.all(np.abs(found - expected) <= 6.0 * np.sqrt(2.0 * np.maximum(expected, 4.0)))
    assert np.any(found > 0)


SUMS = {
    "most clipped": {"radius": 0.6 * LENGTH},
    "half clipped": {"radius": LENGTH},
    "few clipped": {"radius": 1.8 * LENGTH},
    "none clipped": {"radius": 1e3 * LENGTH},
    "values cut": {"radius": 1.3 * LENGTH, "lower": MEAN - 0.8 * SIGMA, "upper": MEAN + SIGMA},
    "tilted": {"radius": 1.5 * LENGTH, "tilt": (0.6 * LENGTH, 1.4 * LENGTH)},
}


@pytest.mark.parametrize("name", SUMS)
def test_clipped_sums_of_imagined_rows_are_those_of_real_ones(name):
    """Against many samples whose mean is exact: their average, and their fluctuation."""
    query, parts = ClippedSum(OFF, SCALE, **SUMS[name]), 120
    rows = rng.normal(size=(parts, N // parts, D))
    rows = (rows - rows.mean(axis=1, keepdims=True)) * SIGMA + MEAN
    found = np.array([query(part) for part in rows]) * (SUMS[name]["radius"] / RADIUS)
    unit = SUMS[name]["radius"] / RADIUS
    n = N // parts
    center = imagined(n).collect(query, D) * unit
    spread = np.abs(imagined(n, np.ones(D)).collect(query, D) * unit - center)
    std = found.std(axis=0)
    # Of cut values, and for the tilt, the law of the norm is approximated; single columns are
    # cut at twice the radius.
    slack = {"values cut": 0.03, "tilted": 0.15, "most clipped": 0.02}.get(name, 0.002)
    typical = np.abs(MEAN - OFF) / SCALE * n + std
    assert np.all(np.abs(found.mean(axis=0) - center) < 6 * std / np.sqrt(parts) + slack * typical)
    if name == "none clipped":
        assert np.all(spread < 1e-3 * n)
    elif name != "values cut":
        ratio = np.sqrt(np.mean(spread**2) / np.mean(std**2))
        assert 0.75 < ratio < 1.3


def test_what_imagined_rows_are_beyond_some_ends_is_what_real_ones_are():
    ends = {"lower": MEAN - 1.2 * SIGMA, "upper": MEAN + 1.5 * SIGMA}
    query = ClippedSum(np.zeros(D), SIGMA, 6.0, **ends, beyond=True)
    found = query(rng.normal(size=(N, D)) * SIGMA + MEAN) * (6.0 / RADIUS)
    expected = imagined(N).collect(query, D) * (6.0 / RADIUS)
    assert np.all(np.abs(expected) > 0.01 * N)
    assert np.all(np.abs(found - expected) < 6.0 * 0.3 * np.sqrt(N))


def test_a_sample_of_imagined_rows_has_a_mean_of_its_own():
    sample = imagined().thinned(Thinning(NumberedBits.from_bits(SeededBits(0)), PARTS // 16))
    assert sample.collect(Count(D), 1) == N // 16
    below = sample.collect(CountBelow(MEAN), D) - N / 32
    # Its mean is off by sigma sqrt(16 / N), so the count by sqrt(N / 16 / 2 pi), or about that.
    assert 0.2 < np.std(below) / np.sqrt(N / 16 / (2 * np.pi)) < 2.5


def test_what_is_not_foreseen_is_refused():
    query = Rotated(CountBelow(np.zeros(D)), np.ones(D), np.zeros(D))
    with pytest.raises(InputError, match="not foreseen: rows at or below"):
        imagined().collect(query, D)
    with pytest.raises(InputError, match="cannot be read"):
        imagined().blocks()


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0])
@pytest.mark.parametrize("off", [0.0, 0.4, -3.0, 1e4])
def test_moments_are_integrals(p, off):
    exact, _ = integrate.quad(
        lambda x: abs(x) ** p * stats.norm.pdf(x, off, 0.7), off - 9, off + 9, points=[0.0, off]
    )
    assert moment(np.array([off]), np.array([0.7]), p)[0] == pytest.approx(exact, rel=1e-6)
    assert moment(np.zeros(1), np.zeros(1), p)[0] == 0.0


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_the_ellipse_is_foretold_in_closed_form(neighbors):
    from prolate.theory import ClippedMean

    share = 1.0 if neighbors == "replace" else 0.99
    f = expected_error(
        n=5000, scale=SIGMA, budget=BUDGET, method="gaussian-ellipse", offset=0.2, clip=0.05,
        neighbors=neighbors,
    )  # fmt: skip
    mu = BUDGET.mu * np.sqrt(share)
    radius = ClippedMean(SIGMA, n=5000, mu=mu).radius(0.05)
    shifted = ClippedMean(SIGMA, n=5000, mu=mu, center_offset=0.2, neighbors=neighbors)
    assert f.noise == pytest.approx(shifted.at_radius(radius).root, rel=1e-6)
    assert f.sampling == pytest.approx(np.linalg.norm(SIGMA) / np.sqrt(5000), rel=1e-9)
    assert f.total == pytest.approx(np.hypot(f.noise, f.sampling), rel=1e-9)
    assert f.clipped > 0.05


def test_the_gaussian_mechanism_is_foretold_by_its_bounds():
    f = expected_error(n=5000, d=4, budget=BUDGET, method="gaussian", bounds=(-10, 10))
    # Sensitivity 2 |half|, in each of four columns.
    assert f.noise == pytest.approx(2 * 20.0 / 0.5 / 5000 * 2.0, rel=1e-4)
    assert f.shares == {"sum": 1.0}


# What the noise of a count adds is foretold from a dozen draws.
NEAR = [("replace", 0.1), ("add-remove", 0.35)]


@pytest.mark.parametrize(("neighbors", "near"), NEAR)
@pytest.mark.parametrize("center", [0.5, 0.1, [0.3, 0.2, 0.1, 0.02]])
def test_booleans_are_foretold_as_sums_within_their_bounds(center, neighbors, near):
    """They were foretold as normal columns, half of whose values are beyond the bounds."""
    n, d = 20_000, np.size(center)
    rows = np.random.default_rng(1).random((n, d)) < center
    f = expected_error(n=n, center=center, d=d, booleans=True, budget=BUDGET, neighbors=neighbors)
    r = prolate.mean(rows, budget=BUDGET, neighbors=neighbors, seed=1)
    assert f.noise_std == pytest.approx(r.noise_std, rel=near)
    assert f.sampling == pytest.approx(np.linalg.norm(r.sampling_std), rel=0.1)
    assert "independent booleans" in str(f)


@pytest.mark.parametrize(("neighbors", "near"), NEAR)
@pytest.mark.parametrize("center", [0.5, 0.1])
def test_a_column_as_spread_as_its_bounds_is_foretold_as_a_sum_within(center, neighbors, near):
    """The error was foretold to be up to 3,600 times as large."""
    rows = (np.random.default_rng(1).random((20_000, 1)) < center).astype(float)
    options = {"budget": BUDGET, "neighbors": neighbors, "bounds": (0, 1)}
    f = expected_error(n=20_000, scale=rows.std(axis=0), center=center, **options)
    r = prolate.mean(rows, seed=1, **options)
    assert f.noise == pytest.approx(r.noise_std[0], rel=near)


@pytest.mark.long
@pytest.mark.parametrize("method", ["auto", "plan"])
def test_rows_needed_and_budget_needed_are_where_they_say(method, monkeypatch):
    monkeypatch.setattr(rehearsal, "_MOST", 12)
    options = {"d": 4, "method": method}
    f = expected_error(n=8000, budget=BUDGET, target=0.01, **options)
    bought = expected_error(n=8000, budget=f.needed, **options)
    assert bought.noise == pytest.approx(0.01, rel=0.08)
    there = expected_error(n=f.rows_needed, budget=BUDGET, **options)
    assert there.noise < 1.1 * there.sampling
    fewer = expected_error(n=int(f.rows_needed / 1.4), budget=BUDGET, **options)
    assert fewer.noise > 0.9 * fewer.sampling  # twelve rehearsals of so few rows scatter


def test_the_budget_needed_comes_in_the_currency_that_was_given():
    options = {"n": 8000, "d": 6, "method": "gaussian-ellipse", "target": 0.01}
    mu = expected_error(**options).needed
    for budget, stated in (
        (Budget(epsilon=1, delta=1e-6), {"epsilon", "delta"}),
        (Budget(rho=1), {"rho"}),
        (Budget(mu=3), {"mu"}),
    ):
        needed = expected_error(**options, budget=budget).needed
        assert set(needed.stated) == stated
        assert needed.mu == pytest.approx(mu.mu, rel=0.02)
    assert expected_error(**options, delta=1e-9).needed.stated["delta"] == 1e-9
    assert expected_error(**options).budget == mu


def test_a_forecast_is_the_same_every_time_and_warns_as_a_release_would():
    first, again = (expected_error(n=250, d=20, budget=BUDGET) for _ in range(2))
    assert first.noise == again.noise
    rows = rng.normal(10.0, 1.0, size=(250, 20))
    release = prolate.mean(rows, budget=BUDGET, seed=1)
    assert first.warnings == release.warnings
    assert "few" in first.warnings[0]
    labels = {entry.label.rstrip(" 0123456789") for entry in release.receipt}
    assert set(first.shares) == labels


def test_it_prints_a_table_and_is_ready_for_json():
    f = expected_error(n=20000, scale=SIGMA, budget=BUDGET, method="gaussian-ellipse", target=0.1)
    lines = str(f).splitlines()
    assert lines[0] == (
        "Expected error of a private mean (gaussian-ellipse): 20,000 rows, 8 columns, mu = 0.5, "
        "neighbors: replace"
    )
    assert lines[2].split()[:2] == ["noise", f"{f.noise:.3g}"]
    assert "per column" not in str(f)
    assert f"{f.rows_needed:,}, for noise below sampling" in str(f)
    assert "for noise of 0.1 or less" in str(f)
    read = json.loads(json.dumps(f.to_dict(), allow_nan=False))
    assert read["noise"] == f.noise
    assert read["budget"]["mu"] == 0.5


def test_printing_computes_no_further_forecasts(monkeypatch, tmp_path):
    """Of 10,000 columns they took minutes."""
    f = expected_error(n=1, d=3, budget=BUDGET)
    monkeypatch.setattr(Question, "rows_needed", lambda *_: pytest.fail("computed"))
    for text in (str(f), f._repr_html_()):
        assert "rows needed" in text
        assert "takes about ten more forecasts" in text
        assert " 1 row, 3 columns" in text
    assert f"<td>{f.noise:.3g}</td>" in f._repr_html_()
    monkeypatch.setattr(Question, "rows_needed", lambda *_: 1234)
    assert json.loads(f.to_json(tmp_path / "f.json")) == f.to_dict()
    assert (tmp_path / "f.json").read_text(encoding="utf-8") == f.to_json()
    assert "1,234, for noise below sampling" in str(f)  # known by now


def test_columns_that_differ_have_a_row_each():
    """A root mean square over all of them was printed as the error "per column"."""
    f = expected_error(n=20_000, scale=[15.0, 20_000.0, 0.5], budget=BUDGET, method="plan")
    printed = str(f)
    rows = {line.split()[0]: line.split()[1:] for line in printed.splitlines() if line}
    assert rows["column"] == ["SD", "noise", "sampling", "both"]
    for name, scale, noise in zip("123", [15.0, 20_000.0, 0.5], f.noise_std, strict=True):
        both = np.hypot(noise, scale / np.sqrt(20_000))
        expected = [scale, noise, scale / np.sqrt(20_000), both]
        assert [float(number) for number in rows[name]] == pytest.approx(expected, rel=0.01)
    assert "--error-norm relative" in printed  # the first and last column are noise alone
    many = expected_error(
        n=9000, scale=np.arange(1.0, 91), budget=BUDGET, method="gaussian-ellipse"
    )
    assert "... 70 more ..." in str(many)


def test_the_unit_of_an_error_is_said():
    options = {"n": 20_000, "d": 3, "budget": BUDGET, "method": "gaussian-ellipse"}
    relative = expected_error(**options, scale=7.0, error_norm="relative")
    assert "per column, in SD" in str(relative)
    assert "standard deviations (SD) of the columns" in str(relative)
    assert "standard deviations of the columns" in str(expected_error(**options))
    assert "unit " not in str(expected_error(**options, scale=7.0))


def test_what_the_budget_is_spent_on_begins_with_the_answer():
    f = expected_error(n=9000, d=2, budget=BUDGET, method="plan")
    [shares] = [line for line in str(f).splitlines() if line.startswith("shares")]
    assert ", the answer itself; before it, to learn how the rows lie:" in shares


def test_forecasts_of_few_rows_can_be_printed():
    """Below some 250 rows, the answer is a rough mean, which had another label: printing failed."""
    f = expected_error(n=180, d=1, budget=Budget(epsilon=1, delta=1e-6))
    assert re.search(r"shares +mean \d+%, the answer itself", str(f))
    assert ", the answer itself" in f._repr_html_()
    assert sum(f.shares.values()) == pytest.approx(1.0)


def test_nearly_equal_questions_have_nearly_equal_answers(monkeypatch):
    """One cell more in a histogram changed all noise after it: errors jumped by 12 %."""
    monkeypatch.setattr(rehearsal, "_MOST", 12)
    rows = np.array([11_900, 12_000, 12_010, 12_050, 12_100])
    budget = Budget(epsilon=1, delta=1e-6)
    noise = np.array([expected_error(n=int(n), d=1, budget=budget).noise for n in rows])
    assert np.ptp(np.log(noise * rows)) < 0.02


@pytest.mark.parametrize("target", [0.01, 0.0023])
def test_the_budget_needed_makes_the_error_that_was_asked_for(target):
    """Noise of .0101 was printed above "for noise of 0.01"."""
    f = expected_error(n=12_000, d=1, delta=1e-6, target=target)
    assert 0.97 < f.noise / target < 1.0005  # fewer rehearsals have larger steps


def test_the_number_lies_on_its_line():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    f = expected_error(n=12_000, d=1, budget=BUDGET)
    axes = f.plot()
    rows, noise = axes.lines[0].get_data()
    assert noise[list(rows).index(12_000)] == pytest.approx(f.noise)
    assert "1 column," in axes.get_title()
    plt.close("all")


def test_it_plots():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    f = expected_error(n=20000, d=3, budget=BUDGET, method="gaussian-ellipse", target=0.1)
    axes = f.plot()
    noise, sampling = (line.get_ydata() for line in axes.lines[:2])
    assert np.all(np.diff(noise) < 0)
    assert np.all(np.diff(sampling) < 0)
    assert noise[3] == pytest.approx(f.noise)
    assert f.plot(axes) is axes
    plt.close("all")


def test_a_target_is_a_number_of_any_library():
    f = expected_error(n=20000, d=3, method="gaussian-ellipse", target=np.float32(0.5))
    assert f.target == 0.5


def test_extreme_arguments_have_an_answer():
    for options in (
        {"n": 1, "d": 1, "method": "gaussian-ellipse"},
        {"n": 1, "d": 1, "method": "gaussian-ellipse", "clip": "optimal"},
        {"n": 2**38, "d": 2},
        {"n": 20000, "scale": [1e-130, 1.0, 1e130]},
        {"n": 20000, "scale": [1e-130, 1.0, 1e130], "method": "gaussian-ellipse"},
        {"n": 20000, "d": 3, "center": 1e12},
    ):
        f = expected_error(budget=BUDGET, **options)
        assert f.noise > 0.0
        assert np.isfinite(f.noise)


BAD = {
    "neither": ({}, InputError, "Give d"),
    "rows": ({"d": 2, "n": 0}, InputError, "n must be a number of rows"),
    "part of a row": ({"d": 2, "n": 2.5}, InputError, "n must be a number of rows"),
    "columns": ({"d": 0}, InputError, "at least 1"),
    "scale": ({"d": 2, "scale": 0}, InputError, "positive"),
    "scales": ({"d": 2, "scale": [1, 2, 3]}, InputError, "3 numbers for 2 columns"),
    "no budget": ({"d": 2, "budget": None}, InputError, "Give a budget, or a target"),
    "budget": ({"d": 2, "budget": 1}, BudgetError, "prolate.Budget"),
    "target": ({"d": 2, "target": 0}, InputError, "target must be"),
    "target flag": ({"d": 2, "target": True}, InputError, "target must be"),
    "delta": ({"d": 2, "target": 1, "delta": 2}, BudgetError, "delta must lie"),
    "method": ({"d": 2, "method": "iome"}, InputError, "method must be one of"),
    "norm": ({"d": 2, "error_norm": 0}, InputError, "error_norm"),
    "neighbors": ({"d": 2, "neighbors": "swap"}, InputError, "neighbors"),
    "plan": ({"d": 2, "neighbors": "add-remove", "method": "plan"}, InputError, "PLAN"),
    "bounds": ({"d": 2, "method": "gaussian"}, InputError, "bounds"),
    "spread of booleans": (
        {"d": 2, "booleans": True, "scale": 0.5}, InputError, "follow from center",
    ),
    "part of booleans": ({"d": 2, "booleans": True, "center": 0}, InputError, "between 0 and 1"),
    "parts of booleans": (
        {"d": 2, "booleans": True, "center": [0.5]}, InputError, "center has 1 numbers",
    ),
    "booleans": ({"d": 2, "booleans": 1}, InputError, "booleans must be"),
    "clip": ({"d": 2, "clip": "optimal"}, InputError, "use clip='auto'"),
    "clip of plan": ({"d": 2, "clip": 0.1, "method": "plan"}, InputError, "clip is for"),
    "offset": ({"d": 2, "offset": 0.1}, InputError, "offset is for"),
    "out of reach": (
        {"d": 2, "target": 1e-15, "method": "gaussian-ellipse"}, InputError, "No budget up to",
    ),
}  # fmt: skip


def test_columns_of_a_table_within_a_table_are_found():
    """A forecast of 13 columns of very different scales could stop with a ValueError."""
    inner = Selected(CountBelow(np.zeros(2)), np.array([2, 0]), 3)
    assert rehearsal._columns_of(Selected(inner, np.array([5, 6, 7]), 8)).tolist() == [7, 5]
    assert rehearsal._columns_of(CountBelow(np.zeros(2))) is None


def test_relative_errors_are_those_of_columns_of_spread_one():
    options = {"n": 20_000, "budget": BUDGET, "error_norm": "relative"}
    one = expected_error(scale=[1e-3, 1.0, 100.0], **options)
    other = expected_error(d=3, **options)
    assert one.noise == pytest.approx(other.noise, rel=0.05)
    assert one.sampling == pytest.approx((3 / 20_000) ** 0.5)
    assert "errors relative to spreads" in str(one)


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_refused_with_a_sentence(name):
    options, error, text = BAD[name]
    with pytest.raises(error, match=text):
        expected_error(**{"n": 1000, "budget": BUDGET, **options})


def test_parts_of_the_rows_are_said_without_powers_of_ten():
    """Other values were said to be hidden "in up to about 1e+02 % of the rows".

    Where not even the size of values is known, it is said once: they are no single value.
    """
    for n, words in ((3, "not use these numbers"), (80, "by 37 % of the rows")):
        warnings = " ".join(expected_error(n=n, d=1, budget=Budget(mu=0.2367)).warnings)
        assert words in warnings
        assert "e+" not in warnings
        assert "single value" not in warnings
