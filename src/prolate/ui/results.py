"""A release as the page shows it and hands it out, of one group or of many."""

from __future__ import annotations

from importlib import resources

from prolate.release import GroupedRelease, Release, words
from prolate.report.page import templates

__all__ = ["Made", "headline", "render", "to_text"]

Made = Release | GroupedRelease


def headline(made: Made) -> str:
    """Return what was released, in a line."""
    return made.headline() if isinstance(made, GroupedRelease) else words.headline(made)


def render(template: str, **values: object) -> str:
    """Return one of the page's templates with values in it, escaped."""
    return templates("prolate.ui", "files").get_template(template).render(values)


def to_text(package: str, path: str) -> str:
    """Return a file of a package."""
    return resources.files(package).joinpath(path).read_text(encoding="utf-8")
