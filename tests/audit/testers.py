"""Statistical tests of privacy: what samples of two releases prove, but for a false alarm.

Each tester takes numbers, one per run, that tend to be larger on the second side, and returns
what they prove about the loss of privacy, as a bound that is wrong with a probability of at
most `FALSE_ALARM`. The numbers come from a score that was fitted on other runs: of a linear
test, of a trained classifier, or the likelihood ratio itself, which no test is better than.

- `by_error_rates`: mu-GDP allows no test with Phi^-1(power) - Phi^-1(false positives) above
  mu (Dong, Roth, Su 2019). Both rates are bounded by Clopper and Pearson's intervals.
- `by_hockey_stick`: (epsilon, delta)-DP allows no set with P(set) - e^epsilon Q(set) above
  delta.
- `by_renyi`: a function h on the scores proves a Renyi divergence of order a of at least
  a / (a - 1) log E_P e^((a - 1) h) - log E_Q e^(a h), by Hoelder's inequality with equality
  for the log of the likelihood ratio (Birrell et al. 2021). h is cut, so that Maurer and
  Pontil's empirical Bernstein bound (2009) holds for both means. rho-zCDP allows rho a.

The last two follow Google's dp_auditorium (Kong, Munoz Medina, Ribero 2022) in idea.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats
from sklearn.ensemble import RandomForestClassifier

FALSE_ALARM = 1e-12

Sides = list[np.ndarray]  # of the first release and of the second


def halves(sides: Sides) -> tuple[Sides, Sides]:
    """Return the runs to fit on and those to test on."""
    half = len(sides[0]) // 2
    return [side[:half] for side in sides], [side[half:] for side in sides]


# Scores.


def linear(fit: Sides, held_out: Sides) -> tuple[Sides, Sides]:
    """Return the scores of a linear test, fitted on `fit`."""
    low, high = np.quantile(np.vstack(fit), [0.02, 0.98], axis=0)
    # What is wild is pulled in, feature by feature: estimates have outliers.
    fit, held_out = ([np.clip(side, low, high) for side in sides] for sides in (fit, held_out))
    spread = np.sqrt(0.5 * (fit[0].var(axis=0) + fit[1].var(axis=0))) + 1e-12 * (1.0 + high - low)
    gap = (fit[1].mean(axis=0) - fit[0].mean(axis=0)) / spread
    # Features that differ by chance alone only blur the score.
    weight = np.where(np.abs(gap) > 4.0 * math.sqrt(2.0 / len(fit[0])), gap, 0.0)
    weight = (weight if weight.any() else gap) / spread
    return [side @ weight for side in fit], [side @ weight for side in held_out]


def forest(fit: Sides, held_out: Sides) -> tuple[Sides, Sides]:
    """Return the log odds that a trained classifier gives; on `fit`, where it did not look."""
    model = RandomForestClassifier(60, min_samples_leaf=8, oob_score=True, n_jobs=1, random_state=1)
    which = np.repeat([0, 1], [len(side) for side in fit])
    model.fit(np.vstack(fit).astype(np.float32), which)
    seen = np.nan_to_num(model.oob_decision_function_[:, 1], nan=0.5)

    def odds(chance: np.ndarray) -> np.ndarray:
        return np.log((chance + 0.01) / (1.01 - chance))

    new = [odds(model.predict_proba(side.astype(np.float32))[:, 1]) for side in held_out]
    return [odds(seen[which == side]) for side in (0, 1)], new


# Testers.


def at_most(count: int, runs: int) -> float:
    """Return Clopper and Pearson's upper bound of a rate."""
    return float(stats.beta.isf(FALSE_ALARM / 2, count + 1, runs - count)) if count < runs else 1.0


def at_least(count: int, runs: int) -> float:
    """Return the lower one."""
    return float(stats.beta.ppf(FALSE_ALARM / 2, count, runs - count + 1)) if count else 0.0


def rates(sides: Sides, threshold: float) -> tuple[float, float]:
    """Return the least power and the most false positives."""
    false, true = (int(np.count_nonzero(side > threshold)) for side in sides)
    return at_least(true, len(sides[1])), at_most(false, len(sides[0]))


def places(sides: Sides) -> np.ndarray:
    return np.quantile(np.concatenate(sides), np.linspace(0.02, 0.98, 49))


def between_rates(sides: Sides, threshold: float) -> float:
    """Return the mu that the error rates at a threshold prove."""
    power, false = rates(sides, threshold)
    return float(stats.norm.ppf(power) - stats.norm.ppf(false))


def by_error_rates(fit: Sides, held_out: Sides) -> float:
    """Return the mu that is proved."""
    best = max(places(fit), key=lambda place: between_rates(fit, place))
    return between_rates(held_out, best)


def by_hockey_stick(fit: Sides, held_out: Sides, epsilon: float) -> float:
    """Return the delta that is proved at epsilon."""

    def proved(sides: Sides, threshold: float) -> float:
        power, false = rates(sides, threshold)
        return power - math.exp(epsilon) * false

    return proved(held_out, max(places(fit), key=lambda place: proved(fit, place)))


def by_renyi(fit: Sides, held_out: Sides, order: float = 2.0) -> float:
    """Return the rho that is proved: the divergence of the second from the first, over order."""
    middle = 0.5 * (fit[0].mean() + fit[1].mean())
    slope = (fit[1].mean() - fit[0].mean()) / max(0.5 * (fit[0].var() + fit[1].var()), 1e-300)

    def proved(sides: Sides, cut: float) -> float:
        first, second = (np.clip(slope * (side - middle), -cut, cut) for side in sides)
        power = _mean_bound(np.exp((order - 1.0) * second), math.exp((order - 1.0) * cut), -1)
        base = _mean_bound(np.exp(order * first), math.exp(order * cut), 1)
        if power <= 0.0:
            return 0.0
        return (order / (order - 1.0) * math.log(power) - math.log(base)) / order

    best = max((0.1, 0.2, 0.4, 0.7, 1.0, 1.4, 2.0), key=lambda cut: proved(fit, cut))
    return proved(held_out, best)


def _mean_bound(values: np.ndarray, largest: float, side: int) -> float:
    """Return Maurer and Pontil's bound of a mean of numbers from 1 / largest to largest."""
    runs, log = values.size, math.log(4.0 / FALSE_ALARM)
    slack = math.sqrt(2.0 * float(values.var(ddof=1)) * log / runs)
    slack += 7.0 * (largest - 1.0 / largest) * log / (3.0 * (runs - 1))
    return float(values.mean()) + side * slack
