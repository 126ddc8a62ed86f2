"""The command `prolate`: `entry` starts it; each command is in a module of its own name.

The commands of columns are together in `statistics`. `options`, `values` and `help` are the
arguments that they share, `release` what each of them does to make a release and print it.
"""

from prolate.cli.entry import main

__all__ = ["main"]
