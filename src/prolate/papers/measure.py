"""Run the estimators of a figure, on at most two processes, and sum up their errors."""

from __future__ import annotations

import multiprocessing
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from prolate.arrays import Floats
from prolate.errors import InputError
from prolate.papers.methods import METHODS
from prolate.papers.published import Published
from prolate.papers.settings import Setting, draw
from prolate.papers.table import Cell, Table

__all__ = ["COLUMNS", "Options", "Panel", "Progress", "measure", "parallel"]

Progress = Callable[[str, float, float], None]

COLUMNS = (
    "panel", "data", "n", "d", "alpha", "rho", "method", "runs", "error", "lowest", "highest",
    "noise_error", "over_plan", "published", "over_published",
    "published_noise", "over_published_noise",
)  # fmt: skip
MOST_JOBS = 2

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Options:
    """How a figure is measured.

    Attributes
    ----------
    runs : int, optional
        Runs of each setting; by default 10, fewer where `quick`. The paper has 50.
    quick : bool
        Fewer points and runs: under a minute on two cores.
    jobs : int
        Processes, 1 or 2.
    anchors, data : path, optional
        Folders of the published numbers and of baskets.
    kosarak, pos : path, optional
        The real data sets.
    progress : callable, optional
        Called with (label, work done, work in all).
    """

    runs: int | None = None
    quick: bool = False
    jobs: int = 1
    anchors: Path | None = None
    data: Path | None = None
    kosarak: Path | None = None
    pos: Path | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.runs is not None and self.runs < 1:
            raise InputError(f"runs must be at least 1; got {self.runs}.")
        if self.jobs not in range(1, MOST_JOBS + 1):
            raise InputError(f"jobs must be 1 or 2; got {self.jobs}.")


@dataclass(frozen=True)
class Panel:
    """One plot of a figure: its settings, its curves, and what an error is.

    Attributes
    ----------
    name, title : str
    settings : tuple of Setting
    methods : tuple of str
        Names in `METHODS`.
    against : {"true", "sample"}
        The mean that errors are distances to.
    runs, quick_runs : int
        Where `Options.runs` says nothing.
    few : dict
        The most runs of some methods.
    notes : tuple of str
    """

    name: str
    title: str
    settings: tuple[Setting, ...]
    methods: tuple[str, ...]
    against: Literal["true", "sample"]
    runs: int = 10
    quick_runs: int = 3
    few: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def runs_of(self, method: str, options: Options) -> int:
        """Return how often a method is run at each setting."""
        runs = options.runs or (self.quick_runs if options.quick else self.runs)
        most = self.few.get(method, runs)
        if method == "IOME" and options.quick and options.runs is None:
            most = 1  # it takes as long as all the others together
        return min(runs, most)


@dataclass(frozen=True)
class Task:
    """One estimate."""

    setting: Setting
    method: str
    run: int

    @property
    def cost(self) -> float:
        """About how long it takes, in no unit."""
        return METHODS[self.method].cost(self.setting)


Errors = tuple[float, float]  # to the true mean (nan without one), and to the sample's own


def one_run(task: Task) -> Errors:
    """Return the errors of one estimate."""
    sample = draw(task.setting, task.run)
    estimate = METHODS[task.method].estimate(task.setting, sample, task.run)

    def error(truth: Floats) -> float:
        if task.setting.norm == 1:
            return 0.5 * float(np.sum(np.abs(estimate - truth)))
        return float(np.linalg.norm(estimate - truth))

    true = sample.true_mean
    return (float("nan") if true is None else error(true)), error(sample.mean)


def measure(name: str, title: str, panels: Sequence[Panel], options: Options) -> Table:
    """Return the table of a figure that is made of panels."""
    published = Published(options.anchors)
    tasks = [
        Task(setting, method, run)
        for panel in panels
        for setting in panel.settings
        for method in panel.methods
        for run in range(panel.runs_of(method, options))
    ]
    # The long ones first, so that no process is left with one at the end.
    tasks = sorted(dict.fromkeys(tasks), key=lambda task: -task.cost)
    found = dict(parallel(one_run, tasks, [task.cost for task in tasks], name, options))
    rows = [row for panel in panels for row in _rows(panel, found, published, options)]
    notes = [note for panel in panels for note in panel.notes]
    return Table(
        name, title, COLUMNS, tuple(rows), tuple(dict.fromkeys([*notes, *published.notes]))
    )


def _rows(
    panel: Panel, found: dict[Task, Errors], published: Published, options: Options
) -> Iterator[tuple[Cell, ...]]:
    for setting in panel.settings:
        errors = {
            method: np.array(
                [found[Task(setting, method, run)] for run in range(panel.runs_of(method, options))]
            )
            for method in panel.methods
        }
        of_plan = float(np.mean(errors["PLAN"][:, 1])) if "PLAN" in errors else None
        for method in panel.methods:
            error = errors[method][:, 0 if panel.against == "true" else 1]
            mean, noise = float(np.mean(error)), float(np.mean(errors[method][:, 1]))
            algorithm = METHODS[method].published
            sampled = published.noise(setting, algorithm)
            theirs = sampled if panel.against == "sample" else published.error(setting, algorithm)
            yield (
                panel.name,
                setting.data,
                setting.n,
                setting.d,
                setting.alpha,
                setting.rho,
                method,
                error.size,
                mean,
                float(error.min()),
                float(error.max()),
                noise,
                noise / of_plan if of_plan else None,
                theirs,
                mean / theirs if theirs else None,
                sampled,
                noise / sampled if sampled else None,
            )


def parallel(
    function: Callable[[T], R],
    tasks: Sequence[T],
    costs: Iterable[float],
    label: str,
    options: Options,
) -> Iterator[tuple[T, R]]:
    """Yield (task, result) as they come, and report progress."""
    cost = dict(zip(tasks, costs, strict=True))
    total, done = sum(cost.values()), 0.0
    report = options.progress or (lambda *_: None)
    report(label, 0.0, total)
    pairs = (
        _two_processes(function, tasks)
        if options.jobs > 1 and len(tasks) > 1
        else ((task, function(task)) for task in tasks)
    )
    for task, result in pairs:
        done += cost[task]
        report(label, done, total)
        yield task, result


def _two_processes(function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[tuple[T, R]]:
    before = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")  # a fork may copy a lock that is held
    pool = ProcessPoolExecutor(MOST_JOBS, mp_context=context, initializer=_quiet)
    try:
        waiting = {pool.submit(function, task): task for task in tasks}
        for future in as_completed(waiting):
            yield waiting.pop(future), future.result()
        pool.shutdown()
    except BaseException:  # Ctrl-C most of all: what runs now may take minutes
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise


def _quiet() -> None:
    """Die of Ctrl-C without a word, and keep warnings out of the output."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    warnings.simplefilter("ignore")
