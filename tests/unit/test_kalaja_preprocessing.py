"""The thesis's pre-processing: every formula by hand, what is private, how steps go together."""

from __future__ import annotations

import math

import numpy as np
import pytest

from prolate.errors import InputError
from prolate.papers.kalaja_preprocessing import (
    Clip,
    Intercept,
    MaximumNorm,
    Preprocessing,
    RowNorms,
    RowNormsWithTarget,
    Rows,
    Standardize,
    Step,
    TargetMaximum,
)

X = np.array([[3.0, 4.0], [0.0, 2.0], [-6.0, 0.0], [1.0, 10.0]])
Y = np.array([10.0, -4.0, 3.0, 20.0])
ROWS = Rows.of(X, Y)
TRAIN, TEST = np.arange(3), np.array([3])

NEED_NOTHING = [RowNorms(), Intercept()]
NEED_NUMBERS = [Standardize(), Clip(), MaximumNorm(), RowNormsWithTarget(), TargetMaximum()]
GIVEN = [
    Standardize(center=np.zeros(2), scale=np.ones(2)),
    Clip(center=np.zeros(2), scale=np.ones(2)),
    MaximumNorm(largest=7.0),
    RowNormsWithTarget(largest=2.0),
    TargetMaximum(largest=25.0),
]
names = [step.name for step in NEED_NUMBERS]


def fitted(step: Step, rows: Rows = ROWS) -> Rows:
    return step.fit(rows).apply(rows)


def least_squares(rows: Rows) -> tuple[np.ndarray, float]:
    return np.linalg.lstsq(rows.x, rows.y, rcond=None)[0], 0.0


def random_rows(n: int = 60, k: int = 4) -> Rows:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(n, k)) * 10.0 ** np.arange(k) + 100.0 * np.arange(k)
    return Rows.of(x, x @ np.linspace(-1.0, 2.0, k) + 7.0 + rng.normal(size=n))


# --- the formulas ------------------------------------------------------------------------------


def test_standardize() -> None:
    one = Rows.of(np.array([[1.0, 5.0], [3.0, 5.0]]), Y[:2])
    # Mean 2, deviation 1; the second column is constant.
    assert fitted(Standardize(), one).x.tolist() == [[-1.0, 0.0], [1.0, 0.0]]
    tenths = np.full((7, 1), 0.1)
    assert tenths.std() > 0.0  # of a constant column, in floating point
    assert Standardize().fit(Rows.of(tenths, np.zeros(7))).scale.tolist() == [1.0]


def test_row_norms_3_3() -> None:
    found = fitted(RowNorms())
    longest = math.sqrt(101.0)
    np.testing.assert_allclose(
        found.x, [[0.6, 0.8], [0.0, 1.0], [-1.0, 0.0], [1.0 / longest, 10.0 / longest]]
    )
    assert found.y.tolist() == Y.tolist()


def test_row_norms_with_y_3_4() -> None:
    found = fitted(RowNormsWithTarget(), fitted(TargetMaximum()))
    # |y| / y_max is .5, .2, .15, 1 and |x| is 5, 2, 6, sqrt 101: y_max2 = 0.1.
    by_hand = np.array([0.5 / 5.0, -0.2 / 2.0, 0.15 / 6.0, 1.0 / math.sqrt(101.0)]) / 0.1
    np.testing.assert_allclose(found.y, by_hand)
    np.testing.assert_allclose(found.x, fitted(RowNorms()).x)
    np.testing.assert_allclose(found.y * found.unit, Y)


def test_rows_of_zeros_stay() -> None:
    zero = Rows.of(np.zeros((2, 2)), np.zeros(2))
    for step in (RowNorms(), RowNormsWithTarget(), MaximumNorm(), TargetMaximum(), Standardize()):
        found = fitted(step, zero)
        assert not found.x.any()
        assert not found.y.any()


def test_maximum_norm_3_5() -> None:
    found = fitted(MaximumNorm())
    np.testing.assert_allclose(found.x, X / math.sqrt(101.0))
    assert np.linalg.norm(found.x, axis=1).max() == pytest.approx(1.0)
    np.testing.assert_allclose(fitted(TargetMaximum()).y, Y / 20.0)


@pytest.mark.parametrize("c", [1.3, 1.6, 2.0, 3.0])
def test_clip_3_8_and_3_9(c: float) -> None:
    x = np.zeros((100, 1))
    x[0], x[1] = 1000.0, -1000.0  # mean 0, deviation sqrt(2e6 / 100)
    rows = Rows.of(x, np.zeros(100))
    upper = c * math.sqrt(20_000.0)
    train = fitted(Clip(c=c), rows)
    assert train.x[0, 0] == pytest.approx(upper)
    assert train.x[1, 0] == -1000.0  # the lower end is left alone
    np.testing.assert_array_equal(Clip(c=c).fit(rows).apply(rows, test=True).x, x)
    test = Clip(c=c, on_test=True).fit(rows).apply(rows, test=True)
    np.testing.assert_array_equal(test.x, train.x)


def test_clipping_comes_before_the_moments_are_taken() -> None:
    """The thesis takes new means, deviations and x_max after the clip."""
    steps = Preprocessing((Clip(c=1.3), Standardize(), MaximumNorm()))
    found = steps.prepare(random_rows(), np.arange(50), np.arange(50, 60))
    assert np.abs(found.train.x.mean(axis=0)).max() < 1e-12
    assert np.linalg.norm(found.train.x, axis=1).max() == pytest.approx(1.0)


def test_intercept() -> None:
    found = fitted(Intercept(), fitted(MaximumNorm()))
    np.testing.assert_allclose(found.x[:, 2], np.full(4, 1.0 / math.sqrt(2.0)))
    np.testing.assert_allclose(found.x[:, :2], X / math.sqrt(202.0))
    assert np.linalg.norm(found.x, axis=1).max() == pytest.approx(1.0)


# --- what is private ---------------------------------------------------------------------------


@pytest.mark.parametrize("step", NEED_NOTHING, ids=lambda step: step.name)
def test_steps_without_numbers_are_private(step: Step) -> None:
    assert step.private
    assert step.fit(ROWS) is step


@pytest.mark.parametrize("step", NEED_NUMBERS, ids=names)
def test_numbers_from_the_rows_are_not_private(step: Step) -> None:
    assert not step.private
    assert step.fit(ROWS).complete
    assert not step.fit(ROWS).private
    again = step.fit(ROWS).fit(Rows.of(2.0 * X, 2.0 * Y))  # does not fit anew, nor forget
    assert not again.private
    np.testing.assert_array_equal(again.apply(ROWS).x, step.fit(ROWS).apply(ROWS).x)
    with pytest.raises(InputError, match="has no numbers yet"):
        step.apply(ROWS)


@pytest.mark.parametrize("step", GIVEN, ids=names)
def test_given_numbers_are_private_and_are_kept(step: Step) -> None:
    assert step.private
    assert step.fit(ROWS) is step
    step.apply(ROWS)


def test_half_given_is_not_private() -> None:
    step = Standardize(scale=np.full(2, 2.0))
    assert not step.private
    found = step.fit(ROWS)
    assert not found.private
    np.testing.assert_allclose(found.apply(ROWS).x, (X - X.mean(axis=0)) / 2.0)


def test_a_fit_says_which_steps_were_not_private() -> None:
    steps = (Standardize(), RowNorms(), TargetMaximum(), Intercept())
    after = Preprocessing(steps).prepare(ROWS, TRAIN, TEST)
    assert after.not_private == ("standardize", "maximum of y")
    assert not after.private
    fit = after.fit(least_squares, private=False)
    assert fit.not_private == ("standardize", "maximum of y", "method")
    assert not fit.private
    before = Preprocessing(steps, when="before").prepare(ROWS, TRAIN, TEST)
    assert before.not_private[-1] == "normalized before the split"


@pytest.mark.parametrize("when", ["before", "after"])
def test_given_numbers_make_a_private_fit(when: str) -> None:
    recipe = Preprocessing((*GIVEN, Intercept()), when=when)
    assert recipe.private
    prepared = recipe.prepare(ROWS, TRAIN, TEST)
    assert prepared.private
    assert prepared.fit(least_squares).private
    assert prepared.fit(least_squares, private=False).not_private == ("method",)


# --- how they go together ----------------------------------------------------------------------


def test_after_the_split_test_rows_change_nothing() -> None:
    steps = Preprocessing((Clip(), Standardize(), MaximumNorm(), TargetMaximum()))
    moved = Rows.of(np.vstack((X[:3], [[1e6, -1e6]])), np.append(Y[:3], 1e9))
    one, other = (steps.prepare(rows, TRAIN, TEST) for rows in (ROWS, moved))
    np.testing.assert_array_equal(one.train.x, other.train.x)
    np.testing.assert_array_equal(one.train.y, other.train.y)
    center, scale = X[:3].mean(axis=0), X[:3].std(axis=0)
    z = (X[:3] - center) / scale
    assert X[:3].max(axis=0)[0] < center[0] + 2.0 * scale[0]  # nothing is clipped here
    largest = np.linalg.norm(z, axis=1).max()
    np.testing.assert_allclose(one.test.x, (X[3:] - center) / scale / largest)
    assert one.test.unit.tolist() == [10.0]


def test_before_the_split_everything_is_one_set() -> None:
    steps = (Clip(c=1.0), Standardize(), MaximumNorm(), TargetMaximum())
    found = Preprocessing(steps, when="before").prepare(ROWS, TRAIN, TEST)
    whole = ROWS
    for step in steps:
        whole = fitted(step, whole)
    np.testing.assert_array_equal(np.vstack((found.train.x, found.test.x)), whole.x)
    np.testing.assert_array_equal(found.test.y, whole.y[3:])


def test_no_steps_leave_rows_as_they_are() -> None:
    found = Preprocessing().prepare(ROWS, TRAIN, TEST)
    np.testing.assert_array_equal(found.train.x, X[:3])
    assert found.private
    with pytest.raises(InputError, match="'before' or 'after'"):
        Preprocessing(when="during")


def test_the_error_is_in_the_first_unit() -> None:
    steps = Preprocessing((Standardize(), TargetMaximum(), RowNormsWithTarget(), Intercept()))
    fit = steps.prepare(ROWS, TRAIN, TEST).fit(lambda rows: (np.zeros(3), 0.0))
    assert fit.error(Y[3:]) == 400.0
    exact = Preprocessing((TargetMaximum(),)).prepare(ROWS, TRAIN, TEST)
    assert exact.fit(lambda rows: (np.zeros(2), 1.5)).error(Y[3:]) == pytest.approx(25.0)


# --- unstandardized coefficients ---------------------------------------------------------------


def test_unstandardized_by_hand_3_6() -> None:
    """theta'_j = y_max theta_j / (x_max sd_j); theta'_0 = y_max theta_0 - sum theta'_j mean_j."""
    steps = (Standardize(), MaximumNorm(), Intercept(), TargetMaximum())
    prepared = Preprocessing(steps).prepare(ROWS, TRAIN, TEST)
    theta = np.array([0.3, -0.7, 0.2])
    coef, intercept = prepared.fit(lambda rows: (theta, 0.0)).unstandardized()
    mean, sd = X[:3].mean(axis=0), X[:3].std(axis=0)
    x_max = np.linalg.norm((X[:3] - mean) / sd, axis=1).max()
    by_hand = 10.0 / (x_max * sd) * theta[:2] / math.sqrt(2.0)
    np.testing.assert_allclose(coef, by_hand)
    assert intercept == pytest.approx(10.0 * 0.2 / math.sqrt(2.0) - by_hand @ mean)


@pytest.mark.parametrize(
    "steps",
    [
        (Standardize(),),
        (Standardize(), MaximumNorm(), TargetMaximum()),
        (Standardize(), MaximumNorm(), Intercept(), TargetMaximum()),
        (TargetMaximum(), MaximumNorm(largest=1e4), Standardize(), Intercept()),
        (Clip(c=1.3), Standardize(), MaximumNorm(), Intercept(), TargetMaximum()),
    ],
    ids=lambda steps: ", ".join(step.name for step in steps),
)
def test_unstandardized_predicts_the_same(steps: tuple[Step, ...]) -> None:
    """Equation 3.7: the coefficients on raw test rows give what the pipeline gives."""
    rows = random_rows()
    train, test = np.arange(40), np.arange(40, 60)
    fit = Preprocessing(steps).prepare(rows, train, test).fit(least_squares)
    coef, intercept = fit.unstandardized()
    np.testing.assert_allclose(
        rows.x[test] @ coef + intercept, fit.prepared.test.predict(fit.theta), rtol=1e-9, atol=1e-8
    )


def test_unstandardizing_undoes_standardizing() -> None:
    rows = random_rows()
    every = np.arange(60)
    steps = (Standardize(), MaximumNorm(), Intercept(), TargetMaximum())
    coef, intercept = (
        Preprocessing(steps).prepare(rows, every, every).fit(least_squares).unstandardized()
    )
    raw = np.linalg.lstsq(np.hstack((rows.x, np.ones((60, 1)))), rows.y, rcond=None)[0]
    np.testing.assert_allclose(np.append(coef, intercept), raw, rtol=1e-8)


@pytest.mark.parametrize("step", [RowNorms(), RowNormsWithTarget(), Clip(on_test=True)])
def test_what_is_not_affine_has_no_coefficients(step: Step) -> None:
    fit = Preprocessing((Standardize(), step)).prepare(ROWS, TRAIN, TEST).fit(least_squares)
    with pytest.raises(InputError, match="is not affine"):
        fit.unstandardized()
