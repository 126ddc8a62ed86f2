"""The command `prolate`: `entry` starts it; its commands are in modules of their names.

Those that release statistics of columns are together in `statistics`, and `show` is in `report`.
They share `options`, how their `values` are read, and the layout of their `help`; what is done to
make a release and print it (`release`), and advice that names options (`words`).
"""

from prolate.cli.entry import main

__all__ = ["main"]
