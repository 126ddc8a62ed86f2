"""Checks that clip, center and scale go with the method of a mean or a sum."""

from __future__ import annotations

from prolate.arguments import Vector
from prolate.errors import InputError

__all__ = ["check_ellipse"]


def check_ellipse(
    method: str,
    clip: float | str,
    center: Vector | None,
    scale: Vector | None,
    *,
    also: str | None = None,
) -> None:
    """Raise `InputError` unless clip, center and scale go with the method.

    They are for the method "gaussian-ellipse", which needs the last two, and for the method
    `also`.
    """
    given = {"clip": clip != "auto", "center": center is not None, "scale": scale is not None}
    if method == "gaussian-ellipse":
        absent = [name for name in ("center", "scale") if not given[name]]
        if absent:
            example = "center=50" if absent[0] == "center" else "scale=10"
            raise InputError(
                f"method='gaussian-ellipse' needs a public {' and a public '.join(absent)} for "
                f"every column, such as {example}; a mean with method='auto' needs neither."
            )
        return
    if clip == "optimal":
        raise InputError(
            "clip='optimal' is for method='gaussian-ellipse', because it needs rows of known "
            "shape; use clip='auto'."
        )
    for name, is_given in given.items():
        if is_given and method != also:
            allowed = "'gaussian-ellipse'" if also is None else f"{also!r} and 'gaussian-ellipse'"
            raise InputError(f"{name} is for method={allowed}; got method={method!r}.")
