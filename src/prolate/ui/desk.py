"""Where releases are made: each confirmed once, charged once, kept until it is fetched.

A confirmed plan gets a ticket. Whoever hands in the same ticket again, by a double click or
after a reload, is told how far it is, and nothing is charged twice. One release is made at a
time, in a thread that no request waits for; so the page may be closed and opened meanwhile.
"""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass, field
from typing import Any, Literal

from prolate.api.groups import GROUPS
from prolate.cli.entry import explain
from prolate.errors import InputError
from prolate.ledger import Ledger
from prolate.ledger.address import hide_passwords
from prolate.release.words import printable
from prolate.ui.plan import Plan
from prolate.ui.results import Made, headline
from prolate.ui.words import plan_in_words

__all__ = ["Desk", "Run"]

_MOST_TICKETS = 100  # confirmed by nobody


@dataclass
class Run:
    """A plan on its way to a release."""

    ticket: str
    plan: Plan
    number: int = 0  # in the order in which releases were started
    state: Literal["planned", "running", "done", "refused"] = "planned"
    step: str = ""
    part: float | None = None
    error: str = ""
    release: Made | None = None
    fetched: bool = False  # whether its numbers were downloaded
    thread: threading.Thread | None = field(default=None, repr=False)

    def public(self) -> dict[str, Any]:
        """Return what the page shows of it, ready for JSON."""
        shown: dict[str, Any] = {
            "id": self.ticket,
            "state": self.state,
            "title": plan_in_words(self.plan),
            "budget": str(self.plan.budget),
        }
        if self.state == "running":
            shown |= {"step": self.step, "part": self.part}
        if self.release is not None:
            shown |= {"headline": headline(self.release)}
        return shown | ({"error": self.error} if self.error else {})


class Desk:
    """All plans and releases of one page.

    Parameters
    ----------
    ledger : Ledger or None
        What to charge.
    """

    def __init__(self, ledger: Ledger | None) -> None:
        self._ledger = ledger
        self._runs: dict[str, Run] = {}
        self._lock = threading.Lock()

    def plan(self, plan: Plan) -> str:
        """Return a new ticket for a plan."""
        with self._lock:
            planned = [run.ticket for run in self._runs.values() if run.state == "planned"]
            for ticket in planned[: len(planned) - _MOST_TICKETS + 1]:
                del self._runs[ticket]
            ticket = secrets.token_urlsafe(12)
            self._runs[ticket] = Run(ticket, plan)
        return ticket

    def start(self, ticket: object) -> Run:
        """Start the release of a ticket, unless it was started before.

        Raises
        ------
        InputError
            If there is no such ticket, or another release is being made.
        """
        with self._lock:
            run = self._runs.get(ticket) if isinstance(ticket, str) else None
            if run is None:
                raise InputError("This plan is not known any more; review it once again.")
            if run.state != "planned":
                return run
            if any(other.state == "running" for other in self._runs.values()):
                raise InputError("Another release is being made; wait until it is done.")
            run.number = 1 + sum(other.state != "planned" for other in self._runs.values())
            run.state = "running"
            # Pressed later, a release stands below those that were made before it.
            self._runs[run.ticket] = self._runs.pop(run.ticket)
            run.thread = threading.Thread(target=self._make, args=(run,), daemon=True)
            run.thread.start()
        return run

    def _make(self, run: Run) -> None:
        def progress(label: str, rows_done: int, rows_total: int | None) -> None:
            # Under add-remove, how many rows there are shows in the steps of any share of them;
            # how many groups, where they were named, is public.
            run.step = printable(label)
            run.part = None
            if rows_total and (run.plan.public_rows or label == GROUPS):
                run.part = min(1.0, rows_done / rows_total)

        try:
            run.release = run.plan.release(self._ledger, progress)
            run.state = "done"
        except BaseException as error:  # noqa: BLE001 -- a thread has no other last place
            sentence = hide_passwords(" ".join(explain(error)[1].split()))
            run.error = printable(sentence[:1].upper() + sentence[1:])
            run.state = "refused"

    def find(self, ticket: str) -> Run | None:
        """Return the run of a ticket."""
        return self._runs.get(ticket)

    def runs(self) -> list[Run]:
        """Return all runs that were started, the latest first."""
        with self._lock:
            started = [run for run in self._runs.values() if run.state != "planned"]
        return started[::-1]

    def times(self, plan: Plan) -> int:
        """Return how often such a plan was released."""
        return sum(run.release is not None and run.plan == plan for run in self.runs())
