"""What the command prints: tables for people, a progress bar on a terminal.

On a terminal a long table is cut in its middle and says so.  In a pipe every
row is there, in plain text, with no color and no progress bar.
"""

from __future__ import annotations

import select
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from prolate.api.groups import GROUPS
from prolate.digits import percent
from prolate.ledger import Ledger
from prolate.ledger.words import limit_in_words
from prolate.measurement import Progress
from prolate.release import GroupedRelease, ReceiptEntry, Release
from prolate.release.key import parts
from prolate.release.notes import about_groups, about_rows
from prolate.release.views import (
    aligned,
    cells,
    each,
    middle_out,
    pair_cells,
    shown_as_matrix,
)
from prolate.release.words import (
    NO_GROUPS,
    NOT_PRIVATE,
    advice,
    error_in_words,
    headline,
    no_errors,
    price_in_words,
    printable,
)

if TYPE_CHECKING:
    from rich.console import Console


_PIPE_WIDTH = 10_000  # a table in a pipe is never folded
_TEXT_WIDTH = 96  # prose is, there as well: longer lines are hard to read


def console(stream: TextIO | None = None) -> Console:
    """Return a rich console on `stream` (standard output), plain where it is no terminal."""
    from rich.console import Console

    out = sys.stdout if stream is None else stream
    width = None if out.isatty() else _PIPE_WIDTH
    return Console(file=out, width=width, markup=False, highlight=False, emoji=False)


def is_deserted(stream: TextIO) -> bool:
    """Return whether a stream is a pipe that nobody reads any more, where the system tells."""
    if not hasattr(select, "poll"):
        return False
    try:
        handle = stream.fileno()
    except (OSError, ValueError):  # no file, or closed
        return False
    poll = select.poll()
    poll.register(handle, 0)  # what is gone is told in any case
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


@contextmanager
def progress_bar(*, count_rows: bool = True) -> Iterator[Progress | bool]:
    """Give a callable that drives a bar on standard error, or False if that is no terminal.

    Where the number of rows is private, it must not `count_rows`: then no part of them is shown,
    either, since the steps of a part tell how many there are. That of groups that were named is
    public.
    """
    if not sys.stderr.isatty():
        yield False
        return
    from rich import progress as rich

    columns = (
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(bar_width=None),
        rich.TextColumn("{task.fields[rows]}", markup=False),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=console(sys.stderr), transient=True) as bar:
        tasks: dict[str, rich.TaskID] = {}

        def report(label: str, rows_done: int, rows_total: int | None) -> None:
            total = rows_total if count_rows or label == GROUPS else None
            if label not in tasks:
                tasks[label] = bar.add_task(printable(label), total=total, rows="")
            rows = f"{rows_done:,} rows" if count_rows else ""
            bar.update(tasks[label], completed=rows_done, total=total, rows=rows)

        yield report


def print_release(
    release: Release,
    *,
    level: float,
    receipt: bool,
    intervals: bool = True,
) -> None:
    """Print a release: its table, what the numbers mean, and on request the receipt."""
    out = console()
    out.print(headline(release), style="bold")
    if not release.private:
        out.print(NOT_PRIVATE, style="bold red", soft_wrap=True)
    out.print()
    print_table(out, *cells(release, level, intervals=intervals))
    if intervals and shown_as_matrix(release) and each(release)[0].size:
        out.print()
        print_table(out, *pair_cells(release, level))
    out.print()
    print_notes(out, _notes(release, level, intervals=intervals))
    if receipt:
        out.print()
        print_receipt(release, out)


def print_groups(
    release: GroupedRelease,
    *,
    level: float,
    receipt: bool,
    intervals: bool = True,
) -> None:
    """Print the releases of groups: their table, what the numbers mean, and one receipt."""
    out = console()
    out.print(release.headline(), style="bold")
    if not release.private:
        out.print(NOT_PRIVATE, style="bold red", soft_wrap=True)
    out.print()
    if release.first is None:
        out.print(NO_GROUPS, soft_wrap=True)
    else:
        header, rows = release.cells(level, intervals=intervals)
        names = len(parts(release.by))
        columns = (*range(names), *([names + 1] if release.statistic != "count" else []))
        print_table(out, header, rows, left=columns)
    out.print()
    first = max(release.groups.values(), key=lambda one: one.has_intervals, default=None)
    notes = []
    if first is not None:
        notes = _notes(first, level, intervals=intervals, of_groups=True)
    own = {"guarantee": release.guarantee}
    notes = [(name, own.get(name, words)) for name, words in notes if name != "warning"]
    if first is not None and first.statistic != "count":
        notes.insert(0, ("n", "a noisy count of the group"))
    if first is None:
        notes = [("guarantee", release.guarantee)]
    about = [("note", words) for words in about_groups(release)]
    warnings = [("warning", warning) for warning in release.warnings]
    print_notes(out, [*notes, *about, *warnings])
    if receipt and first is not None:
        out.print()
        out.print("Of one group; the others are measured like it, each with its own noise.")
        print_receipt(first, out)


def _notes(
    release: Release,
    level: float,
    *,
    intervals: bool,
    of_groups: bool = False,
) -> list[tuple[str, str]]:
    method = release.method
    if not release.is_matrix and release.statistic not in ("quantile", "regression", "count"):
        method += f", noise shaped for {error_in_words(release.error_norm)}"
    notes = []
    if release.noise_std is not None:
        notes.append(("± noise", "standard deviation of the privacy noise alone"))
    matrix = of_groups and shown_as_matrix(release)
    if release.sampling_std is not None and not matrix:
        notes.append(("± sampling", "that of drawing the rows"))
    if matrix:
        notes.append(("intervals", "from interval(), and in the release's tables and reports"))
    elif intervals and release.has_intervals:
        notes.append((f"{percent(level)} interval", f"for {release.interval_covers}"))
    elif intervals:
        notes.append(("intervals", f"none: {no_errors(release)}"))
    return [
        *notes,
        ("budget", price_in_words(release)),
        ("guarantee", release.guarantee),
        *[("unit", str(unit)) for unit in [release.unit] if unit is not None],
        ("method", method),
        *[("note", words) for words in ([] if of_groups else about_rows(release))],
        *[("advice", words) for words in advice(release)],
        *[("warning", warning) for warning in release.warnings],
    ]


def print_receipt(release: Release, out: Console | None = None) -> None:
    """Print every measurement of a release and what it cost."""
    out = out or console()
    out.print("Receipt: every measurement of the data", style="bold")
    header = ["measurement", "numbers", "share", "mu", "sensitivity", "noise", "query"]
    rows = []
    for entry in release.receipt:
        rows += [_receipt_line(entry), *(_receipt_line(one, "  ") for one in entry.questions)]
    print_table(out, header, rows, left=(0, 6))
    notes = [
        ("measurement", "what each is for stands in docs/measurements.md"),
        ("share", "part of mu squared; mu squares add up to the budget's"),
        ("sensitivity", "the l2 sensitivity, in the integer units of the query, as the noise"),
    ]
    if any(entry.questions for entry in release.receipt):
        notes.append(
            ("searches", "each of other rows: all together cost what the dearest part does")
        )
    print_notes(out, notes)


def _receipt_line(entry: ReceiptEntry, indent: str = "") -> list[str]:
    return [
        indent + printable(entry.label),
        f"{entry.size:,}",
        f"{100 * entry.share:.2f}%",
        f"{entry.mu:.4g}",
        f"{entry.sensitivity:.6g}",
        f"{entry.noise_std:.6g}",
        printable(entry.query),
    ]


def print_ledger(ledger: Ledger) -> None:
    """Print a ledger: its limit, what is spent and left, all charges, all changes of the limit."""
    out, account = console(), ledger.account()
    out.print(f"Ledger of {printable(ledger.dataset or str(ledger.path))}", style="bold")
    promise = account.promise
    hidden = "nothing is decided yet" if promise is None else printable(str(promise))
    notes = [("hidden", hidden), *account.told().items()]
    if account.keys_delta:
        found = f"delta = {account.spent_delta:.4g} of {account.keys_delta:g} that is set aside"
        notes.append(("groups", f"finding them has cost {found}"))
    print_notes(out, notes)
    if account.entries:
        out.print()
        header = ["charge", "time (UTC)", "mu", "rho", "release"]
        rows = [
            [str(e.id), e.time[:19].replace("T", " "), f"{e.mu:.4g}", f"{e.rho:.4g}",
             printable(e.label)]
            for e in account.entries
        ]  # fmt: skip
        if account.keys_delta:
            header.insert(4, "delta")
            for row, entry in zip(rows, account.entries, strict=True):
                row.insert(4, f"{entry.delta:.4g}" if entry.delta else "")
        print_table(out, header, rows, left=(1, len(header) - 1))
    if account.changes:
        out.print()
        header = ["change", "time (UTC)", "after charge", "old limit", "new limit"]
        rows = [
            [str(c.id), c.time[:19].replace("T", " "), str(c.charges),
             limit_in_words(c.old, c.old_keys_delta), limit_in_words(c.new, c.new_keys_delta)]
            for c in account.changes
        ]  # fmt: skip
        print_table(out, header, rows, left=(1, 3, 4))


def print_table(
    out: Console, header: list[str], rows: list[list[str]], left: tuple[int, ...] = (0,)
) -> None:
    """Print a table, the columns `left` aligned to the left; on a terminal, a long one in part."""
    if not out.file.isatty():
        print(*aligned(header, rows, left), sep="\n", file=out.file)
        return
    from rich import box
    from rich.table import Table

    shown = middle_out(rows, max(20, out.height - 12))
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for i, name in enumerate(header):
        table.add_column(name, justify="left" if i in left else "right", overflow="fold")
    for row in shown:
        table.add_row(*row)
    out.print(table)
    if len(shown) < len(rows):
        out.print("The middle is left out here; in a pipe or a file every row is printed.")


def print_notes(out: Console, notes: Sequence[tuple[str, str]]) -> None:
    """Print what is to be said below a table, each with the name of what it is about."""
    margin = max(len(name) for name, _ in notes) + 2
    for name, words in notes:
        lines = textwrap.wrap(
            printable(words),
            break_long_words=False,
            break_on_hyphens=False,
            width=max(40, min(out.width, _TEXT_WIDTH)),
            initial_indent=name.ljust(margin),
            subsequent_indent=" " * margin,
        )
        style = "bold yellow" if name == "warning" else None
        for line in lines:
            out.print(line, style=style, soft_wrap=True)
