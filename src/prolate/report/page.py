"""The report as a page, and in short for notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from prolate.digits import percent
from prolate.release import GroupedRelease, Release
from prolate.release.key import in_words
from prolate.release.notes import about_groups, about_intervals, about_rows
from prolate.release.plot import correlations
from prolate.release.views import confidence, each, name_of
from prolate.release.words import NO_GROUPS, headline, printable, rows_in_words
from prolate.report import repeat, words
from prolate.report.drawing import Profile, draw_profile, shade, shrunk
from prolate.report.rows import group_tables, make_table

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["notebook", "page", "templates"]

_NAMED_BARS = 40  # bars of the profile with names under them
_CELLS = 12  # columns of a matrix that is shown as a table of numbers
_BLOCKS = 64  # rows and columns of the picture of a larger one
_SHORT = 20  # rows in a notebook
_SHORT_GROUPS = 60  # rows of groups there


def page(release: Release | GroupedRelease, level: float = 0.95) -> str:
    """Return the report of a release, or of the releases of groups: one page of HTML.

    Parameters
    ----------
    release : Release or GroupedRelease
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
    level = confidence(level)
    if isinstance(release, GroupedRelease):
        return _group_page(release, level)
    return _render(
        "page.html",
        **_common(release, level),
        table=make_table(release, level),
        lead=rows_in_words(release),
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


def notebook(release: Release | GroupedRelease, level: float = 0.95) -> str:
    """Return the table with error bars, the warnings and the guarantee, for notebooks."""
    if isinstance(release, GroupedRelease):
        notes = about_groups(release)
        tables, hidden = group_tables(release, level, _SHORT_GROUPS)
        line = release.headline()
    else:
        notes = [*about_intervals(release), *about_rows(release)]
        table = make_table(release, level, _SHORT)
        tables, hidden, line = [("", table)], table.hidden, headline(release)
    common = _common(release, level)
    return _render(
        "notebook.html",
        **{**common, "guarantee": release.guarantee},
        tables=tables,
        hidden=hidden,
        headline=line,
        notes=notes,
    )


def _group_page(groups: GroupedRelease, level: float) -> str:
    first, keys = groups.first, list(groups.groups)
    tables, hidden = group_tables(groups, level)
    counted = "" if groups.keys_delta is None else ", found privately"
    return _render(
        "groups.html",
        **_common(groups, level),
        tables=tables,
        hidden=hidden,
        first=first,
        measured=printable(in_words(keys[0])) if keys else "",
        lead=f"{len(groups):,} group{'' if len(groups) == 1 else 's'}{counted}",
        sureness="" if first is None else words.sureness(*groups.groups.values()),
        charges=[] if first is None else words.charges(first),
        facts=words.group_facts(groups),
        details=[],
        command="" if first is None else repeat.as_command(first, keys),
        python="" if first is None else repeat.as_python(first, keys),
        notes=[] if first is None else repeat.not_stored(first, keys),
    )


def _common(release: Release | GroupedRelease, level: float) -> dict[str, Any]:
    """Return what both pages say, and the notebook's too."""
    return {
        "release": release,
        "title": words.title(release),
        "level": percent(level),
        "price": words.price(release),
        "guarantee": words.guarantee(release),
        "protection": words.protection(release),
        "warnings": [printable(warning) for warning in release.warnings],
        "no_groups": NO_GROUPS,
    }


def _render(template: str, **values: Any) -> str:
    return templates("prolate.report", "templates").get_template(template).render(values)


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
        names = [name_of(release, tuple(int(axis[i]) for axis in index)) for i in profile.order]
    ends = (names[0], names[-1]) if names else ("", "")
    short = names if len(names) <= _NAMED_BARS else []
    return Shape(profile, words.shape(release), short, ends, other is not None)


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
def templates(package: str, folder: str) -> Environment:
    """Return the templates in a folder of a package; what they show is escaped."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader(package, folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
