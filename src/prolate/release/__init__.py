"""The result of a private computation: of all rows (`release`), or of each group (`groups`).

`shown` is what both have in common, `json` how they are stored and read again, `receipt` and
`unit` are parts of them, and the others are views: text, data frames, intervals and plots.
"""

from prolate.release.groups import GroupedRelease
from prolate.release.receipt import ReceiptEntry
from prolate.release.release import STATISTICS, Release, installed_version

__all__ = ["STATISTICS", "GroupedRelease", "ReceiptEntry", "Release", "installed_version"]
