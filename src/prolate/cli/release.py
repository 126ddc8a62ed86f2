"""The way of every command that makes a release: checks, the release, its file, its table."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from prolate import terminal
from prolate.cli.values import read_budget, read_keys
from prolate.cli.words import in_options
from prolate.errors import ReleaseError
from prolate.release import GroupedRelease, Release
from prolate.release.files import check_writable
from prolate.release.words import NOT_PRIVATE
from prolate.sources.paths import called_alike

__all__ = ["print_whole", "release_and_print"]


def release_and_print(
    make: Callable[..., Release | GroupedRelease],
    options: dict[str, Any],
    *,
    intervals: bool = True,
) -> None:
    """Make a release, write it where that is asked for, and print it.

    Parameters
    ----------
    make : callable
        From the data, with the keywords budget and progress and what else `options` holds,
        to the release.
    options : dict
        The options of the command.
    intervals : bool
        Whether the table has intervals.
    """
    budget = read_budget(*(options.pop(name) for name in ("epsilon", "delta", "rho", "mu")))
    files, output = options.pop("files"), options.pop("output")
    overwrite = options.pop("overwrite")
    shown = {name: options.pop(name) for name in ("level", "receipt", "as_json")}
    _check_output(output, overwrite=overwrite)
    if options["seed"] is not None:
        click.echo(f"prolate: {NOT_PRIVATE}", err=True)
    data = _one_or_all(files)
    if options.get("by") and options.get("keys"):
        options["keys"] = read_keys(options["by"], options["keys"])
    rows_are_public = options.get("unit") is None and options.get("by") is None
    count_rows = options["neighbors"] == "replace" and rows_are_public
    with terminal.progress_bar(count_rows=count_rows) as progress:
        release = make(data, budget=budget, progress=progress, **options)
    if output is not None:
        try:
            _check_output(output, overwrite=overwrite)  # of another command that ended meanwhile
            release.to_json(output)
        except ReleaseError as error:
            raise _printed_instead(release, str(error)) from error
    _print(release, intervals=intervals, stored=output is not None, **shown)


def _one_or_all(files: Sequence[str]) -> str | list[str]:
    """Return the file, or the list of files, which may be what the shell made of a pattern."""
    if alike := called_alike(files):
        raise click.UsageError(
            f"{alike[0]} and {alike[1]} are most likely the same rows twice; leave one out, or "
            "rename it if both are to count."
        )
    return files[0] if len(files) == 1 else list(files)


def _check_output(output: str | None, *, overwrite: bool) -> None:
    """Raise `ReleaseError` where it can be seen beforehand that nobody would get a release."""
    if output == "-":
        raise ReleaseError(
            "-o names a file; to print the release as JSON on standard output, use --json instead "
            "(and for a file of that name, -o ./-)."
        )
    if output is not None:
        _check_ending(output)
        target = check_writable(output)
        if not overwrite and target.exists() and target.stat().st_size:
            raise ReleaseError(
                f"Cannot write {output!r}: the file exists, and an earlier release in it would be "
                "lost, though it was paid for. Choose another name, or replace it with --overwrite."
            )
    elif not sys.stdout.writable():
        raise ReleaseError(
            "Standard output is closed, so nothing is released; open it, or name a file with -o."
        )
    elif terminal.is_deserted(sys.stdout):
        raise ReleaseError(
            "Nobody reads standard output any more, so nothing is released; see whether the "
            "command behind the pipe is there, or name a file with -o."
        )


def _check_ending(output: str) -> None:
    """Raise `ReleaseError` where a file would not be what its name says."""
    if Path(output).suffix.lower() in (".html", ".htm", ".pdf"):
        stored = Path(output).with_suffix(".json").name
        raise ReleaseError(
            f"Cannot write {output!r}: -o stores the release as JSON. Use -o {stored}, and make a "
            f"page of it by prolate report {stored} -o {Path(output).with_suffix('.html').name}."
        )


def _print(release: Release | GroupedRelease, *, stored: bool, **shown: Any) -> None:
    """Print a release; on standard error where nothing else can be, and it is nowhere else."""
    if not stored and terminal.is_deserted(sys.stdout):
        raise _on_standard_error(release, "nobody reads standard output")
    try:
        print_whole(release, **shown)
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # whoever began to read has read enough
    except OSError as error:
        if not stored:
            raise _on_standard_error(release, str(error.strerror)) from error
        raise


def _printed_instead(release: Release | GroupedRelease, failure: str) -> ReleaseError:
    """Print a release that has no file, and return the error that says so.

    The disk that is full may be that of the standard output, too.
    """
    if not terminal.is_deserted(sys.stdout):
        with contextlib.suppress(OSError):
            click.echo(release.to_json(), nl=False)
            sys.stdout.flush()
            return ReleaseError(f"{failure} It is printed instead, because its budget is spent.")
    click.echo(release.to_json(), nl=False, err=True)
    return ReleaseError(
        f"{failure} It cannot be printed either, and is above, on standard error, because its "
        "budget is spent."
    )


def _on_standard_error(release: Release | GroupedRelease, reason: str) -> ReleaseError:
    """Print a release on standard error, and return the error that says so."""
    click.echo(release.to_json(), nl=False, err=True)
    return ReleaseError(
        f"The release cannot be printed ({reason}). "
        "It is above, on standard error, because its budget is spent."
    )


def print_whole(
    release: Release | GroupedRelease,
    *,
    level: float,
    receipt: bool,
    as_json: bool,
    intervals: bool = True,
) -> None:
    """Print a release, for people or as JSON."""
    if as_json:
        click.echo(release.to_json(), nl=False)
        return
    if isinstance(release, GroupedRelease):
        groups = {key: _in_options(one) for key, one in release.groups.items()}
        release = replace(release, groups=groups)
        print_groups = terminal.print_groups
        print_groups(release, level=level, receipt=receipt, intervals=intervals)
        return
    release, print_one = _in_options(release), terminal.print_release
    print_one(release, level=level, receipt=receipt, intervals=intervals)


def _in_options(release: Release) -> Release:
    return replace(release, warnings=tuple(map(in_options, release.warnings)))
