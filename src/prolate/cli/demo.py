"""The command `prolate demo`: a release of rows that come with Prolate."""

from __future__ import annotations

from collections.abc import Sequence

import click

from prolate import demo as work
from prolate import terminal
from prolate.budget import Budget
from prolate.cli.help import examples
from prolate.cli.values import NUMBER
from prolate.release import Release
from prolate.release.views import numbers, round_to
from prolate.release.words import advice, headline

__all__ = ["demo"]


@click.command(epilog=examples("prolate demo", "prolate demo --epsilon 0.5 --json"))
@click.option("--epsilon", type=NUMBER, default=1.0, show_default=True, help="Budget: epsilon.")
@click.option("--delta", type=NUMBER, default=1e-6, show_default=True, help="Budget: delta.")
@click.option("--json", "as_json", is_flag=True, help="Print the release as JSON, no table.")
def demo(epsilon: float, delta: float, as_json: bool) -> None:
    """Release the means of real health records."""
    budget = Budget(epsilon=epsilon, delta=delta)
    with terminal.progress_bar() as progress:
        release = work.run(budget, progress)
    if as_json:
        click.echo(release.to_json(), nl=False)
    else:
        _print(release, work.true_means(), epsilon=epsilon, delta=delta)


def _print(release: Release, truth: Sequence[float], *, epsilon: float, delta: float) -> None:
    """Print the demo: each private mean beside the true one, and what to type next."""
    out = terminal.console()
    out.print("The RAND Health Insurance Experiment, 1974-1982: health records of 20,190")
    out.print("person-years. Public data, treated here as if they were private.\n")
    out.print(headline(release), style="bold")
    out.print()
    header = ["column", "meaning", "mean", "± noise", "95% interval", "true mean"]
    rows = []
    for record, true in zip(release.table(0.95), truth, strict=True):
        mean, noise, interval = numbers(record, ["noise"], intervals=True)
        column = record["column"]
        exact = round_to(true, record["noise_std"])
        rows.append([column, work.COLUMNS[column], mean, noise, interval, exact])
    terminal.print_table(out, header, rows, left=(0, 1))
    out.print()
    low, high = release.interval(0.95).T
    held = sum(a <= true <= b for a, true, b in zip(low, truth, high, strict=True))
    covered = f"these hold {held} of the {len(truth)} true means"
    notes = [
        ("mean", "what would be published: the private mean"),
        ("± noise", "standard deviation of the privacy noise alone"),
        (
            "95% interval",
            f"of noise, sampling and what clipping may have removed, together; {covered}",
        ),
        (
            "true mean",
            "shown only because these data are public; on private data nobody needs to look",
        ),
        ("guarantee", f"{release.guarantee} A row is one person in one year."),
        *[("advice", words) for words in advice(release)],
        *[("warning", warning) for warning in release.warnings],
    ]
    terminal.print_notes(out, notes)
    out.print()
    out.print(work.next_steps(epsilon, delta), end="", soft_wrap=True)
