"""Chi-square mixtures against exact cases, 50-digit arithmetic and published tables."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from prolate.errors import InputError
from prolate.theory import chi2_mixture
from prolate.theory.chi2_mixture import ChiSquareMixture

TIGHT = 1e-9  # relative; the promise is 1e-8

TAILS = (0.999999, 0.9, 0.3, 1e-3, 1e-6, 1e-12)


def off(found: float, exact: object) -> float:
    return abs(float(mpmath.mpf(found) / mpmath.mpf(exact) - 1))


# --- exact cases -------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 3, 10, 100, 1000, 100_000])
def test_equal_weights_are_chi_square(d: int) -> None:
    Q = ChiSquareMixture(np.full(d, 2.5))
    for p in (*TAILS, 1e-100):
        upper, lower = 2.5 * stats.chi2.isf(p, d), 2.5 * stats.chi2.ppf(p, d)
        assert off(Q.sf(upper), p) < TIGHT
        assert off(Q.isf(p), upper) < TIGHT
        assert off(Q.cdf(lower), p) < TIGHT
        assert off(Q.ppf(p), lower) < TIGHT
        assert off(Q.pdf(upper), stats.chi2.pdf(upper / 2.5, d) / 2.5) < TIGHT


@pytest.mark.parametrize("decades", [0.5, 3, 12])
@pytest.mark.parametrize("pairs", [1, 2, 7, 25])
def test_pairs_of_equal_weights_are_hypoexponential(pairs: int, decades: float) -> None:
    weights = np.logspace(0.0, -decades, pairs)
    Q = ChiSquareMixture(np.repeat(weights, 2))
    with mpmath.workdps(200):  # the sum cancels
        scales = [2 * mpmath.mpf(float(w)) for w in weights]
        shares = [mpmath.fprod(a / (a - b) for b in scales if b != a) for a in scales]

        def sf(x: float) -> mpmath.mpf:
            return mpmath.fdot(shares, [mpmath.exp(-mpmath.mpf(x) / a) for a in scales])

        def pdf(x: float) -> mpmath.mpf:
            return mpmath.fdot(shares, [mpmath.exp(-mpmath.mpf(x) / a) / a for a in scales])

        for p in TAILS:
            x = Q.isf(p)
            assert off(Q.sf(x), sf(x)) < TIGHT
            assert off(Q.cdf(x), 1 - sf(x)) < TIGHT
            assert off(Q.pdf(x), pdf(x)) < TIGHT
            assert off(p, sf(x)) < TIGHT


@pytest.mark.parametrize("d", [1, 2, 20])
@pytest.mark.parametrize("shift", [0.01, 3.0, 400.0])
def test_equal_weights_and_shifts_are_noncentral_chi_square(d: int, shift: float) -> None:
    """The noncentral chi-square is a Poisson mixture of central ones, summed in 40 digits."""
    Q = ChiSquareMixture(np.full(d, 0.5), np.full(d, shift / d))
    for p in TAILS:
        x = Q.isf(p)
        with mpmath.workdps(40):
            half, total = mpmath.mpf(shift) / 2, mpmath.mpf(0)
            weight = mpmath.exp(-half)
            for k in range(900):
                order = mpmath.mpf(d) / 2 + k
                total += weight * mpmath.gammainc(order, mpmath.mpf(x), regularized=True)
                weight *= half / (k + 1)
                if k > shift and weight < mpmath.mpf(10) ** -30:
                    break
            assert off(Q.sf(x), total) < TIGHT


def test_one_square_is_the_normal_tail() -> None:
    for z in (1e-3, 0.5, 2.0, 8.0, 30.0, 300.0):
        expected = math.log(2.0) + float(stats.norm.logsf(z))
        assert ChiSquareMixture([1.0]).logsf(z * z) == pytest.approx(expected, rel=1e-12)
        lower = ChiSquareMixture([1.0]).cdf(z * z)
        assert lower == pytest.approx(math.erf(z / math.sqrt(2.0)), rel=1e-12)


# --- published numbers -------------------------------------------------------------------------

# Davies (1980), algorithm AS 155, Table 3: weights, degrees of freedom, squared noncentralities,
# and P(Q < x) at three x. His error bound is 1e-4.
DAVIES = [
    ([6, 3, 1], [1, 1, 1], [0, 0, 0], {1: 0.0542, 7: 0.4936, 20: 0.8760}),
    ([6, 3, 1], [2, 2, 2], [0, 0, 0], {2: 0.0064, 20: 0.6002, 60: 0.9839}),
    ([6, 3, 1], [6, 4, 2], [0, 0, 0], {10: 0.0027, 50: 0.5648, 120: 0.9912}),
    ([7, 3], [6, 2], [6, 2], {20: 0.0061, 100: 0.5913, 200: 0.9779}),
]
# Imhof (1961), Table 1: P(Q > x).
IMHOF = [
    ([1, 1, 1], {0.1: 0.9458, 0.7: 0.5064, 2.0: 0.1240}),
    ([2, 2, 2], {0.2: 0.9936, 2.0: 0.3998, 6.0: 0.0161}),
    ([6, 4, 2], {1.0: 0.9973, 5.0: 0.4353, 12.0: 0.0088}),
    ([2, 4, 6], {1.0: 0.9666, 3.0: 0.4196, 8.0: 0.0087}),
]


@pytest.mark.parametrize(("weights", "freedom", "shift", "table"), DAVIES)
def test_davies_table(
    weights: list[float], freedom: list[int], shift: list[float], table: dict[float, float]
) -> None:
    each = np.repeat(np.array(shift) / np.array(freedom), freedom)
    Q = ChiSquareMixture(np.repeat(weights, freedom), each)
    for x, published in table.items():
        assert Q.cdf(x) == pytest.approx(published, abs=1.5e-4)


@pytest.mark.parametrize(("freedom", "table"), IMHOF)
def test_imhof_table(freedom: list[int], table: dict[float, float]) -> None:
    for x, published in table.items():
        found = chi2_mixture.sf(x, np.repeat([0.6, 0.3, 0.1], freedom))
        assert found == pytest.approx(published, abs=1e-4)


def ruben(weights: np.ndarray, shift: np.ndarray, x: float) -> mpmath.mpf:
    """P(Q <= x) by Ruben's series of chi-squares (1962; Farebrother's AS 204), 50 digits."""
    w = [mpmath.mpf(float(v)) for v in weights]
    shifts = [mpmath.mpf(float(v)) for v in shift]
    beta, half = min(w), mpmath.mpf(len(w)) / 2
    ratio = [1 - beta / v for v in w]
    share = [mpmath.exp(-mpmath.fsum(shifts) / 2) * mpmath.fprod(mpmath.sqrt(beta / v) for v in w)]
    slopes, left = [], 1 - share[0]
    y = mpmath.mpf(x) / beta / 2
    total = share[0] * mpmath.gammainc(half, 0, y, regularized=True)
    k = 0
    while left > mpmath.mpf(10) ** -40 * total:
        k += 1
        slopes.append(
            mpmath.fsum(r**k + k * s * beta / v * r ** (k - 1)
                        for r, s, v in zip(ratio, shifts, w, strict=True)) / 2
        )  # fmt: skip
        share.append(mpmath.fdot(slopes, reversed(share)) / k)
        left -= share[k]
        total += share[k] * mpmath.gammainc(half + k, 0, y, regularized=True)
        if k > 400:
            raise AssertionError
    return total


@pytest.mark.parametrize("shifted", [False, True])
def test_rubens_series(shifted: bool) -> None:
    weights = np.array([1.0, 0.9, 0.7, 0.55, 0.5])
    shift = np.array([0.0, 2.0, 0.5, 0.0, 1.0]) * shifted
    Q = ChiSquareMixture(weights, shift)
    with mpmath.workdps(50):
        for p in (1e-9, 1e-3, 0.5, 0.97):
            x = Q.ppf(p)
            assert off(Q.cdf(x), ruben(weights, shift, x)) < TIGHT
        for p in (1e-3, 1e-9):
            x = Q.isf(p)
            assert off(Q.sf(x), 1 - ruben(weights, shift, x)) < TIGHT


# --- 50 digits ---------------------------------------------------------------------------------

MIXTURES: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "one, shifted": (np.ones(1), np.array([5.0])),
    "two, 6 decades": (np.array([1.0, 1e-6]), np.zeros(2)),
    "two, shifted": (np.array([1.0, 0.25]), np.array([0.0, 2.0])),
    "three": (np.array([3.0, 2.0, 1.0]), np.zeros(3)),
    "three, 8 decades": (np.array([1.0, 1e-4, 1e-8]), np.zeros(3)),
    "12 decades": (np.logspace(0.0, -12.0, 13), np.zeros(13)),
    "12 decades, shifted": (np.logspace(0.0, -12.0, 13), np.arange(13.0) ** 2),
    "least one far off": (np.logspace(0.0, -12.0, 13), np.r_[np.zeros(12), 1e12]),
    "one dominates nine": (np.r_[1.0, 1e-3 * np.arange(1.0, 10.0)], np.zeros(10)),
    "one dominates forty": (np.r_[1.0, 1e-4 * np.linspace(0.5, 1.5, 40)], np.zeros(41)),
    "Zipf": (1.0 / np.arange(1.0, 31.0), np.zeros(30)),
    "Zipf squared, shifted": (np.arange(1.0, 21.0) ** -2, np.full(20, 0.3)),
}


def inverted(weights: np.ndarray, shift: np.ndarray, x: float) -> mpmath.mpf:
    """P(Q > x) by adaptive quadrature along a ray at 60 degrees, from no saddlepoint."""
    w, s = ([mpmath.mpf(float(v)) for v in values] for values in (weights, shift))
    x = mpmath.mpf(x)
    right = x > mpmath.fdot(w, [1 + v for v in s])
    center = 1 / (4 * max(w)) if right else -(mpmath.mpf(len(w)) / 4 + 1) / x
    ray = mpmath.expjpi(mpmath.mpf(1) / 3)

    def integrand(r: mpmath.mpf) -> mpmath.mpc:
        z = center + r * ray
        factors = [1 - 2 * a * z for a in w]
        logs = mpmath.fsum(-mpmath.log(f) / 2 for f in factors)
        shifts = mpmath.fsum(b * a * z / f for a, b, f in zip(w, s, factors, strict=True))
        return mpmath.exp(logs + shifts - z * x) / z * ray

    ends = [mpmath.mpf(0), *(abs(center) * mpmath.mpf(10) ** k for k in range(-3, 16))]
    total = mpmath.mpf(0)
    for a, b in itertools.pairwise(ends):
        part = mpmath.quad(integrand, [a, b], maxdegree=8)
        total += part
        if a > 0 and abs(part) < mpmath.mpf(10) ** -30 * abs(total):
            break
    return total.imag / mpmath.pi if right else 1 + total.imag / mpmath.pi


# Computed by `inverted` with 50 digits: mixture, x, P(Q > x).
REFERENCE = """
one, shifted;2.3312685e-10;0.9999989999999894775948777
one, shifted;6.1972022;0.4000000027835740281277438
one, shifted;28.369475;0.0009999999089243405825645473
one, shifted;48.853002;0.000001000000148872957521177556
one, shifted;85.943131;9.999998949554331334447389e-13
two, 6 decades;2.0005001e-09;0.9999990000000127568501114
two, 6 decades;0.7083273;0.4000000002667819794649009
two, 6 decades;10.827567;0.00100000009217404071437813
two, 6 decades;23.928128;0.0000009999999880194750445055841
two, 6 decades;50.844129;9.999999550733289967535757e-13
two, shifted;2.7182791e-06;0.999998999999984393620722
two, shifted;1.6560108;0.3999999917101057539322853
two, shifted;11.810041;0.000999999880290217169824093
two, shifted;24.894236;0.000001000000005700920788826972
two, shifted;51.803862;1.000000234793757861463007e-12
three;0.00043940116;0.9999990000000109723807406
three;5.6963058;0.4000000026322684898453603
three;37.380537;0.001000000030277262750963898
three;76.456807;0.0000009999999695644489028335632
three;157.10895;1.000000151022782705765498e-12
three, 8 decades;2.8446519e-08;0.9999990000000082977076947
three, 8 decades;0.70842632;0.400000000952351137083413
three, 8 decades;10.827666;0.001000000100524765168350931
three, 8 decades;23.928227;0.0000009999999959194183726008511
three, 8 decades;50.844228;9.999999627655560749253189e-13
12 decades;0.00014413059;0.9999989999999580218321054
12 decades;0.83665345;0.4000000014025739189238016
12 decades;10.944636;0.0009999999765690832560530929
12 decades;24.044894;0.000001000000105060904100118197
12 decades;50.960765;9.999999952160560040288055e-13
12 decades, shifted;0.0035566027;0.9999989999999421103543749
12 decades, shifted;1.0197069;0.4000000072485764587307734
12 decades, shifted;11.10827;0.00100000001823425743715931
12 decades, shifted;24.207851;0.000001000000142722622392769659
12 decades, shifted;51.123434;9.999998216099136833135266e-13
least one far off;1.0001441;0.99999900017983303775114
least one far off;1.8366535;0.3999999845177975688180337
least one far off;11.944636;0.0009999999765696732909379295
least one far off;25.044894;0.000001000000105061445242140441
least one far off;51.960765;9.999999952165754971660725e-13
one dominates nine;0.0024990029;0.9999990000000490841928101
one dominates nine;0.75367705;0.400000000268630809568576
one dominates nine;10.872723;0.0009999998130589398088690995
one dominates nine;23.973276;0.000001000000089162946502575673
one dominates nine;50.889274;9.999999597208738796081706e-13
one dominates forty;0.0014804758;0.9999990000001088035773327
one dominates forty;0.71232683;0.3999999985296172687216345
one dominates forty;10.831566;0.001000000220516781171363834
one dominates forty;23.932127;0.000001000000105738318459458031
one dominates forty;50.848128;1.000000068084552740427466e-12
Zipf;0.54656936;0.9999989999999787594099063
Zipf;4.0080359;0.3999999977535579133760894
Zipf;14.294399;0.0009999997420871665362825669
Zipf;27.354726;0.000001000000033077934797418812
Zipf;54.256728;1.000000198231386766699196e-12
Zipf squared, shifted;0.056610748;0.9999990000000040765340727
Zipf squared, shifted;1.8378363;0.3999999981221030062412085
Zipf squared, shifted;14.11321;0.001000000076097466049649504
Zipf squared, shifted;28.95571;0.000001000000086455263901041596
Zipf squared, shifted;58.339739;1.000000201666308336927468e-12
"""


def references() -> list[tuple[str, float, mpmath.mpf]]:
    lines = [line.split(";") for line in REFERENCE.strip().splitlines()]
    with mpmath.workdps(50):
        return [(name, float(x), mpmath.mpf(p)) for name, x, p in lines]


def test_fifty_digits() -> None:
    assert {name for name, _, _ in references()} == set(MIXTURES)
    worst = 0.0
    for name, x, p in references():
        Q = ChiSquareMixture(*MIXTURES[name])
        with mpmath.workdps(50):
            errors = [off(Q.sf(x), p), off(Q.cdf(x), 1 - p), off(Q.sf(Q.isf(float(p))), float(p))]
        worst = max(worst, *errors)
    print(f"worst relative error {worst:.1e}")
    assert worst < TIGHT


@pytest.mark.long
def test_fifty_digits_computed_again() -> None:
    for name, x, p in references():
        with mpmath.workdps(50):
            assert off(p, inverted(*MIXTURES[name], x)) < 1e-20


# --- the interface -----------------------------------------------------------------------------


def test_numbers_and_arrays() -> None:
    Q = ChiSquareMixture([2.0, 1.0], 0.5)
    x = np.array([[0.5, 1.0], [4.0, 60.0]])
    for name in ("sf", "cdf", "pdf", "logsf", "logcdf"):
        method, function = getattr(Q, name), getattr(chi2_mixture, name)
        values = method(x)
        assert values.shape == x.shape
        assert isinstance(method(4.0), float)
        assert method(4.0) == values[1, 0] == function(4.0, [2.0, 1.0], 0.5)
    p = np.array([1e-9, 0.2, 0.9])
    for name in ("ppf", "isf"):
        values = getattr(Q, name)(p)
        assert np.array_equal(values, getattr(chi2_mixture, name)(p, [2.0, 1.0], [0.5, 0.5]))
    assert chi2_mixture.quantile is chi2_mixture.ppf


def test_zero_weights_do_not_matter() -> None:
    assert ChiSquareMixture([1.0, 0.0, 2.0], [1.0, 50.0, 0.0]).sf(5.0) == pytest.approx(
        ChiSquareMixture([1.0, 2.0], [1.0, 0.0]).sf(5.0), rel=1e-14
    )


def test_ends() -> None:
    Q = ChiSquareMixture([1.0, 3.0])
    assert (Q.sf(0.0), Q.cdf(0.0), Q.sf(-1.0), Q.pdf(-1.0)) == (1.0, 0.0, 1.0, 0.0)
    assert (Q.sf(math.inf), Q.cdf(math.inf), Q.pdf(math.inf)) == (0.0, 1.0, 0.0)
    assert (Q.ppf(0.0), Q.ppf(1.0), Q.isf(0.0), Q.isf(1.0)) == (0.0, math.inf, math.inf, 0.0)
    assert Q.pdf(0.0) == pytest.approx(Q.pdf(1e-13), rel=1e-12)
    assert ChiSquareMixture([1.0]).pdf(0.0) == math.inf
    assert ChiSquareMixture([1.0] * 3).pdf(0.0) == 0.0
    assert ChiSquareMixture([1.0]).ppf(1e-300) == 0.0  # 1.6e-600


@pytest.mark.parametrize("d", [1, 2, 50])
def test_tails_far_beyond_doubles(d: int) -> None:
    Q = ChiSquareMixture(np.ones(d))
    with mpmath.workdps(30):
        exact = mpmath.log(mpmath.gammainc(mpmath.mpf(d) / 2, 5e4, regularized=True))
    assert off(Q.logsf(1e5), exact) < 1e-12
    assert Q.sf(1e5) == 0.0
    expected = d / 2 * math.log(1e-200 / 2) - math.lgamma(d / 2 + 1)
    assert Q.logcdf(1e-200) == pytest.approx(expected, rel=1e-12)


def test_moments() -> None:
    rng = np.random.default_rng(5)
    weights, shift = rng.random(4), rng.random(4)
    Q = ChiSquareMixture(weights, shift)
    squares = (rng.normal(size=(200_000, 4)) + np.sqrt(shift)) ** 2 @ weights
    assert Q.mean == pytest.approx(squares.mean(), abs=6.5 * math.sqrt(Q.var / squares.size))
    assert Q.var == pytest.approx(squares.var(), rel=0.05)


@pytest.mark.parametrize(
    ("weights", "shift", "sentence"),
    [
        ([], None, "At least one weight"),
        ([0.0, 0.0], None, "At least one weight"),
        ([1.0, -1.0], None, "weights must be finite and not negative"),
        ([1.0, math.nan], None, "weights must be finite"),
        (["a"], None, "weights must be numbers"),
        ([1.0], [-1.0], "noncentrality must be finite and not negative"),
        ([1.0, 2.0], [1.0, 2.0, 3.0], "got shapes"),
        (1.0, None, "got shapes"),
    ],
)
def test_bad_mixtures(weights: object, shift: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        ChiSquareMixture(weights, shift)


def test_bad_points() -> None:
    Q = ChiSquareMixture([1.0])
    with pytest.raises(InputError, match="x must not be NaN"):
        Q.sf(math.nan)
    with pytest.raises(InputError, match="x must be a number"):
        Q.cdf("five")
    for p in (-0.1, 1.1):
        with pytest.raises(InputError, match="p must lie between 0 and 1"):
            Q.ppf(p)


# --- large mixtures ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["equal", "distinct", "12 decades", "Zipf"])
def test_a_hundred_thousand_columns(kind: str) -> None:
    """Right and left of the mean by different paths."""
    d = 100_000
    weights = {
        "equal": np.full(d, 1e-5),
        "distinct": np.random.default_rng(0).random(d),
        "12 decades": np.logspace(-12.0, 0.0, d),
        "Zipf": 1.0 / np.arange(1.0, d + 1.0),
    }[kind]
    Q = ChiSquareMixture(weights)
    assert off(Q.sf(Q.isf(1e-12)), 1e-12) < TIGHT
