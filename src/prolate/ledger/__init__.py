"""What a data set has spent, kept where crashes and races cannot cheat.

A ledger is kept for one data set: a limit, and one entry per charge.  A release
is charged before it is measured, so a crash can waste budget and never hide it.
What makes that true, in a file (`file`) and in PostgreSQL (`postgres`) alike:

- a charge reads the entries, decides and writes within one transaction that
  excludes all others, so that two processes cannot both take the last of the
  budget;
- it returns only after a commit that survives a kill and a loss of power, and
  whatever else happens is an error, after which nothing is measured;
- every operation has a connection of its own and no fork happens during one,
  so a ledger may be used from threads and on both sides of a fork;
- entries are only ever added, under consecutive numbers, and so are changes of the
  limit; a checksum covers them and the limit: a ledger that is not whole is refused;
- no decision looks at a clock.

Sums are exact (`account`), and only add up costs of the same promise (`entry`).
"""

from prolate.ledger.address import Address
from prolate.ledger.entry import Entry
from prolate.ledger.ledger import Ledger
from prolate.ledger.limit_change import LimitChange

__all__ = ["Address", "Entry", "Ledger", "LimitChange"]
