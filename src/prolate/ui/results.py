"""A release as the page shows it and hands it out, of one group or of many."""

from __future__ import annotations

from functools import cache
from importlib import resources

import jinja2

from prolate.release import GroupedRelease, Release, words

__all__ = ["Made", "headline", "render", "to_text"]

Made = Release | GroupedRelease


def headline(made: Made) -> str:
    """Return what was released, in a line."""
    return made.headline() if isinstance(made, GroupedRelease) else words.headline(made)


def render(template: str, **values: object) -> str:
    """Return one of the page's templates with values in it, escaped."""
    return _templates().get_template(template).render(values)


def to_text(package: str, path: str) -> str:
    """Return a file of a package."""
    return resources.files(package).joinpath(path).read_text(encoding="utf-8")


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("prolate.ui", "files"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
