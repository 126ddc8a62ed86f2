"""The result of a private computation: of all rows (`release`), or of each group (`groups`).

`shown` is what both have in common, `json` how they are read again, and `files` where they
are written. `receipt`, `unit` and `key` (what a group is called) are parts of them, and `arrays`
checks others. `words`, `views`, `intervals` and `plot` show them: in sentences, as text and data
frames, and drawn.
"""

from prolate.release.groups import GroupedRelease
from prolate.release.receipt import ReceiptEntry
from prolate.release.release import Release, installed_version

__all__ = ["GroupedRelease", "ReceiptEntry", "Release", "installed_version"]
