"""Rows, wherever they are: arrays, tables, sparse matrices and files.

A source knows the names of its columns and hands out its rows block by block, in
bounded memory; `Source.collect` adds a query up over the blocks. All sources cut rows
into blocks of the same size, so an answer does not depend on where the rows are kept.

What is public. The *schema* (names and types of columns), the arguments, and for files
their names, sizes and times may appear in an error; a value of a row never does, and
no value of a row decides whether there is an error. Two exceptions are stated in
`prolate.sources.delimited`, because CSV files have no schema of their own.
"""

from __future__ import annotations

from prolate.sources.kept import Dealing, KeptRows, Thinning
from prolate.sources.opening import open_source
from prolate.sources.source import Source

__all__ = ["Dealing", "KeptRows", "Source", "Thinning", "open_source"]
