"""The figures of Kalaja's thesis (2020), each a function of `Options`, and one table more.

Every figure compares methods, or ways to prepare the rows for them, on four UCI sets, by
mean squared errors in ten-fold cross-validation. The thesis's two figures of rivals (4.1
and 4.2) have Wang's own numbers beside them; the text of the others names no numbers.
Prolate's line is added to all: it gets rows as they are, and is private.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from prolate.papers.kalaja_data import FOLDS, folds, read_set, set_path, sets_of
from prolate.papers.kalaja_methods import DELTA, SOLVERS
from prolate.papers.kalaja_preprocessing import (
    Clip,
    Intercept,
    MaximumNorm,
    Preprocessing,
    RowNorms,
    RowNormsWithTarget,
    Rows,
    Standardize,
    TargetMaximum,
    When,
)
from prolate.papers.kalaja_published import WangResults
from prolate.papers.measure import Options, parallel
from prolate.papers.methods import OURS
from prolate.papers.table import Cell, Table

__all__ = [
    "COLUMNS", "Curve", "every_set", "figure_4_1", "figure_4_2", "figure_4_3", "figure_4_4",
    "figure_4_5", "figure_4_6", "figure_4_7", "figure_4_8",
]  # fmt: skip

COLUMNS = (
    "data", "n", "d", "epsilon", "curve", "private", "not_private", "repeats",
    "error", "median", "lowest", "highest", "published", "over_published",
)  # fmt: skip

_SETS = ("airfoil", "concrete", "elevators", "keggdirected")
_TO_2 = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
_TO_3 = (*_TO_2, 3.0)
_FEW = (0.1, 1.0, 3.0)
_RUNS, _QUICK_RUNS = 10, 1
_CLIPS = (1.3, 1.6, 2.0, 3.0)

_ERROR = (
    f"error: mean squared error of test rows over max |y|**2; delta = {DELTA:g}, "
    f"{FOLDS}-fold cross-validation, neighbors: add-remove."
)
_WHOSE = (
    f"{OURS} gets rows as they are. The rivals get rows normalized with the data's own means, "
    "deviations and largest norms, so that what comes of them is not private."
)


@dataclass(frozen=True)
class Curve:
    """A method and what is done to its rows.

    Attributes
    ----------
    label : str
    method : str
        A key of `SOLVERS`.
    rows : Preprocessing
    published : str
        What Wang's results call it; empty if they do not have it.
    """

    label: str
    method: str
    rows: Preprocessing
    published: str = ""


_ROW = Preprocessing((Standardize(), RowNorms(), TargetMaximum()), "before")
_ROW_Y = Preprocessing((Standardize(), TargetMaximum(), RowNormsWithTarget()), "before")
_SSP_FIXED, _FIXED = "SSP fixed", "AdaSSP fixed"
_TRIVIAL = Curve("trivial", "trivial", Preprocessing())
_AS_WANG = Curve("trivial", "trivial", Preprocessing(), "trivial")
_RIDGE = Curve("ridge", "ridge", _ROW, "ridge")
_SSP = Curve("SSP", "SSP", _ROW, "SSP")
_ADASSP = Curve("AdaSSP", "AdaSSP", _ROW, "AdaSSP")
_OURS = Curve(OURS, OURS, Preprocessing())


def _largest(
    when: When = "after", *, clip: float | None = None, on_test: bool = False, ones: bool = False
) -> Preprocessing:
    """Return the maximum norm's steps (3.5), after a clip and before an intercept."""
    first = () if clip is None else (Clip(c=clip, on_test=on_test),)
    last = (Intercept(),) if ones else ()
    return Preprocessing((*first, Standardize(), MaximumNorm(), TargetMaximum(), *last), when)


def figure_4_1(options: Options) -> Table:
    """Measure Kalaja's Figure 4.1: how unstable SSP is."""
    curves = (_AS_WANG, _RIDGE, _SSP, Curve(_SSP_FIXED, _SSP_FIXED, _ROW), _OURS)
    return _figure("4.1", "how unstable SSP is", curves, options, _TO_2)


def figure_4_2(options: Options) -> Table:
    """Measure Kalaja's Figure 4.2: AdaSSP with its noise as written and fixed."""
    curves = (_AS_WANG, _RIDGE, _ADASSP, Curve(_FIXED, _FIXED, _ROW), _OURS)
    return _figure("4.2", "AdaSSP with its noise as written and fixed", curves, options)


def figure_4_3(options: Options) -> Table:
    """Measure Kalaja's Figure 4.3: row norms or the maximum norm."""
    ways = {"row": _ROW, "max": _largest("before")}
    return _figure("4.3", "row norms or the maximum norm", _pairs(ways), options)


def figure_4_4(options: Options) -> Table:
    """Measure Kalaja's Figure 4.4: row norms without and with y."""
    ways = {"row": _ROW, "row, y too": _ROW_Y}
    return _figure("4.4", "row norms without and with y", _pairs(ways), options)


def figure_4_5(options: Options) -> Table:
    """Measure Kalaja's Figure 4.5: normalized before or after the split."""
    ways = {"before": _largest("before"), "after": _largest()}
    return _figure("4.5", "normalized before or after the split", _pairs(ways), options)


def figure_4_6(options: Options) -> Table:
    """Measure Kalaja's Figure 4.6: without and with an intercept."""
    ways = {"none": _largest(), "intercept": _largest(ones=True)}
    return _figure("4.6", "without and with an intercept", _pairs(ways), options)


def figure_4_7(options: Options) -> Table:
    """Measure Kalaja's Figure 4.7: training rows clipped."""
    return _figure("4.7", "training rows clipped", _clipped(on_test=False), options)


def figure_4_8(options: Options) -> Table:
    """Measure Kalaja's Figure 4.8: training and test rows clipped."""
    return _figure("4.8", "training and test rows clipped", _clipped(on_test=True), options)


def every_set(options: Options) -> Table:
    """Measure Kalaja's methods and ours on every UCI set there is."""
    curves = (
        _AS_WANG,
        _RIDGE,
        _SSP,
        _ADASSP,
        Curve(_FIXED, _FIXED, _ROW),
        Curve(f"{_FIXED}, max", _FIXED, _largest(ones=True)),
        _OURS,
    )
    files = sets_of(options.data)
    return _measure("kalaja-all", "Kalaja's methods on every UCI set", files, curves, options, _FEW)


def _pairs(ways: dict[str, Preprocessing]) -> tuple[Curve, ...]:
    """Return the curves of a figure that compares two ways to prepare rows."""
    pairs = [
        Curve(f"{method}, {way}", method, rows)
        for method in ("ridge", _FIXED)
        for way, rows in ways.items()
    ]
    return (_TRIVIAL, *pairs, _OURS)


def _clipped(*, on_test: bool) -> tuple[Curve, ...]:
    at = [Curve(f"c = {c:g}", _FIXED, _largest(clip=c, on_test=on_test)) for c in _CLIPS]
    ridge = Curve("ridge, not clipped", "ridge", _largest())
    return (_TRIVIAL, ridge, Curve(f"{_FIXED}, not clipped", _FIXED, _largest()), *at, _OURS)


def _figure(
    number: str,
    title: str,
    curves: Sequence[Curve],
    options: Options,
    epsilons: tuple[float, ...] = _TO_3,
) -> Table:
    files = {name: set_path(options.data, name) for name in _SETS}
    title = f"Kalaja, Figure {number}: {title}"
    return _measure(f"kalaja-{number}", title, files, curves, options, epsilons)


# --- measuring ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """One curve on one set, in one cross-validation."""

    path: str
    curve: Curve
    repeat: int
    epsilons: tuple[float, ...]


def one_run(task: Task) -> tuple[list[float], tuple[str, ...]]:
    """Return the error at each epsilon, and what in the fits was not private."""
    data, solver = read_set(task.path), SOLVERS[task.curve.method]
    y, unit = (data.target, data.unit) if solver.as_is else (data.y, 1.0)
    rows = Rows.of(data.x, y)
    errors = np.empty((FOLDS, len(task.epsilons)))
    not_private: tuple[str, ...] = ()
    for number, (train, test) in enumerate(folds(y.size, task.repeat)):
        prepared = task.curve.rows.prepare(rows, train, test)
        for place, epsilon in enumerate(task.epsilons):
            if place > 0 and not solver.noisy:
                errors[number, place] = errors[number, 0]
                continue
            fit = prepared.fit(solver.at(epsilon), private=solver.private)
            errors[number, place] = fit.error(y[test]) / unit**2
            not_private = fit.not_private
    return errors.mean(axis=0).tolist(), not_private


def _measure(
    name: str,
    title: str,
    files: dict[str, Path],
    curves: Sequence[Curve],
    options: Options,
    epsilons: tuple[float, ...],
) -> Table:
    quick = options.quick
    at = tuple(e for e in _FEW[:2] if e < epsilons[-1]) + epsilons[-1:] if quick else epsilons
    runs = options.runs or (_QUICK_RUNS if quick else _RUNS)
    tasks = [
        Task(str(path), curve, repeat, at)
        for path in files.values()
        for curve in curves
        for repeat in range(runs)
    ]
    sizes = {str(path): read_set(str(path)).x.shape for path in files.values()}

    def cost(task: Task) -> float:
        n, d = sizes[task.path]
        return float(n * d) * (1.0 + SOLVERS[task.curve.method].cost * len(at))

    tasks.sort(key=lambda task: (task.path, -cost(task)))  # a process keeps the last set read
    found = dict(parallel(one_run, tasks, [cost(task) for task in tasks], name, options))
    published = WangResults(options.anchors)
    rows: list[tuple[Cell, ...]] = []
    for data, path in files.items():
        place = (data, *sizes[str(path)])
        for curve in curves:
            of_curve = [task for task in tasks if (task.path, task.curve) == (str(path), curve)]
            rows += _rows(place, [(task, found[task]) for task in of_curve], published)
    notes = [_ERROR, _WHOSE]
    if quick:
        notes.append(f"--quick: epsilon = {', '.join(f'{e:g}' for e in at)} only.")
    return Table(name, title, COLUMNS, tuple(rows), (*notes, *published.notes))


def _rows(
    place: tuple[str, int, int],
    results: Sequence[tuple[Task, tuple[list[float], tuple[str, ...]]]],
    published: WangResults,
) -> Iterator[tuple[Cell, ...]]:
    task, (_, not_private) = results[0]
    curve = task.curve
    for number, epsilon in enumerate(task.epsilons):
        errors = np.array([found[number] for _, (found, _) in results])
        mean = float(errors.mean())
        theirs = published.error(place[0], curve.published, epsilon) if curve.published else None
        yield (
            *place,
            epsilon,
            curve.label,
            "no" if not_private else "yes",
            ", ".join(not_private),
            errors.size,
            mean,
            float(np.median(errors)),
            float(errors.min()),
            float(errors.max()),
            theirs,
            mean / theirs if theirs else None,
        )
