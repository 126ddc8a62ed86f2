"""The figures of PLAN (Aumüller, Lebeda, Nelson, Pagh 2024), each a function of `Options`.

Every function measures its figure anew and returns a `Table`. Settings are those of the
paper's Table 1 and its appendices; `quick` takes fewer points and runs, and says which.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from prolate.errors import InputError
from prolate.papers.baskets import read_baskets
from prolate.papers.measure import Options, Panel, measure
from prolate.papers.methods import OURS, SAMPLE_MEAN
from prolate.papers.settings import Data, Setting
from prolate.papers.table import Table

__all__ = [
    "figure_3a", "figure_3b", "figure_3c", "figure_4a", "figure_4b", "figure_4c", "figure_5a",
    "figure_5b", "figure_5c", "figure_7a", "figure_7b", "figure_8", "figure_9", "figure_10",
]  # fmt: skip

_DIMENSIONS = (16, 32, 64, 128, 256, 512, 1024)
_SKEWS = (0.0, 0.5, 1.0, 1.5, 2.0)
_PARTS = (0.0, 0.25, 0.5, 0.75, 1.0)
_RHOS = (1.0, 0.5, 0.125)
_ALL_RHOS = (1.0, 0.5, 0.25, 0.125, 0.0625)
_ENDS = (1.0, 0.125)

_RIVALS = (OURS, "PLAN", "IOME", SAMPLE_MEAN)
_ALSO_COINPRESS = (OURS, "PLAN", "IOME", "CoinPress", SAMPLE_MEAN)
_ALSO_NOSCALE = (OURS, "PLAN", "PLAN without scaling", "IOME", SAMPLE_MEAN)

_A, _B, _C = (
    "Gaussian A, equal variances",
    "Gaussian B, variances from equal to skewed",
    "Gaussian C, skewed variances",
)
_BASKETS = {
    "Kosarak": ("--kosarak", "kosarak_prefix.parquet", "the first users of Kosarak"),
    "POS": ("--pos", "retail.parquet", "the retail baskets of FIMI"),
}
_COLLAPSED = (
    "The published program without scaling clips nearly everything away on Gaussian data: its "
    "numbers are those of its private medians."
)
_QUICK_ITEMS = 128

Points = tuple[float, ...]


def figure_3a(options: Options) -> Table:
    """Measure Figure 3a: equal variances, by dimension."""
    panel = _by_dimension("3a", "A", options, quick=(16, 64, 256, 1024))
    return measure("plan-3a", f"PLAN, Figure 3a: {_A}", [panel], options)


def figure_3b(options: Options) -> Table:
    """Measure Figure 3b: variances from equal to skewed."""
    panel = _by_skew("3b", options, quick=(0.0, 2.0))
    return measure("plan-3b", f"PLAN, Figure 3b: {_B}", [panel], options)


def figure_3c(options: Options) -> Table:
    """Measure Figure 3c: skewed variances, by dimension."""
    panel = _by_dimension("3c", "C", options, quick=(16, 64, 256))
    return measure("plan-3c", f"PLAN, Figure 3c: {_C}", [panel], options)


def figure_4a(options: Options) -> Table:
    """Measure Figure 4a: as 3a at rho = 0.01 with 100,000 rows."""
    panel = _by_dimension("4a", "A", options, n=100_000, rhos=(0.01,), quick=(16, 32, 64))
    return measure("plan-4a", f"PLAN, Figure 4a: {_A}, rho = 0.01", [panel], options)


def figure_4b(options: Options) -> Table:
    """Measure Figure 4b: as 3b at rho = 0.01 with 100,000 rows and 64 columns."""
    panel = _by_skew("4b", options, n=100_000, d=64, rhos=(0.01,), quick=(0.0, 1.0, 2.0))
    return measure("plan-4b", f"PLAN, Figure 4b: {_B}, rho = 0.01", [panel], options)


def figure_4c(options: Options) -> Table:
    """Measure Figure 4c: as 3c at rho = 0.01 with 100,000 rows."""
    panel = _by_dimension("4c", "C", options, n=100_000, rhos=(0.01,), quick=(16, 32, 64))
    return measure("plan-4c", f"PLAN, Figure 4c: {_C}, rho = 0.01", [panel], options)


def figure_5a(options: Options) -> Table:
    """Measure Figure 5a: synthetic binary data, by the part of balanced columns."""
    title = "PLAN, Figure 5a: binary data, by the part of balanced columns"
    return measure("plan-5a", title, [_binary("5a", _RIVALS, options)], options)


def figure_5b(options: Options) -> Table:
    """Measure Figure 5b: the Kosarak baskets, by budget."""
    panel = _baskets("5b", "Kosarak", _RIVALS[:-1], options)
    return measure("plan-5b", f"PLAN, Figure 5b: {panel.title}", [panel], options)


def figure_5c(options: Options) -> Table:
    """Measure Figure 5c: the point-of-sale baskets, by budget."""
    panel = _baskets("5c", "POS", _RIVALS[:-1], options)
    return measure("plan-5c", f"PLAN, Figure 5c: {panel.title}", [panel], options)


def figure_7a(options: Options) -> Table:
    """Measure Figure 7a: random correlations, equal variances of the independent part."""
    panel = _by_dimension("7a", "A'", options, methods=_RIVALS, quick=(16, 64, 256, 1024))
    title = "PLAN, Figure 7a: Gaussian A', random correlations"
    return measure("plan-7a", title, [panel], options)


def figure_7b(options: Options) -> Table:
    """Measure Figure 7b: correlation 0.5, skewed variances."""
    panel = _by_dimension("7b", "C'", options, methods=_RIVALS, quick=(16, 64, 256))
    panel = _noting(
        panel,
        "The paper gives medians at d = 1024, rho = 1, 0.5, 0.125 (distance to the true mean "
        "less the sample mean's): IOME 22.61, 45.19, 66.5, and PLAN 3.41, 4.76, 9.40.",
    )
    title = "PLAN, Figure 7b: Gaussian C', correlation 0.5, skewed variances"
    return measure("plan-7b", title, [panel], options)


def figure_8(options: Options) -> Table:
    """Measure Figure 8: PLAN without scaling, on the data of Figure 3."""
    panels = [
        _by_dimension("8a", "A", options, methods=_ALSO_NOSCALE, quick=(16, 64, 256)),
        _by_skew("8b", options, methods=_ALSO_NOSCALE, quick=(0.0, 2.0)),
        _by_dimension("8c", "C", options, methods=_ALSO_NOSCALE, quick=(16, 64, 256)),
    ]
    panels[0] = _noting(panels[0], _COLLAPSED)
    title = "PLAN, Figure 8: without scaling, on the data of Figure 3"
    return measure("plan-8", title, [replace(panel, quick_runs=1) for panel in panels], options)


def figure_9(options: Options) -> Table:
    """Measure Figure 9: PLAN without scaling, on the data of Figure 5."""
    panels = [
        _binary("9a", _ALSO_NOSCALE, options, quick_rhos=(0.125,)),
        _baskets("9b", "Kosarak", _ALSO_NOSCALE[:-1], options),
        _baskets("9c", "POS", _ALSO_NOSCALE[:-1], options),
    ]
    title = "PLAN, Figure 9: without scaling, on the data of Figure 5"
    return measure("plan-9", title, [replace(panel, quick_runs=1) for panel in panels], options)


def figure_10(options: Options) -> Table:
    """Measure Figure 10: as Figure 3, with 2,048 columns as well."""
    wide, tight = (*_DIMENSIONS, 2048), (0.125,)
    ends: Points = (64, 2048)
    panels = [
        _by_dimension(
            "10a", "A", options, full=wide, quick=ends, quick_rhos=tight, methods=_RIVALS
        ),
        _by_skew("10b", options, quick=(0.0, 2.0), quick_rhos=tight, methods=_RIVALS),
        _by_dimension(
            "10c", "C", options, full=wide, quick=ends, quick_rhos=tight, methods=_RIVALS
        ),
    ]
    if options.quick:  # one such run takes half a minute
        panels[2] = _without(panels[2], "IOME", "--quick left out IOME of 10c.")
    title = "PLAN, Figure 10: as Figure 3, with 2,048 columns as well"
    return measure("plan-10", title, [replace(panel, quick_runs=1) for panel in panels], options)


# --- panels ------------------------------------------------------------------------------------


def _by_dimension(
    name: str,
    data: Data,
    options: Options,
    *,
    quick: Points,
    full: Points = _DIMENSIONS,
    n: int | None = None,
    rhos: Points = _RHOS,
    quick_rhos: Points = _ENDS,
    methods: tuple[str, ...] = _ALSO_COINPRESS,
) -> Panel:
    """Return the panel of A, C or their correlated twins: error by dimension."""
    skewed = data in ("C", "C'")
    dimensions, note = _chosen(name, "d", full, quick, options)
    budgets, also = _chosen(name, "rho", rhos, quick_rhos if len(rhos) > 1 else rhos, options)
    rows = n or (10_000 if skewed else 4_000)
    settings = tuple(
        Setting(data, rows, int(d), rho, alpha=2.0 if skewed else 0.0)
        for rho in budgets
        for d in dimensions
    )
    return Panel(
        name=name,
        title={"A": _A, "C": _C}.get(data, f"Gaussian {data}"),
        settings=settings,
        methods=methods,
        against="sample" if skewed else "true",
        notes=(*note, *also),
    )


def _by_skew(
    name: str,
    options: Options,
    *,
    quick: Points,
    n: int = 10_000,
    d: int = 512,
    rhos: Points = _RHOS,
    quick_rhos: Points = _ENDS,
    methods: tuple[str, ...] = _ALSO_COINPRESS,
) -> Panel:
    """Return the panel of B: error by skewness."""
    skews, note = _chosen(name, "alpha", _SKEWS, quick, options)
    budgets, also = _chosen(name, "rho", rhos, quick_rhos if len(rhos) > 1 else rhos, options)
    return Panel(
        name=name,
        title=_B,
        settings=tuple(Setting("B", n, d, rho, alpha) for rho in budgets for alpha in skews),
        methods=methods,
        against="true",
        quick_runs=2,
        notes=(*note, *also),
    )


def _binary(
    name: str, methods: tuple[str, ...], options: Options, *, quick_rhos: Points = _ENDS
) -> Panel:
    """Return the panel of synthetic binary data: error by the part of balanced columns."""
    parts, note = _chosen(name, "alpha", _PARTS, (0.0, 0.25, 1.0), options)
    budgets, also = _chosen(name, "rho", _RHOS, quick_rhos, options)
    which = f"{name}: d = 512; the paper measured 256 to 2048 and does not say which it shows."
    return Panel(
        name=name,
        title="Binary",
        settings=tuple(
            Setting("Binary", 4096, 512, rho, part) for rho in budgets for part in parts
        ),
        methods=methods,
        against="true",
        notes=(*note, *also, which),
    )


def _baskets(name: str, data: Data, methods: tuple[str, ...], options: Options) -> Panel:
    """Return the panel of real baskets: error by budget."""
    option, stand_in, what = _BASKETS[data]
    given = options.kosarak if data == "Kosarak" else options.pos
    path = given or (options.data / stand_in if options.data is not None else None)
    if path is None or (given is None and not path.is_file()):
        raise InputError(
            f"Figure {name} needs a file of baskets: give the {data} data with {option} PATH "
            f"(one basket per line, items as whole numbers), or with --data DIR a folder that "
            f"holds {stand_in}."
        )
    n, d = read_baskets(str(path)).shape
    items = min(_QUICK_ITEMS, d) if options.quick else None
    budgets, note = _chosen(name, "rho", _ALL_RHOS, _ENDS, options)
    notes = [f"{name}: {Path(path).name}, {n:,} baskets of {d:,} items."]
    if given is None:
        notes[0] += f" It stands in for {data}, which {option} PATH takes: it holds {what}."
    if items is not None:
        notes.append(f"{name}: only every {d // items}th item by popularity, {items} in all.")
    elif "IOME" in methods and d > 1024:
        notes.append(
            f"{name}: at most 2 runs of IOME, as in the paper: it rotates every row to a dense "
            "one and takes many minutes."
        )
    return Panel(
        name=name,
        title=data if given is not None else f"{data} ({what})",
        settings=tuple(
            Setting(data, n, d if items is None else items, rho, path=str(path), items=items)
            for rho in budgets
        ),
        methods=methods,
        against="sample",
        quick_runs=1,
        few={} if items is not None else {"IOME": 2},
        notes=(*note, *notes),
    )


def _chosen(
    name: str, what: str, full: Points, quick: Points, options: Options
) -> tuple[Points, tuple[str, ...]]:
    """Return the points to measure, and a note that says which are left out."""
    if not options.quick:
        return full, ()
    left = [f"{point:g}" for point in full if point not in quick]
    note = f"--quick left out {what} = {', '.join(left)} of {name}."
    return quick, (note,) if left else ()


def _noting(panel: Panel, note: str) -> Panel:
    return replace(panel, notes=(*panel.notes, note))


def _without(panel: Panel, method: str, note: str) -> Panel:
    methods = tuple(name for name in panel.methods if name != method)
    return _noting(replace(panel, methods=methods), note)
