"""How a case is run and judged: it ends in time, in a whole release or in one plain sentence."""

from __future__ import annotations

import contextlib
import io
import json
import re
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, settings

from prolate import GroupedRelease, ProlateError, Release
from prolate.cli import main

SCALE = 1
"""How many times the standard number of cases; `conftest` raises it for the long run."""

SECONDS = 60.0  # many times what a case takes on a busy machine


class Hang(BaseException):
    """A case took too long."""


def cases(count: int) -> Any:
    """Return the settings of a test with so many cases, many more in the long run.

    The standard run is the same every time.
    """
    return settings(
        max_examples=count * SCALE,
        derandomize=SCALE == 1,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


@contextlib.contextmanager
def limit(seconds: float = SECONDS) -> Iterator[None]:
    """Raise `Hang` if what stands inside does not end in time."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(*_: object) -> None:
        raise Hang(f"not done after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def outcome(make: Callable[[], Release | GroupedRelease]) -> Release | GroupedRelease | str:
    """Return a release that is whole, or the sentence that stands in its place.

    Any other exception, and with the settings of these tests any warning, is a fault.
    """
    with limit():
        try:
            found = make()
        except ProlateError as error:
            return check_sentence(str(error))
    for release in found.groups.values() if isinstance(found, GroupedRelease) else [found]:
        check_release(release)
    return found


def check_sentence(text: str) -> str:
    """Return a message that is one printable line of a length that people read."""
    assert text, "an empty message"
    assert text.isprintable(), text
    assert len(text) < 2500, text
    assert text.endswith((".", "?", ")")), text
    return text


def check_release(release: Release) -> None:
    """Raise if a release cannot be shown, or stored and read again."""
    assert np.isfinite(release.estimate).all()
    assert Release.from_json(release.to_json()) == release
    assert len(repr(release)) > 50
    if release.has_intervals:
        ends = release.interval(0.9)
        assert (ends[..., 0] <= ends[..., 1]).all()


def check_learned(step: Any) -> None:
    """Raise if what a step of a pipeline has learned is not finite, or not its release."""
    check_release(step.release_)
    learned = {name: value for name, value in vars(step).items() if name.endswith("_")}
    for name in ("mean_", "var_", "scale_", "coef_", "intercept_"):
        assert np.isfinite(learned.get(name, 0.0)).all(), name
    assert np.all(learned.get("scale_", 1.0) > 0.0)
    assert step.n_features_in_ >= 1


def holds(text: str, secret: str) -> bool:
    """Return whether a text holds a word, or a number that stands by itself.

    Six digits are somewhere among those of noise in about every twentieth run, by reckoning.
    """
    if not secret.isdigit():
        return secret in text
    return re.search(rf"(?<![\d.]){secret}(?!\d)", text.replace(",", "")) is not None


def check_reply(status: int, headers: dict[str, str], text: str, *secrets: str) -> None:
    """Raise if an answer of the page is an accident, is unsealed, or holds a secret."""
    assert status in (200, 303, 307, 400, 403, 404, 405), (status, text[:200])
    assert "Traceback" not in text
    assert "internal error" not in text, text
    assert headers.get("cache-control") == "no-store", headers
    assert "default-src 'none'" in headers.get("content-security-policy", ""), headers
    for secret in secrets:
        assert not holds(text, secret), text[:2000]
    if headers.get("content-type", "").startswith("application/json") and "{" in text:
        said = json.loads(text)
        if isinstance(said, dict) and isinstance(said.get("error"), str):
            check_sentence(said["error"])


def command(*arguments: object) -> tuple[int, str, str]:
    """Run a command in this process, and return its code and what it printed, once judged."""
    out, err = io.StringIO(), io.StringIO()
    with limit(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    said = err.getvalue()
    assert code in (0, 2), (code, said, arguments)
    assert "Traceback" not in said + out.getvalue()
    if code == 2:
        lines = [line for line in said.splitlines() if "NOT PRIVATE" not in line]
        assert lines, arguments
        assert lines[0].startswith("prolate: "), said
        assert lines[0].isprintable(), said
        assert all(line.startswith("Try 'prolate") for line in lines[1:]), said
    return code, out.getvalue(), said
