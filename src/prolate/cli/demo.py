"""The command `prolate demo`: a release of rows that come with Prolate."""

from __future__ import annotations

import click

from prolate import demo as work
from prolate import terminal
from prolate.budget import Budget
from prolate.cli.help import examples
from prolate.cli.values import NUMBER

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
        terminal.print_demo(release, work.true_means(), epsilon=epsilon, delta=delta)
