"""When compiled loops are loaded: after plain NumPy has done as much work as loading costs.

Loading numba and the loops takes most of a second in every process, and compiling them twenty,
once on a machine. Both kinds of loops give the same integers. So small work does without; and
what is not compiled yet is, by a process of its own, while NumPy's loops go on. Where there
cannot be such a process, they go on until they have worked about as long as compiling takes.
And sums over a file that must be decoded do without: a sixth more time, and 120 MB less.
"""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

__all__ = ["WORK", "NotCompiled", "Work", "forgiving"]

_SEARCHES = 40  # sums' time that NumPy takes longer to search a sample, about ten times
_AGAIN = 0.5  # seconds after which it is looked again whether a loop is compiled
_COMMAND = "from prolate.queries.ahead import compile_loops; compile_loops(aside=True)"


class NotCompiled(Exception):  # noqa: N818 - nothing is wrong
    """A loop is not compiled, and others do that, or NumPy's loop is quicker so far."""


class _Elsewhere:
    """The process that compiles, one for each process that asks, and one at a time.

    There is none in processes that share the cores with others like them, and none if the
    environment variable PROLATE_COMPILE is 0. It may outlive the process that has started it.
    """

    def __init__(self) -> None:
        self._asked = False
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, the first time."""
        if self._asked:
            return
        self._asked = True
        with contextlib.suppress(Exception):  # the release is paid for, and does without
            if not self._may_start():
                return
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
                [sys.executable, "-P", "-c", _COMMAND],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                process_group=0,  # whoever interrupts us does not interrupt it
            )
            atexit.register(self._leave)

    def see(self) -> None:
        """See whether it has ended: the system keeps what nobody has looked at."""
        process = self._process  # which another thread may take away
        if process is not None and process.poll() is not None:
            self._process = None

    def _leave(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.returncode = 0  # or Python would warn that it is still running

    @staticmethod
    def _may_start() -> bool:
        shared = multiprocessing.parent_process() is not None or "pyspark.worker" in sys.modules
        python = Path(sys.executable or "").name.startswith("python")
        wanted = os.environ.get("PROLATE_COMPILE", "") != "0"
        return wanted and python and not shared and find_spec("numba") is not None


@dataclass
class Work:
    """What the loops have done in this process, in values of the simplest sum.

    Of these NumPy adds up one in a nanosecond more than compiled loops. Whatever takes longer
    counts for more.

    Attributes
    ----------
    done : int
        What loops have gone over or drawn, less what was decoded from files.
    enough : int
        So much that loading is worth it: .3 seconds'.
    by_numpy : int
        What NumPy's loops have read or drawn for want of compiled ones.
    plenty : int
        So much of this that compiling is worth it: some twenty seconds'.
    """

    done: int = 0
    enough: int = 1 << 28
    by_numpy: int = 0
    plenty: int = 1 << 34
    _elsewhere: _Elsewhere = field(default_factory=_Elsewhere, repr=False)
    _stored: set[Path] = field(default_factory=set, repr=False)
    _look: float = field(default=0.0, repr=False)  # when to look again

    def is_enough(self, values: int, folder: Path | None = None) -> bool:
        """Add `values` to what was done; return whether compiled loops are worth loading.

        They are not if none of those of a folder are stored: loading numba takes its time.
        """
        self._elsewhere.see()
        self.done += values
        if self.done <= self.enough:
            return False
        if folder is None or self._are_stored(folder):
            return True
        with self.or_numpy(values):
            self.check_worth_compiling()
            return True
        return False

    def foresee(self, sample: int, rest: int = 0) -> None:
        """Take note that a sample of so many values is searched next, and then others added up.

        If that alone is enough, nothing is gained by starting with NumPy's loops.
        """
        if _SEARCHES * sample + rest > self.enough:
            self.done = max(self.done, self.enough)

    def wait(self, values: int) -> None:
        """Take note that `values` values were decoded, which takes five times what a sum does.

        So sums can do without the compiler, and the memory that it takes, a third of a
        process's; what takes longer than sums adds up nonetheless.
        """
        if self.done <= self.enough:
            self.done = max(0, self.done - values)

    def _are_stored(self, folder: Path) -> bool:
        if folder not in self._stored and monotonic() >= self._look:
            if _may_be_stored(folder):
                self._stored.add(folder)
            else:
                self._look = monotonic() + _AGAIN
        return folder in self._stored

    @contextmanager
    def or_numpy(self, values: int) -> Iterator[None]:
        """Leave the block where a loop is not compiled: NumPy's is to go over `values` values."""
        try:
            yield
        except NotCompiled:
            self.by_numpy += values

    def check_worth_compiling(self) -> None:
        """Raise NotCompiled if others compile, or NumPy is quicker so far."""
        if self.by_numpy <= self.plenty:
            self._elsewhere.start()
            raise NotCompiled


WORK = Work()


def forgiving(module: Any, *, at_once: bool = False) -> Any | None:
    """Return a module of compiled loops, which are compiled anew where what is stored is damaged.

    None where numba is told to compile nothing (NUMBA_DISABLE_JIT): the loops would be Python's,
    hundreds of times slower than NumPy's.

    numba stores them beside their source, or in a folder of the user. A power cut, a full disk
    or another version may leave what it cannot read, and it would fail when a loop is first
    called: after the charge, and in every run. What other sources have left is not read either:
    numba looks at the date of a loop's own file, and loops of other files are part of it.

    A loop that is not stored raises NotCompiled as long as `WORK` says so, unless `at_once`. Of
    loops that modules share, being parts of theirs, one module that is at once is enough: loops of
    the others are asked themselves before their parts are.
    """
    if not any(hasattr(loop, "py_func") for loop in vars(module).values()):
        return None
    sources = _sources(Path(module.__file__).parent)
    for loop in vars(module).values():
        stored: Any = getattr(loop, "_cache", None)
        if not hasattr(stored, "load_overload"):
            continue
        if "load_overload" not in vars(stored):
            if sources:
                _mark(stored, sources)
            stored.load_overload = _Loader(_or_none(stored.load_overload, stored.flush))
            stored.save_overload = _or_none(stored.save_overload)
        if at_once:
            stored.load_overload.at_once = True
    return module


@cache
def _sources(folder: Path) -> str | None:
    """Return a digest of all sources of loops in a folder; None where there are none to read."""
    try:
        texts = [file.read_bytes() for file in sorted(folder.glob("_compiled*.py"))]
    except OSError:
        return None
    return sha256(b"\0".join(texts)).hexdigest() if texts else None


def _mark(stored: Any, sources: str) -> None:
    """Have a loop's code known by its sources, and not by its file's date.

    In the names of files as well: numba writes its index first, and then the code, so that
    whoever is cut off in between would leave an index of today with the code of yesterday.
    """
    with contextlib.suppress(AttributeError):  # another numba: it has its own way
        file = stored._cache_file
        file._data_name_pattern = f"{sources[:16]}.{file._data_name_pattern}"
        file._source_stamp = sources


def _may_be_stored(folder: Path) -> bool:
    """Return False if no compiled loop of the modules in a folder is where numba would store it."""
    given = os.environ.get("NUMBA_CACHE_DIR", "")
    if given:
        return any(Path(given).glob(f"{folder.name}_*/*.nbi"))
    beside = folder / "__pycache__"
    return any(beside.glob("*.nbi")) or not os.access(beside, os.W_OK)


def _or_none(
    function: Callable[..., Any], otherwise: Callable[[], object] = lambda: None
) -> Callable[..., Any]:
    def calm(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception:  # noqa: BLE001 - a pickle may raise anything
            with contextlib.suppress(Exception):
                otherwise()
            return None

    return calm


class _Loader:
    """Loads what is stored of a loop; unless `at_once`, others may have to compile what is not."""

    def __init__(self, load: Callable[..., Any]) -> None:
        self.at_once = False
        self._load = load
        self._missed: dict[Any, float] = {}  # when, by types of arguments

    def __call__(self, types: Any, target: Any) -> Any:
        if not self.at_once and monotonic() < self._missed.get(types, 0.0) + _AGAIN:
            WORK.check_worth_compiling()
        found = self._load(types, target)
        if found is None and not self.at_once:
            self._missed[types] = monotonic()
            WORK.check_worth_compiling()
        return found
