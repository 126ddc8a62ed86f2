"""The door between rows and results: `curator`, and what only it holds.

`account` adds up what is spent, `rows` adds up the rows (all of them, or a sample), and
`choice` looks for what `Curator.select` chooses.
"""

from prolate.curator.account import OneProcess
from prolate.curator.curator import Curator
from prolate.measurement import Measurement, Measurer, Place, Progress, Searcher, Table

__all__ = [
    "Curator",
    "Measurement",
    "Measurer",
    "OneProcess",
    "Place",
    "Progress",
    "Searcher",
    "Table",
]
