"""How to make a release again: as a command and as Python."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import Any

from prolate.digits import all_digits
from prolate.release import Release
from prolate.release.bounds import given_bounds
from prolate.release.key import Key, as_key, parts

__all__ = ["as_command", "as_python", "field_of", "folded", "not_stored", "shell"]

_DATA = "data.parquet"
_MOST_NAMES = 30
_SHAPED = ("mean", "sum", "variance")  # they have an error norm
_ASKED = ("clip", "rotation", "alpha", "accounting")
_MOST_KEYS = 100
_LINE = 88


def as_command(release: Release, keys: Sequence[Key] | None = None) -> str:
    """Return the shell command that makes such a release of the same columns.

    Of a group's release, `keys` are those of all groups.
    """
    name, options = _what(release, keys)
    verb = {"regression": "regress", "correlation": "covariance"}.get(name, name)
    words = ["prolate", verb, _DATA]
    if name == "correlation":
        words.append("--correlation")
    if name == "regression":
        words += ["--target", shell(field_of(_target(release)))]
        words += [] if options.pop("fit_intercept", True) else ["--no-intercept"]
    names = _columns(release)
    if names:
        words += ["-f" if name == "regression" else "-c", shell(",".join(map(field_of, names)))]
    for q in _quantiles(release):
        words += ["-q", all_digits(q)]
    for currency, value in release.budget.stated.items():
        words += [f"--{currency}", all_digits(value)]
    groups = options.pop("keys", [])
    for column in parts(options.pop("by", ())):
        words += ["--by", shell(field_of(column))]
    for option, value in options.items():
        words.append(f"--{option.replace('_', '-')}")
        text = field_of(str(value)) if option == "unit" else str(value)
        words += [] if value is True else [shell(text)]
    for key in groups:
        words += ["--key", shell(",".join(map(field_of, parts(key))))]
    return folded([*words, *_bounds_options(release), "-o", "release.json"])


def as_python(release: Release, keys: Sequence[Key] | None = None) -> str:
    """Return the Python code that makes such a release of the same columns."""
    name, options = _what(release, keys)
    price = [f"{k}={all_digits(v)}" for k, v in release.budget.stated.items()]
    given = [repr(_DATA)]
    if name == "regression":
        given.append(f"{_target(release)!a}")
    if name == "quantile":
        q = [all_digits(q) for q in _quantiles(release)]
        given.append(q[0] if release.estimate.ndim == 1 and q else f"[{', '.join(q)}]")
    given.append("budget=budget")
    if name == "correlation":
        given.append("correlation=True")
    names = _columns(release)
    if names:
        given.append(f"{'features' if name == 'regression' else 'columns'}={names!a}")
    given += [
        f"{option}=" + ("float('inf')" if value == math.inf else ascii(value))
        for option, value in {**options, "bounds": given_bounds(release)}.items()
        if value is not None
    ]
    face = {"regression": "regress", "correlation": "covariance"}.get(name, name)
    call = "".join(f"    {argument},\n" for argument in given)
    return (
        "import prolate\n\n"
        f"budget = prolate.Budget({', '.join(price)})\n"
        f"release = prolate.{face}(\n{call})\n"
        "release.to_json('release.json')\n"
    )


def not_stored(release: Release, keys: Sequence[Key] = ()) -> list[str]:
    """Return sentences on what the code leaves to be filled in."""
    notes = [
        f"{_DATA} stands for the data: a release does not say where its rows were.",
        "If Spark read them, say so again: --spark, or engine='spark'.",
    ]
    if len(_names(release)) > _MOST_NAMES:
        notes.append("The columns are too many to be written out; all of the data's are taken.")
    if len(keys) > _MOST_KEYS:
        notes.append(f"The groups are too many to be written out: {len(keys) - _MOST_KEYS:,} miss.")
    if release.method == "gaussian-ellipse":
        notes.append("Give center and scale as before: a release does not store them.")
    elif release.statistic == "mean" and release.method == "auto":
        notes.append(
            "If center or scale were given, give them again: a release does not store them."
        )
    if not release.private:
        notes.append("With the same seed it gives the same numbers, and is as little private.")
    else:
        notes.append("It spends the budget once more, and its noise is new: numbers will differ.")
    return notes


def _what(release: Release, keys: Sequence[Key] | None) -> tuple[str, dict[str, Any]]:
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
    asked = {name: release.details.get(name) for name in _ASKED}
    options |= {name: value for name, value in asked.items() if isinstance(value, str | float)}
    if release.details.get("exchangeable") is True:
        options["exchangeable"] = True
    if release.unit is not None:
        options["unit"] = release.unit.column
        if release.unit.max_rows is not None:
            options["contribution"], options["max_rows"] = "rows", release.unit.max_rows
    group = release.details.get("group")
    if isinstance(group, dict):
        options["by"] = _key(group.get("by", "BY"))
        if "keys_delta" not in group:
            every = [_key(group.get("key", "KEY"))] if keys is None else list(keys)
            options["keys"] = every[:_MOST_KEYS]
    return release.statistic, options


def _key(stored: object) -> Key:
    return as_key(tuple(map(str, stored))) if isinstance(stored, list) and stored else str(stored)


def _target(release: Release) -> str:
    return str(release.details.get("target", "TARGET"))


def _quantiles(release: Release) -> list[float]:
    if release.statistic != "quantile":
        return []
    if release.estimate.ndim == 2:
        return release.quantile_labels
    given = release.details.get("q")
    return [q for q in given if isinstance(q, int | float)] if isinstance(given, list) else []


def _bounds_options(release: Release) -> list[str]:
    bounds = given_bounds(release)
    if bounds is None:
        return []
    if isinstance(bounds, tuple):
        return ["--bounds", ":".join(map(all_digits, bounds))]
    pairs = [
        f"{field_of(column)}={':'.join(map(all_digits, pair))}" for column, pair in bounds.items()
    ]
    return [word for pair in pairs for word in ("--bounds", shell(pair))]


def _names(release: Release) -> tuple[str, ...]:
    """Return the columns that were asked for."""
    if release.statistic == "count":
        return ()
    return release.columns[:-1] if release.statistic == "regression" else release.columns


def _columns(release: Release) -> list[str]:
    """Return the columns to write out, none if they are too many."""
    names = _names(release)
    return list(names) if len(names) <= _MOST_NAMES else []


def field_of(name: str) -> str:
    """Return a column name as a field of comma-separated text."""
    quoted = not name or set(name) & set(',"\n\r')
    return '"{}"'.format(name.replace('"', '""')) if quoted else name


def shell(text: str) -> str:
    """Return a word for any POSIX shell; what cannot be printed is written as octal numbers."""
    if text.isprintable():
        return shlex.quote(text)
    octal = "".join(
        "%%" if c == "%"
        else c if c.isprintable() and c not in "'\\"
        else "".join(f"\\{byte:03o}" for byte in c.encode("utf-8", "surrogateescape"))
        for c in text
    )  # fmt: skip
    return f"\"$(printf '{octal}')\""


def folded(words: list[str]) -> str:
    """Return the words on lines that end in backslashes, an option and its value together."""
    lines = [""]
    for i, word in enumerate(words):
        after = words[i + 1] if word.startswith("-") and i + 1 < len(words) else ""
        if lines[-1] and len(lines[-1]) + len(word) + len(after) + 2 > _LINE and word[0] == "-":
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)
