"""How the command's help is set out."""

from __future__ import annotations

import click

__all__ = ["Group", "examples"]


class Group(click.Group):
    """A command of commands, listed in the order in which they are taught."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order in which they were added."""
        return list(self.commands)


def examples(*lines: str) -> str:
    """Return the end of a command's help: lines to type."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])
