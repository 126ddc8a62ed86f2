"""What a release says of its rows, beside its numbers."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from prolate.release import words
from prolate.release.bounds import possible
from prolate.release.words import printable

if TYPE_CHECKING:
    from prolate.release.groups import GroupedRelease
    from prolate.release.release import Release

__all__ = ["about_groups", "about_intervals", "about_rows"]

CELLS = "CSV files have no types: a cell that is no number, such as 5+ or <10, counts as missing."
POINTS = (
    "Points in the numbers of a CSV file with semicolons were read as decimal points, though all "
    "of them may stand between thousands: 1.234 is less than two here. If it is 1234, leave the "
    "points out of the file."
)
UNKNOWN = 1e300  # errors beyond are the largest number, which says that nothing is known
_NAMED = 3  # columns with missing values


def about_rows(*releases: Release) -> list[str]:
    """Return how many values are there, where that was counted, and what counts as missing.

    Of several releases, of groups, what all of them say.
    """
    each = [_about_rows(release) for release in releases]
    return [note for note in each[0] if all(note in others for others in each)] if each else []


def about_groups(groups: GroupedRelease) -> list[str]:
    """Return what all groups say of their rows, and how large a group is that is found."""
    beyond = dict.fromkeys(note for release in groups.values() for note in _beyond(release))
    others = [note for note in about_rows(*groups.values()) if note not in beyond]
    return [*beyond, *others, *_found(groups)]


def _found(groups: GroupedRelease) -> list[str]:
    """Return about where the threshold of `prolate.api.terms` is, or a group may be missed."""
    first, delta = groups.first, groups.keys_delta
    receipt = [] if first is None else first.receipt
    stds = [entry.noise_std for entry in receipt if entry.label == "is the group there"]
    if first is None or delta is None or not stds:
        return []
    one = 1 if groups.unit is None else groups.unit.rows
    least = _about(one - NormalDist().inv_cdf(delta) * stds[0])
    return [f"Groups of fewer than about {least} {_protected(first)} are mostly not shown."]


def _protected(release: Release) -> str:
    return "persons" if release.unit and release.unit.max_rows is None else "rows"


def about_intervals(release: Release) -> list[str]:
    """Return what `interval_covers` says of values far out, where it is not shown."""
    if release.noise_std is not None and np.all(release.noise_std > UNKNOWN):
        return []
    found = (words.unseen_rows(release), words.cut_target(release))
    return [f"{note[:1].upper()}{note[1:]}." for note in found if note]


def _beyond(release: Release) -> list[str]:
    """Return what is shown where noise leads an estimate beyond what is possible."""
    least, most = possible(release)
    if release.is_matrix or np.all((release.estimate >= least) & (release.estimate <= most)):
        return []
    return ["Noise led beyond what is possible, so the nearest possible number is shown."]


def _pooled(release: Release) -> list[str]:
    """Return how many columns were drawn towards each other (`prolate.mean`, Pooling)."""
    columns = release.details.get("pooled_columns")
    if not isinstance(columns, int) or release.statistic not in ("mean", "variance"):
        return []
    alike = f"{columns:,} columns are alike (or off public centers alike) as far as noise lets tell"
    return [
        f"{alike}: their {release.statistic}s are drawn towards each other, which has less error."
    ]


def _about_rows(release: Release) -> list[str]:
    found = [*_beyond(release), *_pooled(release), *_values(release)]
    cells = release.details.get("cells")
    found += [CELLS] if cells in ("text", "points") else []
    found += [POINTS] if cells == "points" else []
    return found


def _values(release: Release) -> list[str]:
    complete, values = release.details.get("complete_rows"), release.details.get("values")
    if isinstance(complete, float):
        whole = f"{_about(complete)} of {release.n:,.0f} {_protected(release)}"
        told = f"About {whole} have no missing value"
        return [f"{told}; only these count (a noisy count)."]
    if not isinstance(values, dict):
        return []
    fewest = sorted(values.items(), key=lambda one: float(one[1]))
    named = [
        f"{printable(name)} has about {_about(count)} of {release.n:,.0f} values"
        for name, count in fewest[:_NAMED]
    ]
    more = len(fewest) - _NAMED
    if more > 0:
        named.append(f"values of {more:,} more column{'' if more == 1 else 's'} are missing, too")
    counts = "a noisy count" if len(fewest) == 1 else "noisy counts"
    return [f"{'; '.join(named)} ({counts})."]


def _about(count: float) -> str:
    return f"{float(f'{count:.2g}'):,.0f}"
