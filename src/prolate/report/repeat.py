"""How to make a release again: as a command and as Python."""

from __future__ import annotations

import math
import shlex
from typing import Any

from prolate.release import Release

__all__ = ["as_command", "as_python", "not_stored"]

_DATA = "data.parquet"
_MOST_NAMES = 30
_SHAPED = ("mean", "sum", "variance")  # they have an error norm
_LINE = 88
_OF_FIT = ("unit", "contribution", "max_rows")  # arguments of LinearRegression.fit


def as_command(release: Release) -> str:
    """Return the shell command that makes such a release of the same columns."""
    name, options = _what(release)
    verb = {"regression": "regress", "correlation": "covariance"}.get(name, name)
    words = ["prolate", verb, _DATA]
    if name == "correlation":
        words.append("--correlation")
    if name == "regression":
        words += ["--target", _shell(str(release.details.get("target", "TARGET")))]
        words += [] if options.pop("fit_intercept", True) else ["--no-intercept"]
    names = _columns(release)
    if len(names) <= _MOST_NAMES:
        words += ["-f" if name == "regression" else "-c", _shell(",".join(map(_field, names)))]
    for q in _quantiles(release):
        words += ["-q", f"{q:g}"]
    for currency, value in release.budget.stated.items():
        words += [f"--{currency}", f"{value:.12g}"]
    for option, value in options.items():
        words += [f"--{option.replace('_', '-')}", _shell(str(value))]
    bounds = _bounds(release)
    if isinstance(bounds, dict):
        for column, (low, high) in bounds.items():
            words += ["--bounds", _shell(f"{column}={low:.12g}:{high:.12g}")]
    elif bounds is not None:
        words += ["--bounds", f"{bounds[0]:.12g}:{bounds[1]:.12g}"]
    words += ["-o", "release.json"]
    return _folded(words)


def as_python(release: Release) -> str:
    """Return the Python code that makes such a release of the same columns."""
    name, options = _what(release)
    price = [f"{k}={v:.12g}" for k, v in release.budget.stated.items()]
    names = _columns(release)
    few = len(names) <= _MOST_NAMES
    if name == "regression":
        if "epsilon" not in release.budget.stated:
            price = ["epsilon=None", "delta=None", *price]
        fitted = {name: options.pop(name) for name in _OF_FIT if name in options}
        price += _as_keywords(release, options)
        target = str(release.details.get("target", "TARGET"))
        features = f", features={names!a}" if few else ""
        features += "".join(f", {name}={value!a}" for name, value in fitted.items())
        return (
            "import prolate\n\n"
            f"model = prolate.LinearRegression({', '.join(price)})\n"
            f"model.fit({_DATA!r}, {target!a}{features})\n"
            "model.release_.to_json('release.json')\n"
        )
    given = [repr(_DATA)]
    if name == "quantile":
        q = [f"{q:g}" for q in _quantiles(release)]
        given.append(q[0] if release.estimate.ndim == 1 and q else f"[{', '.join(q)}]")
    given.append("budget=budget")
    if name == "correlation":
        name = "covariance"
        given.append("correlation=True")
    if few:
        given.append(f"columns={names!a}")
    given += _as_keywords(release, options)
    call = "".join(f"    {argument},\n" for argument in given)
    return (
        "import prolate\n\n"
        f"budget = prolate.Budget({', '.join(price)})\n"
        f"release = prolate.{name}(\n{call})\n"
        "release.to_json('release.json')\n"
    )


def not_stored(release: Release) -> list[str]:
    """Return sentences on what the code leaves to be filled in."""
    notes = [
        f"{_DATA} stands for the data: a release does not say where its rows were.",
    ]
    if len(_columns(release)) > _MOST_NAMES:
        notes.append("The columns are too many to be written out; all of the data's are taken.")
    if release.method == "gaussian-ellipse" or release.details.get("rotated"):
        notes.append(
            "Give center, scale, clip and rotation as before: a release does not store them."
        )
    if not release.private:
        notes.append("With the same seed it gives the same numbers, and is as little private.")
    else:
        notes.append("It spends the budget once more, and its noise is new: numbers will differ.")
    return notes


def _what(release: Release) -> tuple[str, dict[str, Any]]:
    """Return the statistic, and the options that are not the usual ones."""
    options: dict[str, Any] = {}
    if release.statistic in _SHAPED and release.error_norm != 2.0:
        options["error_norm"] = release.error_norm
    if release.neighbors != "replace":
        options["neighbors"] = release.neighbors
    if release.method != "auto":
        options["method"] = release.method
    if release.statistic == "regression" and release.details.get("fit_intercept") is False:
        options["fit_intercept"] = False
    if release.unit is not None:
        options["unit"] = release.unit.column
        if release.unit.max_rows is not None:
            options["contribution"], options["max_rows"] = "rows", release.unit.max_rows
    return release.statistic, options


def _as_keywords(release: Release, options: dict[str, Any]) -> list[str]:
    found = {**options, "bounds": _bounds(release)}
    return [
        f"{name}=" + ("float('inf')" if value == math.inf else ascii(value))
        for name, value in found.items()
        if value is not None
    ]


def _quantiles(release: Release) -> list[float]:
    if release.statistic != "quantile":
        return []
    if release.estimate.ndim == 2:
        return release.quantile_labels
    given = release.details.get("q")
    return [q for q in given if isinstance(q, int | float)] if isinstance(given, list) else []


def _bounds(release: Release) -> tuple[float, float] | dict[str, tuple[float, float]] | None:
    """Return the bounds that the release stores, if they are such as `Job` writes."""
    given = release.details.get("bounds")
    if isinstance(given, dict) and all(map(_is_pair, given.values())):
        return {str(name): (low, high) for name, (low, high) in given.items()}
    return (given[0], given[1]) if isinstance(given, list) and _is_pair(given) else None


def _is_pair(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(end, int | float) for end in value)
    )


def _columns(release: Release) -> list[str]:
    return list(release.columns[:-1] if release.statistic == "regression" else release.columns)


def _field(name: str) -> str:
    """Return a column name as a field of comma-separated text."""
    return '"{}"'.format(name.replace('"', '""')) if set(name) & set(',"\n\r') else name


def _shell(text: str) -> str:
    """Return a word for the shell; what cannot be printed is written as an escape."""
    if text.isprintable():
        return shlex.quote(text)
    escaped = "".join(
        c if c.isprintable() and c not in "'\\" else f"\\{c}" if c in "'\\"
        else c.encode("unicode_escape").decode()
        for c in text
    )  # fmt: skip
    return f"$'{escaped}'"


def _folded(words: list[str]) -> str:
    """Return the words on lines that end in backslashes, an option and its value together."""
    lines = [""]
    for i, word in enumerate(words):
        after = words[i + 1] if word.startswith("-") and i + 1 < len(words) else ""
        if lines[-1] and len(lines[-1]) + len(word) + len(after) + 2 > _LINE and word[0] == "-":
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)
