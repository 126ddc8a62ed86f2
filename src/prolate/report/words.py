"""What a report says in sentences."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np

from prolate.budget import Budget
from prolate.digits import all_digits, rounded_up
from prolate.release import GroupedRelease, Release
from prolate.release.key import in_words
from prolate.release.notes import about_groups, about_rows
from prolate.release.views import each, round_to
from prolate.release.words import (
    UNEVEN,
    advice,
    error_in_words,
    is_public,
    is_uneven,
    keys_delta_of,
    printable,
    rows_in_words,
    subject,
)

__all__ = [
    "charges",
    "details",
    "facts",
    "group_facts",
    "guarantee",
    "price",
    "protection",
    "sureness",
    "title",
    "unit",
]

_DELTAS = (1e-5, 1e-6, 1e-9)  # where epsilon is stated as well
_LONGEST = 300  # characters of a detail
_BEYOND_WORDS = 1e6  # a ratio that is told no further


def title(release: Release | GroupedRelease) -> str:
    """Return the title of the page."""
    private = "Private " if release.private else "NOT PRIVATE: "
    private = "Public " if release.private and _is_public(release) else private
    what = release.subject if isinstance(release, GroupedRelease) else subject(release)
    return private + what


def _is_public(release: Release | GroupedRelease) -> bool:
    return isinstance(release, Release) and is_public(release)


def price(release: Release | GroupedRelease) -> str:
    """Return what the release may have cost."""
    return "nothing was charged" if _is_public(release) else f"budget {release.budget}"


def unit(release: Release | GroupedRelease) -> str:
    """Return what is protected as one."""
    return "row" if release.unit is None else "person"


def _unit_in_words(release: Release | GroupedRelease) -> str:
    if release.unit is None:
        return "one row"
    column, rows = printable(release.unit.column), release.unit.max_rows
    counts = "their mean counts once" if rows is None else f"at most {rows:,} of them count"
    return f"one person, who owns all rows with the same {column!r}; {counts}"


def guarantee(release: Release | GroupedRelease) -> str:
    """Return the guarantee as sentences to quote: the notion, its numbers, neighbors, unit."""
    if not release.private:
        return (
            "No privacy is guaranteed: these numbers were made with a seed, and whoever knows "
            "it can remove the noise. They are for tests only and must not be published as "
            "private."
        )
    if keys_delta_of(release) is not None or _is_public(release):
        return release.guarantee
    budget, one = release.budget, unit(release)
    if budget.composition == "gdp":
        notion = f"μ-Gaussian differential privacy with μ = {rounded_up(budget.mu)}"
    else:
        notion = f"ρ-zero-concentrated differential privacy with ρ = {rounded_up(budget.rho)}"
    epsilon, delta = _stated_pair(budget)
    if release.neighbors == "replace":
        number = ""
        if isinstance(release, Release) and not release.n_is_noisy:
            number = f", {release.n:,.0f},"
        event = (
            f"data sets are neighbors if one is made from the other by replacing any one {one} by "
            f"any other {one}, and the number of {one}s{number} is public"
        )
    else:
        event = (
            f"data sets are neighbors if one is made from the other by adding or removing any one "
            f"{one}, and the number of {one}s is itself protected"
        )
    return (
        f"This release, made by Prolate {printable(release.prolate_version)}, satisfies {notion}, "
        f"and with it (ε, δ)-differential privacy with ε = {epsilon} at δ = {delta}. Here {event}. "
        f"The unit of privacy is {_unit_in_words(release)}. Every measurement of the data "
        f"that the release rests on is counted in it{_of_all(release)}."
    )


def _of_all(release: Release | GroupedRelease) -> str:
    return ", in all groups together" if isinstance(release, GroupedRelease) else ""


def protection(release: Release | GroupedRelease) -> list[tuple[str, str]]:
    """Return the numbers of the guarantee: names and values."""
    if not release.private:
        return [("guarantee", "none: a seed was given")]
    if _is_public(release):
        return []
    budget = release.budget
    stated = ", ".join(f"{name} = {all_digits(value)}" for name, value in budget.stated.items())
    found = [("budget as stated", stated)]
    keys_delta = keys_delta_of(release)
    if keys_delta is not None:  # all of it together is (ε, δ) and nothing more
        found.append(("δ of showing which groups there are", rounded_up(keys_delta)))
        found.append(("μ of the measurements", rounded_up(budget.mu)))
    else:
        if budget.composition == "gdp":
            found.append(("μ of Gaussian differential privacy", rounded_up(budget.mu)))
        found.append(("ρ of zero-concentrated differential privacy", rounded_up(budget.rho)))
        deltas = sorted({*_DELTAS, budget.stated.get("delta", _DELTAS[0])}, reverse=True)
        found += [(f"ε at δ = {all_digits(delta)}", _epsilon_at(budget, delta)) for delta in deltas]
    one = unit(release)
    neighbors = {
        "replace": f"one {one} takes other values; the number of {one}s is public",
        "add-remove": f"one {one} is there or not; the number of {one}s is protected",
    }
    return [
        *found,
        ("neighboring data sets", f"{release.neighbors}: {neighbors[release.neighbors]}"),
        ("unit of privacy", _unit_in_words(release)),
    ]


def _stated_pair(budget: Budget) -> tuple[str, str]:
    delta = budget.stated.get("delta", 1e-6)
    return _epsilon_at(budget, delta), all_digits(delta)


def _epsilon_at(budget: Budget, delta: float) -> str:
    """Return epsilon as text: as it was stated, or rounded up."""
    if budget.stated.get("delta") == delta:
        return all_digits(budget.stated["epsilon"])
    return rounded_up(budget.epsilon_at(delta))


def sureness(*releases: Release) -> str:
    """Return a sentence on how large the noise is beside the sampling error."""
    method = releases[0].method
    noisy = [release for release in releases if release.noise_std is not None]
    if not noisy:
        return (
            f"This regression by method {method!r} does not state the errors of its "
            "coefficients: nothing here says how sure they are."
        )
    sampled = [release for release in noisy if release.sampling_std is not None]
    if not sampled:
        return (
            "The sampling error is not stated: what is shown is how far the privacy noise may "
            "have moved the numbers from what these rows would give."
        )
    noise, sampling = (
        np.concatenate([getattr(release, name)[each(release)] for release in sampled])
        for name in ("noise_std", "sampling_std")
    )
    known = (noise > 0.0) & (sampling > 0.0)
    if not known.any():
        return "Either the noise or the sampling error of every number is 0."
    with np.errstate(over="ignore"):
        ratio = np.minimum(noise[known] / sampling[known], _BEYOND_WORDS)
    middle = float(np.median(ratio))
    words = f"The privacy noise is {_times(middle)} the sampling error"
    if ratio.size > 1:
        below = int(np.count_nonzero(ratio < 1.0))
        words = (
            f"In the middle of the numbers (the median) the privacy noise is {_times(middle)} the "
            f"sampling error; it is the smaller of the two in {below:,} of {ratio.size:,}"
        )
    if middle < 1.0:
        return f"{words}: more rows would sharpen these numbers more than more budget."
    return f"{words}: the noise limits how sure they are; more rows or more budget would help."


def _times(ratio: float) -> str:
    if ratio >= _BEYOND_WORDS:
        return "more than a million times"
    return f"{ratio:,.0f} times" if ratio >= 10.0 else f"{ratio:.2g} times"


def shape(release: Release) -> str:
    """Return sentences on how the noise differs between numbers."""
    noise = np.zeros(0) if release.noise_std is None else release.noise_std[each(release)]
    known = noise[noise > 0.0]
    if known.size < 2:
        return "There is one noise only, so it has no shape."
    with np.errstate(over="ignore"):
        ratio = float(known.max() / known.min())
    if ratio < 1.005:
        same = round_to(known.max(), known.max())
        return f"The noise is round: the same, {same}, in all {known.size:,} numbers."
    words = (
        f"The largest noise, {round_to(known.max(), known.max())}, is {_times(ratio)} the "
        f"smallest, {round_to(known.min(), known.min())}: it is stretched to the columns."
    )
    return f"{words} {UNEVEN}" if is_uneven(release) else words


def facts(release: Release) -> list[tuple[str, str]]:
    """Return how the release was made: names and values."""
    notes = [("note", words) for words in about_rows(release)]
    rows = ("rows", rows_in_words(release))
    return [("statistic", release.statistic), rows, *notes, *_making(release)]


def group_facts(groups: GroupedRelease) -> list[tuple[str, str]]:
    """Return how the releases of groups were made: names and values."""
    of = printable(in_words(groups.by))
    found = [
        ("statistic", groups.statistic),
        ("groups", f"{len(groups):,} of {of}; the keys were {groups.keys_origin}"),
    ]
    found += [("note", words) for words in about_groups(groups)]
    return [*found, *([_maker(groups)] if groups.first is None else _making(groups.first))]


def _making(release: Release) -> list[tuple[str, str]]:
    found = [("method", release.method)]
    if not release.is_matrix and release.statistic not in ("quantile", "regression", "count"):
        found.append(("noise shaped for", error_in_words(release.error_norm, "ℓ")))
    if release.has_intervals:
        found.append(("intervals", f"for {release.interval_covers}"))
    found += [("advice", words) for words in advice(release) if words != UNEVEN]
    return [*found, _maker(release)]


def _maker(release: Release | GroupedRelease) -> tuple[str, str]:
    return "made by", f"Prolate {printable(release.prolate_version)}"


@dataclass(frozen=True)
class Charge:
    """A line of the receipt: what was asked, and its part of the budget in percent."""

    label: str
    query: str
    size: str
    mu: str
    percent: float

    @property
    def share(self) -> str:
        """The percentage as text."""
        return "< 0.01%" if 0.0 < self.percent < 0.01 else f"{self.percent:.3g}%"


def charges(release: Release) -> list[Charge]:
    """Return where the budget went: every measurement, and what was left unspent."""
    if is_public(release):
        return []
    whole = release.budget.mu**2
    found = [
        Charge(
            printable(entry.label),
            printable(entry.query),
            f"{entry.size:,}",
            f"{entry.mu:.4g}",
            100.0 * entry.mu**2 / whole,
        )
        for entry in release.receipt
    ]
    left = 100.0 - math.fsum(charge.percent for charge in found)
    if left > 0.005:
        found.append(Charge("not spent", "", "", f"{math.sqrt(whole * left / 100.0):.4g}", left))
    return found


def details(release: Release) -> list[tuple[str, str]]:
    """Return the release's other numbers as text, long ones cut."""
    found = []
    for name, value in release.details.items():
        text = printable(json.dumps(value, ensure_ascii=False))
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]} … ({len(text):,} characters; whole in the release's JSON)"
        found.append((printable(name), text))
    return found
