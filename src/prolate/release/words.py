"""What a release is, and what it promises, in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prolate.digits import all_digits, rounded_up
from prolate.errors import BudgetError, ReleaseError

if TYPE_CHECKING:
    from prolate.budget import Budget
    from prolate.release.groups import GroupedRelease
    from prolate.release.release import Release

UNEVEN = (
    "The noise is shaped for the error of all columns in their own units, which favors columns of "
    "large numbers. If small ones matter as much, ask for error_norm='relative' (on the command "
    "line, --error-norm relative)."
)
"""Advice where `is_uneven`."""

MEANS_ADDED = (
    "Each person counts once in this sum, with the mean of their rows. For the total of the rows, "
    "give contribution='rows' and max_rows, the most rows of a person that count (on the command "
    "line, --contribution rows --max-rows K)."
)
"""Advice where a sum is of persons."""

_UNEVEN = 10.0  # noise over sampling error, between columns

NO_GROUPS = (
    "No group is surely large enough not to be one person's. Fewer and larger groups would help, "
    "such as ranges of numbers or months of dates; or name the groups, if they are public."
)
"""What is said where groups were to be found, and none is shown."""

NOT_PRIVATE = "NOT PRIVATE: made with a seed. For tests only; do not publish."


def printable(name: str) -> str:
    """Return a column name with control characters escaped: names come from files."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def is_public(release: Release) -> bool:
    """Return whether a release is the number of rows where that is public: nothing is charged."""
    return release.statistic == "count" and not release.receipt and not release.n_is_noisy


def price_in_words(release: Release) -> str:
    """Return what a release may have cost."""
    return "nothing charged" if is_public(release) else str(release.budget)


def rows_in_words(release: Release) -> str:
    """Return the number of rows or persons in words, saying where it is only a noisy count."""
    one = _one(release)
    count = f"{max(release.n, 0.0):,.0f}"
    count += f" {one}{'' if count == '1' else 's'}"
    return f"about {count} (a noisy count)" if release.n_is_noisy else count


def _one(release: Release) -> str:
    """Return what counts once."""
    return "row" if release.unit is None or release.unit.max_rows is not None else "person"


def subject(release: Release) -> str:
    """Return what was estimated of how much, such as ``"mean of 3 columns"``."""
    d = len(release.columns)
    what = release.statistic
    if what == "count":
        return "count"
    if what == "regression":
        d -= 1  # without the intercept
        target = release.details.get("target")
        of = f" of {printable(target)}" if isinstance(target, str) else ""
        return f"{what}{of} on {d:,} feature{'' if d == 1 else 's'}"
    if release.second_label == "q":
        count = release.estimate.shape[0]
        what = what if count == 1 else f"{count} {what}s"
    return f"{what} of {d:,} column{'' if d == 1 else 's'}"


def error_in_words(p: float | str, letter: str = "l") -> str:
    """Return which error the noise is shaped for.

    Examples
    --------
    >>> error_in_words(2.0), error_in_words("relative")
    ('the l2 error', 'errors relative to spreads')
    """
    return "errors relative to spreads" if p == "relative" else f"the {letter}{p:g} error"


def is_uneven(release: Release) -> bool:
    """Return whether the noise is large beside some columns and small beside others."""
    if release.statistic != "mean" or release.error_norm == "relative":
        return False
    if release.sampling_std is None or release.noise_std is None:
        return False
    return are_uneven(release.noise_std, release.sampling_std)


def are_uneven(noise: NDArray[np.float64], sampling: NDArray[np.float64]) -> bool:
    """Return whether noise is above the sampling error of a column, and far from that of others.

    Examples
    --------
    >>> are_uneven(np.array([0.1, 30.0]), np.array([0.01, 100.0]))
    True
    """
    known = (noise > 0.0) & (sampling > 0.0)
    with np.errstate(over="ignore"):
        ratio = noise[known] / sampling[known]
        return bool(ratio.size > 1 and ratio.max() > max(_UNEVEN * ratio.min(), 1.0))


def advice(release: Release) -> list[str]:
    """Return what may be wanted instead of a release, by what is public of it."""
    means = release.unit is not None and release.unit.max_rows is None
    added = [MEANS_ADDED] if release.statistic == "sum" and means else []
    return [*added, *([UNEVEN] if is_uneven(release) else [])]


def headline(release: Release) -> str:
    """Return the first line: what, of how much, at what budget, for which neighbors."""
    private = "Private" if release.private else "NOT PRIVATE (seeded)"
    private = "Public" if release.private and is_public(release) else private
    unit = "" if release.unit is None else f", unit: {printable(str(release.unit))}"
    return (
        f"{private} {subject(release)}, {rows_in_words(release)}, "
        f"{price_in_words(release)}, neighbors: {release.neighbors}{unit}"
    )


def interval_covers(release: Release) -> str:
    """Return what an interval of the release covers, in plain words."""
    rows = f"{_one(release)}s"
    these = "these rows" if rows == "rows" else "these persons' means"
    if release.unit is not None and release.unit.max_rows is not None:
        these += f", at most {release.unit.max_rows:,} of each person"
    if release.statistic == "sum":
        clipped = "each value clipped to its bounds"
        if release.method == "gaussian-ellipse":
            clipped = "each clipped to the ellipse around the center"
        return f"the sum of {these}, {clipped}, one column at a time ({_noise(release)})"
    if release.statistic == "regression":
        return (
            f"the coefficients of least squares in the population that the {rows} were drawn from, "
            "one at a time (privacy noise and sampling error together"
            f"{_after(cut_target(release))})"
        )
    if release.statistic == "count":
        errors = "exact, because it is public" if is_public(release) else "privacy noise only"
        return f"the number of {release.columns[0]} ({errors})"
    one = "number" if release.is_matrix else "column"
    if release.omits_sampling:
        return (
            f"the {release.statistic} of {these}{_cut(release)}, one {one} at a time "
            f"({_noise(release)}: sampling error is not included{_untold(release)})"
        )
    what = "privacy noise and sampling error together"
    if release.statistic == "quantile":
        what += "; where rows share values, as rounded ones do, it may end short of the next value"
    if release.clipping_std is not None:
        what = "privacy noise, sampling error and what clipping may have taken off, together"
    return (
        f"the {release.statistic} of the population that the {rows} were drawn from, one {one} "
        f"at a time ({what}{_after(unseen_rows(release))}{_untold(release)})"
    )


def no_errors(release: Release) -> str:
    """Return why a regression does not state the errors of its coefficients."""
    if release.method == "auto":
        return "its rows were too few for slopes, so nothing is known about them"
    return f"method {release.method!r} does not state the errors of its coefficients"


def _after(words: str) -> str:
    """Return words after a semicolon, if there are any."""
    return f"; {words}" if words else ""


def cut_target(release: Release) -> str:
    """Return what a cut of a regression's target does, where that is not told."""
    found = []
    if release.details.get("level") == "of the cut target":
        found.append("if they are on one side, the intercept is that of the others")
    if release.details.get("beyond_cut") == "not told":
        explain = "if the features explain them, too, as they do incomes"
        found.append(f"{explain}, slopes may be farther from 0")
    return f"the target's values far out are cut: {', and '.join(found)}" if found else ""


def _cut(release: Release) -> str:
    """Return what the plain mechanism does to values beyond the public bounds."""
    return ", each value cut to its bounds" if release.method == "gaussian" else ""


def _untold(release: Release) -> str:
    """Return what other people's methods do not measure."""
    if release.statistic != "mean" or release.method in ("auto", "gaussian"):
        return ""
    whose = " of rows that are not normal around the given center"
    whose = whose if release.method == "gaussian-ellipse" else ""
    return f"; what clipping takes{whose} is not measured, and not allowed for"


def _noise(release: Release) -> str:
    """Return what an interval without sampling error holds."""
    if release.clipping_std is None:
        return "privacy noise only"
    return "privacy noise, and what rounding so many rows may do"


def unseen_rows(release: Release) -> str:
    """Return how many rows may be unseen, where ten standard deviations of them would matter."""
    count = release.details.get("unseen_rows")
    if not isinstance(count, float) or 10.0 * count < math.sqrt(max(release.n, 1.0)):
        return ""
    about = float(f"{min(count, max(release.n, 1.0)):.1g}")
    those = f"{_one(release)}{'' if about == 1.0 else 's'}"
    are = "is" if about == 1.0 else "are"
    return f"noise may hide about {about:,.0f} {those} far out, which {are} not allowed for"


def guarantee(release: Release | GroupedRelease) -> str:
    """Return one sentence that says exactly what is guaranteed."""
    if not release.private:
        return (
            "No privacy is guaranteed: a seed was given, and whoever knows it can remove the noise."
        )
    stated = {name: all_digits(value) for name, value in release.budget.stated.items()}
    rho = stated.get("rho", rounded_up(release.budget.rho))
    names = [f"rho = {rho} zero-concentrated differential privacy"]
    if release.budget.composition == "gdp" and "mu" in stated:
        names = [f"mu = {stated['mu']} Gaussian differential privacy"]
    if "epsilon" in stated:
        names = [f"(epsilon = {stated['epsilon']}, delta = {stated['delta']})-differential privacy"]
        if release.budget.composition == "zcdp":
            names.append(f"rho = {rounded_up(release.budget.rho)} zero-concentrated privacy")
    keys_delta = keys_delta_of(release)
    event = (
        f"replacing {protected(release, 'any one')} by any other, the number of "
        f"{protected(release)} being public"
        if release.neighbors == "replace"
        else f"adding or removing {protected(release, 'any one')}"
    )
    if release.budget.composition == "zcdp":
        return f"{' and '.join(names)}, for {event}."
    if keys_delta is not None:
        part = rounded_up(keys_delta)
        return (
            f"{names[0]}, for {event}. Of delta, {part} is for showing which groups there "
            f"are; the rest goes with the measurements (mu = {rounded_up(release.budget.mu)})."
        )
    return (
        f"{' and '.join(names)}, for {event}: whatever the other {protected(release)} are, that "
        f"is as hard to notice in this release as a shift by mu = {rounded_up(release.budget.mu)} "
        "in one standard normal number."
    )


def no_guarantee_needed(release: Release) -> str:
    """Return the sentence that takes the place of `guarantee` where `is_public`."""
    return (
        f"The number of {protected(release)} is public, because neighboring data sets have as "
        "many, so nothing was measured and nothing was charged."
    )


def keys_delta_of(release: Release | GroupedRelease) -> float | None:
    """Return the part of delta that pays for showing which groups there are, if any does."""
    group = release.details.get("group")
    value = group.get("keys_delta") if isinstance(group, dict) else None
    return value if isinstance(value, float) else None


def budget_with_keys(release: Release | GroupedRelease) -> Budget:
    """Return the budget, which says so if it also paid for showing which groups there are.

    The first versions did not store that with the budget.
    """
    keys_delta = keys_delta_of(release)
    try:
        return release.budget if keys_delta is None else release.budget.with_keys(keys_delta)
    except BudgetError as error:
        raise ReleaseError(f"The keys_delta of this release cannot be. {error}") from None


def protected(release: Release | GroupedRelease, number: str | None = None) -> str:
    """Return what is protected as one: ``"any one row"``, or in the plural ``"rows"``."""
    if release.unit is None:
        return "rows" if number is None else f"{number} row"
    if number is None:
        return "persons"
    return f"{number} person (all rows with the same {printable(release.unit.column)!r})"
