"""Poulsen's drafts: both figures, and the two questions that they leave open.

Rows are normal with standard deviations by Zipf's law, sigma_j proportional to j**-alpha. Nothing
is drawn at random: all numbers are worked out from the exact distribution of the rows' norms.
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np

from prolate.arrays import Floats
from prolate.errors import InputError
from prolate.papers.measure import Options
from prolate.papers.table import Cell, Table
from prolate.theory import clipping, constraint, radii

__all__ = [
    "clip_curves",
    "constraint_table",
    "figure_1",
    "figure_2",
    "published_improvements",
    "zipf",
]

T = TypeVar("T")

_ANCHOR = "poulsen_results.csv"
_SHARES = (0.1, 1.0, 3.0)
_DIMENSIONS, _ROWS = (10, 100, 1000), (100, 1000, 1_000_000)
_MARKS = (
    0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0, 25.0, 50.0, 75.0, 100.0,
)  # fmt: skip
_COARSE = (0.01, 0.5, 1.0, 2.0, 10.0, 100.0)
_CLIPS = (
    1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99,
)  # fmt: skip
_OFFSETS = (0.0, 0.1, 0.3)
_BUDGET = 1.0  # mu
_TENTH = 0.1

_WORKED = "Worked out, not measured: --runs changes nothing."


def zipf(alpha: float, d: int) -> Floats:
    """Return standard deviations by Zipf's law, with sum 1.

    Examples
    --------
    >>> (11 * zipf(1.0, 3)).round(9).tolist()
    [6.0, 3.0, 2.0]
    """
    sigma = np.arange(1.0, d + 1.0) ** -alpha
    return np.asarray(sigma / sigma.sum())


def figure_1(_options: Options) -> Table:
    """Compute Poulsen's Figure 1: standard deviations by Zipf's law."""
    d = 100
    rows = tuple(
        (alpha, j, float(share))
        for alpha in _SHARES
        for j, share in enumerate(zipf(alpha, d), start=1)
    )
    return Table(
        name="poulsen-1",
        title=f"Poulsen, Figure 1: standard deviations by Zipf's law, d = {d}",
        columns=("alpha", "column", "sigma"),
        rows=rows,
        notes=("sigma: over the sum of all columns'.", _WORKED),
    )


def figure_2(options: Options) -> Table:
    """Compute Poulsen's Figure 2: what scaling the columns improves."""
    published = published_improvements(options.anchors)
    rows: list[tuple[Cell, ...]] = []
    for d, n, alpha in _settings(options):
        sigma = zipf(alpha, d)
        scaled = radii.exact_radius(sigma, 1.0 / n) ** 2
        plain = radii.exact_radius(sigma, 1.0 / n, b=np.ones(d)) ** 2
        improvement = d * plain / (scaled * float(sigma.sum()) ** 2)
        known = published.get((d, n, alpha))
        over = improvement / known if known else None
        rows.append((d, n, alpha, scaled, plain, improvement, known, over))
    notes = [
        "improvement: squared noise without scaling over that with it, clipping one row in n.",
        "C2: the squared radius, scaled and not; sigma adds up to 1.",
        "The draft's formula for the error without scaling lacks a factor d, which its figure has.",
        _WORKED,
    ]
    if published:
        notes.append(
            "published: the author's own numbers, whose radii are bisected to about 10 %; the "
            "median where there are several."
        )
    return Table(
        name="poulsen-2",
        title="Poulsen, Figure 2: what scaling improves",
        columns=(
            "d", "n", "alpha", "C2_scaled", "C2_plain", "improvement", "published",
            "over_published",
        ),
        rows=tuple(rows),
        notes=tuple(notes),
    )  # fmt: skip


def published_improvements(folder: Path | None) -> dict[tuple[int, int, float], float]:
    """Return the author's improvements by d, n and alpha; none where there is no such file.

    Raises
    ------
    InputError
        If the file is there and cannot be read.
    """
    if folder is None or not (folder / _ANCHOR).is_file():
        return {}
    found: dict[tuple[int, int, float], list[float]] = {}
    try:
        with (folder / _ANCHOR).open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                key = (int(float(row["d"])), round(10 ** float(row["n_pow"])), float(row["scew"]))
                improvement = float(row["normal_err"]) / float(row["trans_err"])
                found.setdefault(key, []).append(improvement)
    except (OSError, KeyError, ValueError, ZeroDivisionError) as error:
        raise InputError(
            f"{str(folder / _ANCHOR)!r} needs the columns d, n_pow, scew, trans_err and "
            "normal_err; leave --anchors out to do without."
        ) from error
    return {key: statistics.median(values) for key, values in found.items()}


def clip_curves(options: Options) -> Table:
    """Compute Poulsen's open question: the best clipping probability."""
    sizes = (1000,) if options.quick else (1000, 100_000)
    settings = [
        (alpha, d, n, offset)
        for alpha in (0.0, 1.0)
        for d in _DIMENSIONS[: 2 if options.quick else 3]
        for n in sizes
        for offset in _OFFSETS
    ]
    rows: list[tuple[Cell, ...]] = []
    for alpha, d, n, offset in _shown(settings, "poulsen-clip", options):
        sigma = zipf(alpha, d)
        plan = clipping.ClippedMean(sigma, n=n, mu=_BUDGET, center_offset=offset * sigma)
        usual, best = plan.at(1.0 / n), plan.best()
        points = [("curve", plan.at(clip)) for clip in _CLIPS]
        for point, error in [*points, ("1/n", usual), ("best", best)]:
            parts = (error.noise, error.bias, error.fluctuation, error.total)
            over = (error.root / usual.root, error.root / plan.sampling**0.5)
            place = (alpha, d, n, offset, point, error.clip, error.radius)
            rows.append((*place, *(part / plan.sampling for part in parts), *over))
    return Table(
        name="poulsen-clip",
        title="Poulsen's open question: the best clipping probability",
        columns=(
            "alpha", "d", "n", "offset", "point", "clip", "radius", "noise", "bias",
            "fluctuation", "squared", "over_usual", "over_sampling",
        ),
        rows=tuple(rows),
        notes=(
            f"mu = {_BUDGET:g}, neighbors: replace, known scales.",
            "offset: how far the center is off in every column, in standard deviations.",
            "squared: expected squared error against the rows' own mean, over sampling's.",
            "noise, bias, fluctuation: its parts.",
            "over_usual, over_sampling: length of the error over that at 1/n, over the sampling's.",
            _WORKED,
        ),
    )  # fmt: skip


def constraint_table(options: Options) -> Table:
    """Compute Poulsen's alternative constraint: a ball of radius 1/2 (Eq. 25)."""
    rows: list[tuple[Cell, ...]] = []
    for d, n, alpha in _shown(list(_settings(options)), "poulsen-constraint", options):
        sigma = zipf(alpha, d)
        found = constraint.ball_scaling(sigma, 1.0 / n)
        lemma = clipping.ClippedMean(sigma, n=n, mu=_BUDGET).best()
        # Its own best clip is lower: fewer rows are clipped for the same noise.
        b = constraint.ball_scaling(sigma, min(_TENTH * lemma.clip, 0.5)).b
        both = clipping.ClippedMean(sigma, n=n, mu=_BUDGET, b=b).best()
        numbers = found.lemma, found.noise, found.gain, lemma.clip, both.clip
        rows.append((d, n, alpha, *numbers, lemma.root / both.root))
    return Table(
        name="poulsen-constraint",
        title="Poulsen's alternative constraint (Eq. 25): a ball of radius 1/2",
        columns=(
            "d", "n", "alpha", "noise_lemma", "noise_ball", "gain", "best_clip_lemma",
            "best_clip_ball", "gain_at_best",
        ),
        rows=tuple(rows),
        notes=(
            "noise: squared noise of a sum, clipping one row in n, over (2 sum(sigma) / mu)**2,",
            "with the scaling of Lemma 4.1 and with that of Eq. 25.",
            "gain: length of the noise with Lemma 4.1's scaling over that with Eq. 25's.",
            "gain_at_best: of noise and clipping at mu = 1, each at its best clipping probability.",
            "There, Eq. 25 is solved for a tenth of Lemma 4.1's best probability.",
            _WORKED,
        ),
    )  # fmt: skip


def _settings(options: Options) -> Iterator[tuple[int, int, float]]:
    alphas = _COARSE if options.quick else _MARKS
    return ((d, n, alpha) for d in _DIMENSIONS for n in _ROWS for alpha in alphas)


def _shown(settings: list[T], name: str, options: Options) -> Iterator[T]:
    """Yield settings, telling how many are done."""
    for number, setting in enumerate(settings):
        if options.progress is not None:
            options.progress(name, float(number), float(len(settings)))
        yield setting
