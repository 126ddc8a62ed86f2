"""The report as a page, and in short for notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from prolate._release_plot import correlations
from prolate._release_views import headline, printable
from prolate.release import Release
from prolate.report import repeat, words
from prolate.report.drawing import Profile, draw_profile, shade, shrunk
from prolate.report.rows import each, make_table

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["notebook", "page"]

_NAMED_BARS = 40  # bars of the profile with names under them
_CELLS = 12  # columns of a matrix that is shown as a table of numbers
_BLOCKS = 64  # rows and columns of the picture of a larger one
_SHORT = 20  # rows in a notebook


def page(release: Release, level: float = 0.95) -> str:
    """Return a release's report: one page of HTML.

    Parameters
    ----------
    release : Release
    level : float
        Confidence of the intervals.

    Raises
    ------
    InputError
        If `level` is not strictly between 0 and 1.

    Examples
    --------
    >>> from prolate import Budget, Release
    >>> r = Release(statistic="mean", estimate=[2.0], columns=("<age>",), noise_std=[0.5],
    ...     n=100, budget=Budget(mu=1), neighbors="replace", method="auto")
    >>> "&lt;age&gt;" in page(r), "<script" in page(r)
    (True, False)
    """
    return (
        _templates()
        .get_template("page.html")
        .render(
            **_common(release, level, most=None),
            guarantee=words.guarantee(release),
            protection=words.protection(release),
            sureness=words.sureness(release),
            charges=words.charges(release),
            shape=_shape(release),
            matrix=_matrix(release),
            facts=words.facts(release),
            details=words.details(release),
            command=repeat.as_command(release),
            python=repeat.as_python(release),
            notes=repeat.not_stored(release),
        )
    )


def notebook(release: Release, level: float = 0.95) -> str:
    """Return a release's table with error bars, its warnings and its guarantee, for notebooks."""
    common = _common(release, level, most=_SHORT)
    return (
        _templates()
        .get_template("notebook.html")
        .render(**common, headline=headline(release), guarantee=release.guarantee)
    )


def _common(release: Release, level: float, most: int | None) -> dict[str, Any]:
    limit = {} if most is None else {"most": most}
    return {
        "release": release,
        "title": words.title(release),
        "level": f"{100 * level:.6g}%",
        "warnings": [printable(warning) for warning in release.warnings],
        "table": make_table(release, level, **limit),
    }


@dataclass(frozen=True)
class Shape:
    """The noise of every number: a picture and a sentence."""

    profile: Profile | None
    sentence: str
    names: list[str]
    ends: tuple[str, str]
    sampling: bool


def _shape(release: Release) -> Shape | None:
    """Return the shape of the noise; of a matrix, of one triangle."""
    if release.noise_std is None:
        return None
    index = each(release)
    noise = release.noise_std[index]
    other = None if release.sampling_std is None else release.sampling_std[index]
    profile = draw_profile(noise, other)
    names: list[str] = []
    if profile is not None:
        names = [_name(release, tuple(int(axis[i]) for axis in index)) for i in profile.order]
    ends = (names[0], names[-1]) if names else ("", "")
    short = names if len(names) <= _NAMED_BARS else []
    return Shape(profile, words.shape(release), short, ends, other is not None)


def _name(release: Release, place: tuple[int, ...]) -> str:
    column = printable(release.columns[place[-1]])
    if release.is_matrix:
        return f"{printable(release.columns[place[0]])} with {column}"
    return f"{column}, q = {release.quantile_labels[place[0]]:g}" if len(place) == 2 else column


@dataclass(frozen=True)
class Matrix:
    """A matrix of correlations: as cells of names and text, or as a picture of blocks."""

    names: list[str]
    cells: list[list[tuple[str, str]]]  # text and class of color
    block: int  # columns that one cell stands for
    size: int
    paths: dict[str, str]


def _matrix(release: Release) -> Matrix | None:
    if not release.is_matrix:
        return None
    values = correlations(release)
    d = values.shape[0]
    if d <= _CELLS:
        names = [printable(name) for name in release.columns]
        cells = [[(f"{value + 0.0:.2f}", shade(value)) for value in row] for row in values]
        return Matrix(names, cells, 1, d, {})
    small = shrunk(values, _BLOCKS)
    paths: dict[str, str] = {}
    for i, row in enumerate(small):
        for j, value in enumerate(row):
            color = shade(value)
            if color != "z":
                paths[color] = paths.get(color, "") + f"M{j} {i}h1v1h-1z"
    return Matrix([], [], -(-d // small.shape[0]), small.shape[0], paths)


@cache
def _templates() -> Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("prolate.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
