"""The figures of the theory pages, from the functions that releases are made with.

`python docs/figures.py` draws them anew, into docs/figures, where they are part of the repository;
tests/docs/test_figures.py says if one is not what would be drawn. No data are read. Each is an SVG
whose background is transparent and whose lines are seen on light and dark pages.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from prolate import Budget
from prolate.theory import ClippedMean, noise_moment, optimal_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "FOLDER"]

FOLDER = Path(__file__).resolve().parent / "figures"
GREY = "#8a8a8a"
COLORS = ("#3f51b5", "#e69f00", "#009e73", "#cc79a7")


def _axes(width: float = 6.4, height: float = 3.6, count: int = 1) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = list(np.atleast_1d(figure.subplots(1, count)))
    for one in axes:
        one.patch.set_alpha(0.0)
        one.tick_params(colors=GREY, labelsize=9)
        for side, spine in one.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(GREY)
        for label in (one.xaxis.label, one.yaxis.label, one.title):
            label.set_color(GREY)
    return figure, axes


def _svg(figure: Figure) -> str:
    import matplotlib as mpl

    target = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "prolate"}):
        figure.savefig(target, format="svg", transparent=True, metadata={"Date": None})
    lines = target.getvalue().splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _label(axes: Axes, x: float, y: float, text: str, color: str) -> None:
    axes.annotate(text, (x, y), (4, 0), textcoords="offset points", color=color, fontsize=9)


def curve() -> str:
    """Delta along epsilon, for a few mu."""
    figure, (axes,) = _axes()
    epsilon = np.linspace(0.0, 6.0, 121)
    for mu, color in zip((0.25, 0.5, 1.0, 1.5), COLORS, strict=True):
        budget = Budget(mu=mu)
        delta = [max(budget.delta_at(epsilon=e), 1e-30) for e in epsilon]
        axes.semilogy(epsilon, delta, color=color)
        seen = int(np.argmin(np.abs(np.log10(delta) + 8.5)))
        _label(axes, epsilon[seen], delta[seen], f"μ = {mu:g}", color)
    axes.set(ylim=(1e-10, 1), xlim=(0, 6), xlabel="ε", ylabel="δ")
    return _svg(figure)


def errors() -> str:
    """The two errors of the best test between neighbors, beside that of no test."""
    from scipy.special import ndtr, ndtri

    figure, (axes,) = _axes(4.2, 3.8)
    first = np.linspace(0.0, 1.0, 301)
    axes.plot(first, 1.0 - first, color=GREY, linestyle=":")
    _label(axes, 0.55, 0.47, "blind guess", GREY)
    for mu, color in zip((0.25, 0.5, 1.0, 2.0), COLORS, strict=True):
        second = ndtr(ndtri(1.0 - first) - mu)
        axes.plot(first, second, color=color)
        place = int(np.argmin(np.abs(first - second)))
        _label(axes, first[place], second[place], f"μ = {mu:g}", color)
    axes.set(
        xlim=(0, 1), ylim=(0, 1), aspect="equal",
        xlabel="wrong when the row is there", ylabel="wrong when it is not",
    )  # fmt: skip
    return _svg(figure)


def shapes() -> str:
    """Noise around two columns of scales 1 and 6: a ball, and the best ellipse."""
    spread = np.array([6.0, 1.0])
    figure, axes = _axes(7.0, 2.9, 2)
    turn = np.linspace(0.0, 2.0 * math.pi, 200)
    rows = np.random.default_rng(1).normal(0.0, spread, size=(80, 2))
    ball, shaped = np.ones(2), optimal_scale(spread, 2.0)
    for one, scale, title in zip(axes, (ball, shaped), ("a ball", "an ellipse"), strict=True):
        # A row scaled by `scale` has this typical length, and the noise follows it.
        noise = scale * np.linalg.norm(spread / scale)
        one.plot(*rows.T, ".", color=GREY, markersize=2, alpha=0.6)
        one.plot(noise[0] * np.cos(turn), noise[1] * np.sin(turn), color=COLORS[0])
        size = noise_moment(noise, 2.0) ** 0.5
        one.set(xlim=(-16, 16), ylim=(-8, 8), aspect="equal")
        one.set_title(f"{title}: error {size:.1f}", fontsize=10)
    return _svg(figure)


def gain() -> str:
    """How much less noise the best shape has, by how unequal the columns are."""
    figure, (axes,) = _axes()
    skew = np.linspace(0.0, 4.0, 41)
    for d, color in zip((10, 100, 1000), COLORS, strict=False):
        ratio = []
        for a in skew:
            spread = np.arange(1.0, d + 1.0) ** -a
            ball = np.sqrt(d) * np.linalg.norm(spread)
            ratio.append(ball / spread.sum())  # both at p = 2: noise over that of the best shape
        axes.semilogy(skew, ratio, color=color)
        _label(axes, skew[-6], ratio[-6], f"{d} columns", color)
    axes.set(xlabel="a, with standard deviations 1 / j^a", ylabel="noise of a ball over the best")
    axes.yaxis.set_major_formatter("{x:g}")
    return _svg(figure)


def clips() -> str:
    """Expected error against the part of the rows that is clipped, at two budgets."""
    figure, (axes,) = _axes()
    spread = np.arange(1.0, 65.0) ** -0.5
    clip = np.geomspace(1e-4, 0.9, 40)
    for mu, color in zip((1.0, 0.25), COLORS, strict=False):
        mean = ClippedMean(spread, n=10_000, mu=mu, center_offset=0.1 * spread)
        error = [mean.at(part).root for part in clip]
        axes.loglog(clip, error, color=color)
        best = mean.best()
        axes.plot(best.clip, best.root, "o", color=color)
        _label(axes, clip[0], error[0] * 1.05, f"μ = {mu:g}", color)
    axes.axvline(1e-4, color=GREY, linestyle=":")
    axes.set(xlabel="part of the rows that is clipped", ylabel="error of the mean")
    return _svg(figure)


FIGURES: dict[str, Callable[[], str]] = {
    "curve": curve,
    "errors": errors,
    "shapes": shapes,
    "gain": gain,
    "clips": clips,
}


def main() -> None:
    """Write every figure into its file."""
    FOLDER.mkdir(exist_ok=True)
    for name, draw in FIGURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
