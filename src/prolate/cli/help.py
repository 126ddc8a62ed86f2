"""How the command's help is set out."""

from __future__ import annotations

import click

__all__ = ["Group", "examples"]


_CALLED = {  # what statistics are called elsewhere, and what to type
    "average": "prolate mean",
    "median": "prolate quantile -q 0.5",
    "std": "prolate variance",
    "correlation": "prolate covariance --correlation",
    "corr": "prolate covariance --correlation",
    "forecast": "prolate error",
}


class Group(click.Group):
    """A command of commands, listed in the order in which they are taught."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is asked for; of one by another name, say its own."""
        if args[0] in _CALLED and args[0] not in self.commands:
            raise click.UsageError(f"No such command {args[0]!r}; use {_CALLED[args[0]]}.", ctx)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order in which they were added."""
        return list(self.commands)


def examples(*lines: str) -> str:
    """Return the end of a command's help: lines to type."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])
