"""What a careless or hostile caller does to a budget, to noise and to errors.

Copies, forks and threads of what holds a budget or random bits; arrays and tables that are not
what they say they are, or change while they are read; labels whose own methods raise; public
numbers at the edge of floating point, which must not be paid for and then refused.
"""

from __future__ import annotations

import copy
import gc
import itertools
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from audit.recorder import record
from scipy import special

import prolate
from prolate import Budget, BudgetError, Ledger, LedgerError
from prolate.curator import Curator
from prolate.queries import Count
from prolate.sources import open_source
from prolate.sources.threads import ignoring

B = Budget(mu=1)
ROWS = np.random.default_rng(0).normal(size=(300, 3))
COUNT = Count(3)


def door(**given: Any) -> Curator:
    return Curator(open_source(ROWS), B, neighbors="add-remove", **given)


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_curator_spends_of_the_same_budget(make) -> None:
    charged: list[int] = []
    curator = door(charge=lambda: charged.append(1))
    again = make(curator)
    again.measure(COUNT, share=0.6, label="a")
    with pytest.raises(BudgetError, match=r"only 0\.4 is left"):
        curator.measure(COUNT, share=0.6, label="b")
    curator.measure(COUNT, share=0.4, label="b")
    assert charged == [1]
    assert [entry.label for entry in curator.receipt] == ["a", "b"]


def test_a_curator_cannot_be_pickled() -> None:
    with pytest.raises(BudgetError, match="pickled"):
        pickle.dumps(door())


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_fork_does_not_spend_the_budget_once_more() -> None:
    fork = multiprocessing.get_context("fork")
    curator, queue = door(), fork.Queue()

    def measure() -> None:
        try:
            curator.measure(COUNT, share=0.6, label="a")
        except BudgetError as error:
            queue.put(str(error))
        else:
            queue.put("measured")

    child = fork.Process(target=measure)
    child.start()
    found = queue.get(timeout=60)
    child.join()
    assert "forked process" in found
    curator.measure(COUNT, share=0.6, label="a")


def _released(fork_at: str, release: Callable[..., object]) -> list[str]:
    """Return what a release says in the process that asked, and in one forked by its progress."""
    receive, send = os.pipe()
    own, forked = os.getpid(), False

    def progress(label: str, done: int, _total: object) -> None:
        nonlocal forked
        if not forked and label.startswith(fork_at) and done > 0:
            forked = True
            os.fork()

    try:
        release(progress=progress)
        said = "released"
    except BudgetError as error:
        said = str(error)
    except BaseException as error:  # noqa: BLE001 - nobody may go on in the other process
        said = repr(error)
    if os.getpid() != own:
        os.write(send, said.encode())
        os._exit(0)
    os.close(send)
    os.wait()
    with os.fdopen(receive) as other:
        return [said, other.read()]


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
@pytest.mark.parametrize(
    ("fork_at", "release"),
    [
        ("sum", partial(prolate.sum, bounds=(-5, 5))),
        ("mean", partial(prolate.mean, neighbors="add-remove")),
        ("", partial(prolate.mean, columns=["x0"], by="x1", keys=[0, 1])),
        ("groups", partial(prolate.count, columns=["x0"], by="x1", keys=[0, 1])),
        ("", partial(prolate.mean, method="plan-exponential")),
    ],
)
def test_a_fork_by_progress_does_not_release_once_more(
    fork_at: str, release: Callable[..., object], tmp_path: Path
) -> None:
    """Both copies had paid; each drew its own noise."""
    rows = np.random.default_rng(0).normal(size=(3000, 2)).round()
    book = prolate.Ledger.create(tmp_path / "l.ledger", limit=Budget(rho=2))
    released = partial(release, rows, budget=Budget(rho=1), ledger=book)
    found = _released(fork_at, released)
    assert found[0] == "released"
    assert "forked process" in found[1]
    assert len(book.entries()) == 1


def test_threads_that_share_a_curator_never_overspend() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(5):
            charged: list[int] = []
            done: list[int] = []

            def charge(charged: list[int] = charged) -> None:
                time.sleep(0.001)  # so that others come meanwhile
                charged.append(1)

            curator = door(charge=charge)

            def measure(curator: Curator = curator, done: list[int] = done) -> None:
                try:
                    curator.measure(COUNT, share=0.3, label="a")
                    done.append(1)
                except BudgetError:
                    pass

            threads = [threading.Thread(target=measure) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert (len(charged), len(done), len(curator.receipt)) == (1, 3, 3)
    finally:
        sys.setswitchinterval(interval)


def test_a_refused_charge_is_asked_for_again_and_nothing_is_measured() -> None:
    asked: list[int] = []

    def refuse() -> None:
        asked.append(1)
        raise LedgerError("No.")

    curator = door(charge=refuse)
    for _ in range(2):
        with pytest.raises(LedgerError):
            curator.measure(COUNT, share=0.1, label="a")
    assert asked == [1, 1]
    assert curator.receipt == ()


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
@pytest.mark.parametrize("width", [3, 5000])
def test_forks_have_noise_of_their_own(width) -> None:
    """Wide rows draw it from ChaCha20, with a key from the system each time."""
    rows = np.zeros((10, width))
    prolate.sum(rows, bounds=(-5, 5), budget=B)
    fork = multiprocessing.get_context("fork")
    queue = fork.Queue()

    def release() -> None:
        queue.put(prolate.sum(rows, bounds=(-5, 5), budget=B).estimate.tobytes())

    children = [fork.Process(target=release) for _ in range(3)]
    for child in children:
        child.start()
    found = {queue.get(timeout=60) for _ in children}
    for child in children:
        child.join()
    assert len(found) == 3


class Twice(np.ndarray):
    """Says that it is longer than it is, and hands out its rows twice."""

    @property
    def shape(self) -> Any:
        return (10**6, 3)

    def __getitem__(self, index: Any) -> Any:
        return np.vstack([np.asarray(self)[index]] * 2)


def test_arrays_are_what_is_in_memory() -> None:
    release = prolate.sum(ROWS.view(Twice), bounds=(-5, 5), budget=Budget(mu=1e4), seed=1)
    assert release.n == 300
    assert release.estimate == pytest.approx(ROWS.sum(axis=0), abs=0.1)


class MaskedTwice(np.ma.MaskedArray):
    """Hands out its rows twice."""

    def __getitem__(self, index: Any) -> Any:
        return np.ma.vstack([np.ma.asarray(self)[index]] * 2)


@pytest.mark.parametrize("rows", [ROWS.view(MaskedTwice), np.ma.array(ROWS.view(Twice))])
def test_masked_arrays_are_what_is_in_memory(rows) -> None:
    release = prolate.sum(rows, bounds=(-5, 5), budget=Budget(mu=1e4), seed=1)
    assert release.n == 300
    assert release.estimate == pytest.approx(ROWS.sum(axis=0), abs=0.1)


def test_memory_that_changes_while_it_is_read(tmp_path) -> None:
    """There is a release all the same, and its errors are no row's doing."""
    np.save(tmp_path / "rows.npy", ROWS)
    rows = np.load(tmp_path / "rows.npy", mmap_mode="r+")
    stop = threading.Event()

    def write() -> None:
        for place in itertools.cycle(range(300)):
            rows[place] = np.nan if place % 2 else 1e300
            if stop.is_set():
                return

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(3):
            assert np.isfinite(prolate.mean(rows, budget=B).estimate).all()
    finally:
        stop.set()
        writer.join()


WILD = {
    "tiny": [[5e-324, 1e-320], [1e-310, -1e-300], [1e-200, 0.0]],
    "small": [[1e-170, 1e-170]] * 3,
    "plain": [[1.0, 2.0], [2.0, 1.0], [0.0, 3.0]],
    "mixed": [[np.nan, np.inf], [1e308, -1e308], [5e-324, 0.0]],
}
RELEASES: dict[str, Any] = {
    "mean": lambda x: prolate.mean(x, budget=B, neighbors="add-remove"),
    "sum": lambda x: prolate.sum(x, bounds=(-1e-300, 1e-300), budget=B),
    "quantile": lambda x: prolate.quantile(x, [0.1, 0.9], budget=B),
    "variance": lambda x: prolate.variance(x, budget=B),
    "covariance": lambda x: prolate.covariance(x, budget=B),
    "regression": lambda x: prolate.LinearRegression().fit(x[:, :1], x[:, 1]).release_,
}


@pytest.mark.parametrize("rows", list(WILD))
@pytest.mark.parametrize("name", list(RELEASES))
def test_numpy_that_raises_stops_no_release(name, rows) -> None:
    """Nor one whose budget is spent, because of what was measured."""
    with np.errstate(all="raise"):
        assert np.isfinite(RELEASES[name](np.array(WILD[rows] * 30)).estimate).all()


@pytest.mark.parametrize("name", ["variance", "covariance", "regression"])
def test_neither_do_special_functions_that_raise(name) -> None:
    rows = np.random.default_rng(0).normal(size=(500, 3))
    with special.errstate(all="raise"):
        assert np.isfinite(RELEASES[name](rows).estimate).all()
        assert special.geterr()["underflow"] == "raise"


class Shy:
    """A label whose methods raise."""

    def __str__(self) -> str:
        raise RuntimeError("row 17")

    __repr__ = __str__
    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("label", [Shy(), [1], {}, 10**400, "\ud800", b"\xff", object(), pd.NaT])
@pytest.mark.parametrize("given", [{"unit": "g"}, {"by": "g", "keys": ["a"]}, {"by": "g"}], ids=str)
def test_no_label_decides_an_error(given, label) -> None:
    labels = np.array(["a", "b"] * 20, dtype=object)
    labels[3] = label
    frame = pd.DataFrame({"g": pd.Series(labels, dtype=object), "v": np.arange(40.0)})
    budget = Budget(epsilon=5, delta=1e-6)
    prolate.sum(frame, columns="v", bounds=(0, 40), budget=budget, **given)


@pytest.mark.parametrize("place", [2, 100, -1, -100])
def test_no_index_of_a_dictionary_decides_an_error(place) -> None:
    """Arrow does not check them; rows with such an index have no value, or no label."""
    indices = pa.array([0, 1, place, 1] * 5, pa.int8())
    words = pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b"]), safe=False)
    numbers = pa.DictionaryArray.from_arrays(indices, pa.array([1.0, 2.0]), safe=False)
    table = pa.table({"g": words, "v": numbers})
    budget = Budget(mu=1e4)
    known = prolate.sum(table, columns="v", bounds=(0, 5), budget=budget, seed=1)
    assert known.estimate == pytest.approx([25.0], abs=0.1)
    groups = prolate.count(table, by="g", keys=["a", "b"], budget=budget, seed=1)
    assert [groups[key].estimate[0] for key in "ab"] == pytest.approx([5.0, 10.0], abs=0.1)


class Stop(BaseException):
    pass


# Where a signal falls into the opening of a file, that file is closed by its finalizer; where it
# falls into a finalizer, Python reports it and goes on.  Neither is what is tested here.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_between_charge_and_release_hides_no_charge(tmp_path) -> None:
    book = tmp_path / "book"
    Ledger.create(book, limit=Budget(mu=100))

    def stop(*_: object) -> None:
        raise Stop

    def release() -> None:
        prolate.sum(ROWS, bounds=(-5, 5), budget=B, ledger=book)

    release()  # what is imported late is imported now: a module cut off in its import stays broken
    before = signal.signal(signal.SIGALRM, stop)
    released = 1
    try:
        for step in range(30):
            try:
                signal.setitimer(signal.ITIMER_REAL, 5e-4 + 1e-3 * step)
                release()
                released += 1
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Stop:
                pass
            assert released <= len(Ledger(book).entries()) <= step + 2
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.collect()


# Public numbers at the edge: what was charged is released, and no row moves it by more.

EDGES = [
    ([1e3, 5.0], [1e3, 5.0]),
    ([0.0, 0.0], [5e-324, 1.0]),
    ([-5e-324, 0.0], [5e-324, 5e-324]),
    ([1e140, -1e140], [1e140, 1e140]),
    ([1.0 - 2.0**-53, 2.0**53], [1.0, 2.0**53 + 2.0]),
]


def audited(make: Any, book: Path, relation: str, patch: pytest.MonkeyPatch) -> None:
    """Record a release of two hard neighbors; raise unless it is there, and right."""
    rows = np.array([[1.0, 5.0], [1e300, -1e300], [np.nan, np.inf], [5e-324, 2.0**53], [0.0, 0.0]])
    other = np.delete(rows, 1, axis=0) if relation == "add-remove" else rows.copy()
    if relation == "replace":
        other[1] = -rows[1]

    def release(data: Any, progress: Any, **options: Any) -> Any:
        return make(data, ledger=book, **options)

    gone = 1 if relation == "add-remove" else None
    tape = record(release, rows, other, patch, gone=gone, budget=B, neighbors=relation)
    tape.check()
    assert np.isfinite(tape.release.estimate).all()


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("bounds", EDGES)
@pytest.mark.parametrize("method", ["auto", "gaussian"])
def test_bounds_at_the_edge(bounds, method, relation, tmp_path, monkeypatch) -> None:
    Ledger.create(tmp_path / "book", limit=Budget(mu=10))
    for function in (prolate.sum, prolate.mean):

        def make(data: Any, function: Any = function, **options: Any) -> Any:
            return function(data, bounds=bounds, method=method, **options)

        audited(make, tmp_path / "book", relation, monkeypatch)


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("center", [(0.0, 0.0), (1e13, 1.0), (1e17, 1e17), (1e300, 5e-324)])
@pytest.mark.parametrize("scale", [(1.0, 1.0), (1e-130, 1e130), (5e100, 3e-100)])
def test_ellipses_at_the_edge(center, scale, relation, tmp_path, monkeypatch) -> None:
    Ledger.create(tmp_path / "book", limit=Budget(mu=10))
    for function in (prolate.sum, prolate.mean):

        def make(data: Any, function: Any = function, **options: Any) -> Any:
            given = {"center": center, "scale": scale, "method": "gaussian-ellipse"}
            return function(data, **given, **options)

        audited(make, tmp_path / "book", relation, monkeypatch)


def test_scipy_that_another_thread_is_loading_stops_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half of its special functions are there then, and what sets their errors is not."""
    monkeypatch.setitem(sys.modules, "scipy.special", ModuleType("scipy.special"))
    with ignoring("over"):
        assert np.exp(1e4) == np.inf
