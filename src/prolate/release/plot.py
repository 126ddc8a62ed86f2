"""A release, or those of groups, as a plot of matplotlib's, and the choice of its scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prolate.arrays import Floats
from prolate.digits import percent
from prolate.errors import ReleaseError
from prolate.release.key import in_words
from prolate.release.views import confidence, each, is_unknown, label_of, name_of
from prolate.release.words import printable, subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from prolate.release.groups import GroupedRelease
    from prolate.release.release import Release

__all__ = ["comparable", "correlations", "plot", "plot_groups"]

_LEAST_SEEN = 0.03  # of an axis: what is narrower is lost on it
_LARGEST = 1e300  # matplotlib adds such numbers up
_LONGEST = 32  # characters of a name
_NAMED = 60  # names that find room along an axis
_TALLEST = 40.0  # inches
_MOST_PANELS = 12
_WRITTEN = 12  # columns of a matrix whose numbers find room in its cells
_DARK = 0.6  # correlation, from which a cell is so dark that its number is white


def comparable(low: Floats, high: Floats) -> bool:
    """Return whether three in four of the intervals from `low` to `high` can be seen on one axis.

    Examples
    --------
    >>> comparable(np.array([1.0, 3.0]), np.array([2.0, 4.0]))
    True
    >>> comparable(np.array([1.0, 3000.0]), np.array([2.0, 4000.0]))
    False
    """
    span = float(np.max(high) / 2.0 - np.min(low) / 2.0)
    narrow = np.quantile(high / 2.0 - low / 2.0, 0.25, method="lower")
    return bool(narrow >= _LEAST_SEEN * span)


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Release.plot needs matplotlib, which is not installed: pip install matplotlib."
        ) from error
    return plt


def plot(release: Release, ax: Axes | None, level: float) -> Axes:
    """Draw each estimate as a point, its noise thick and its whole interval thin."""
    level = confidence(level)
    plt = _pyplot()
    if release.is_matrix:
        return _plot_matrix(release, plt.subplots(layout="constrained")[1] if ax is None else ax)
    estimate = np.atleast_2d(release.estimate)
    reach, noise = np.zeros((2, *estimate.shape)), np.zeros(estimate.shape)  # if not stated
    if release.has_intervals:
        low, high = np.moveaxis(release.interval(level), -1, 0)
        reach = _reach(estimate, np.atleast_2d(low), np.atleast_2d(high))
    if release.noise_std is not None:
        noise = np.atleast_2d(release.noise_std)
    estimate, noise = (np.clip(x, -_LARGEST, _LARGEST) for x in (estimate, noise))
    return _plot_rows(release, estimate, reach, noise, ax, level)


def _reach(estimate: Any, low: Any, high: Any) -> Floats:
    """Return how far intervals reach below and above estimates; they need not hold these."""
    with np.errstate(over="ignore"):
        return np.asarray(np.clip([estimate - low, high - estimate], 0.0, _LARGEST))


def _plot_rows(
    release: Release, estimate: Floats, reach: Floats, noise: Floats, ax: Axes | None, level: float
) -> Axes:
    """Draw estimates of shape (several, d), one row of the picture for each column."""
    import matplotlib.pyplot as plt

    several, d = estimate.shape
    if ax is None:
        height = min(max(2.0, 0.8 + 0.25 * d * several), _TALLEST)
        ax = plt.subplots(figsize=(6.4, height), layout="constrained")[1]
    shown = release.statistic
    names = [_label(name) for name in release.columns]
    low, high = (estimate - reach[0]).min(axis=0), (estimate + reach[1]).max(axis=0)
    if reach.any() and not comparable(low, high):
        shown = "error in % of the estimate"
        with np.errstate(divide="ignore", over="ignore"):
            unit = np.where(estimate == 0.0, 1.0, np.minimum(100.0 / np.abs(estimate), _LARGEST))
            reach, noise = (np.minimum(values * unit, _LARGEST) for values in (reach, noise))
        if several == 1:
            names = [f"{name} = {x:.5g}" for name, x in zip(names, estimate[0], strict=True)]
        widest = float(np.max(np.minimum(reach, 100.0)))
        ax.set_xlim(-1.1 * widest, 1.1 * widest)  # what is wider than 100 % leaves the picture
        estimate = np.zeros(estimate.shape)
    labels: list[Any] = [None]
    if release.estimate.ndim == 2:
        labels = [f"q = {label_of(q)}" for q in release.quantile_labels]
    for i in range(several):
        y = np.arange(d) + (i - (several - 1) / 2.0) * 0.8 / several
        _draw(ax, estimate[i], y, reach[:, i], noise[i], d, labels[i])
    if d <= _NAMED:
        ax.set_yticks(range(d), names)
    else:
        ax.set_ylabel("column, counted from 0")
    ax.set_ylim(d - 0.5, -0.5)
    ax.set_xlabel(f"{shown} (thick: ± noise, thin: {percent(level)} interval)")
    ax.set_title(_title(release))
    if several > 1:
        ax.legend()
    return ax


def _draw(
    ax: Axes, at: Floats, y: Floats, reach: Floats, noise: Floats, rows: int, label: str | None
) -> None:
    """Draw points, the whole intervals thin, and the noise thick."""
    few = rows <= _NAMED
    whole = ax.errorbar(
        at, y, xerr=reach, fmt="o", ms=4 if few else 2, lw=1, capsize=3 if few else 0, label=label
    )
    ax.errorbar(at, y, xerr=noise, fmt="none", lw=3, ecolor=whole.lines[0].get_color())


def plot_groups(groups: GroupedRelease, level: float) -> NDArray[np.object_]:
    """Draw a picture for each number of a release, with a row for each group."""
    level = confidence(level)
    plt = _pyplot()
    releases, first = list(groups.groups.values()), groups.first
    if first is None:
        raise ReleaseError("There is no group, so there is nothing to draw.")
    places = list(zip(*(axis.tolist() for axis in each(first)), strict=True))[:_MOST_PANELS]
    if not places:
        raise ReleaseError("Of one column there are no correlations, so there is nothing to draw.")
    across = min(3, len(places))
    down = -(-len(places) // across)
    height = min(max(2.0, 0.9 + 0.25 * len(releases)), _TALLEST / down)
    figure, panels = plt.subplots(
        down,
        across,
        figsize=(2.4 + 3.4 * across, height * down),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    stated = any(release.has_intervals for release in releases)
    y = np.arange(float(len(releases)))
    for place, ax in zip(places, panels.flat, strict=False):
        reach = np.zeros((2, len(releases)))
        at, noise = np.zeros((2, len(releases)))
        for i, release in enumerate(releases):
            std = None if release.noise_std is None else float(release.noise_std[place])
            known = release.has_intervals == stated and not is_unknown(std)
            at[i] = release.estimate[place] if known else np.nan  # which is not drawn
            if release.noise_std is not None and release.has_intervals and known:
                low, high = release.interval(level)[place]
                reach[:, i], noise[i] = _reach(at[i], low, high), release.noise_std[place]
        at, noise = (np.clip(values, -_LARGEST, _LARGEST) for values in (at, noise))
        _draw(ax, at, y, reach, noise, at.size, None)
        ax.set_xlabel(_label(name_of(first, place)))
    for ax in panels.flat[len(places) :]:
        ax.set_visible(False)
    if len(releases) <= _NAMED:
        panels[0, 0].set_yticks(y, [_label(in_words(key)) for key in groups.groups])
    panels[0, 0].set_ylim(len(releases) - 0.5, -0.5)
    private = "private" if groups.private else "NOT PRIVATE (seeded)"
    figure.suptitle(
        f"{private} {_escaped(groups.subject)} (thick: ± noise, thin: {percent(level)} interval)"
    )
    return np.array(panels.flat[: len(places)], dtype=object)


def _plot_matrix(release: Release, ax: Axes) -> Axes:
    """Draw a matrix as colors: covariances in units of the standard deviations."""
    shown = correlations(release)
    colors = ax.imshow(shown, vmin=-1.0, vmax=1.0, cmap="RdBu_r")
    names = [_label(name) for name in release.columns]
    if len(names) <= _NAMED:
        ax.set_xticks(range(len(names)), names, rotation=90)
        ax.set_yticks(range(len(names)), names)
    ax.figure.colorbar(colors, ax=ax, label="correlation")
    if len(names) <= _WRITTEN:
        for (i, j), value in np.ndenumerate(shown):
            color = "white" if abs(value) > _DARK else "black"
            ax.text(j, i, f"{value:.2f}", ha="center", va="center", size=8, color=color)
    ax.set_title(_title(release))
    return ax


def _title(release: Release) -> str:
    """Return what was estimated, and of which column if it is one."""
    private = "private" if release.private else "NOT PRIVATE (seeded)"
    named = release.statistic in ("mean", "sum", "variance", "quantile")
    if named and len(release.columns) == 1:
        return f"{private} {release.statistic} of {_label(release.columns[0])}"
    return f"{private} {_escaped(subject(release))}"


def _label(name: str) -> str:
    """Return a column name for an axis: not too long, and with no formula in it."""
    shown = printable(name)
    shown = shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
    return _escaped(shown)


def _escaped(text: str) -> str:
    return text.replace("$", r"\$")


def correlations(release: Release) -> Floats:
    """Return a released matrix in units of its own standard deviations, 0 where there are none."""
    size = np.sqrt(np.maximum(np.diagonal(release.estimate), 0.0))
    size = np.where(size > 0.0, size, np.inf)
    return np.asarray(np.clip(release.estimate / size[:, np.newaxis] / size, -1.0, 1.0))
