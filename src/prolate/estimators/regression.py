"""Private linear regression: no bounds, no normalization needed.

1. Find means and standard deviations of the target, then of the features (`standardize`).
   Where the rows are too few for the features, the answer is the private mean of the target.
2. A histogram of the norms of the standardized features, cut to `_CUT` deviations each.
3. One or two Gram matrices of (constant, features clipped to a norm, cut target): see below.
4. A line from each, by shrinkage along the eigenvectors of the noisy matrix (`line.py`).

A small radius costs less noise, and rows that are far out are drawn towards the center, in
the fit and in predictions: on real data that often predicts better than the line without
clipping. A large radius gives the slopes of the unclipped rows. Where the rows pay for both,
both are measured: the slopes are those of the large one, and predictions use the one whose
error is smaller, as far as the noisy matrices tell.

Sources: AdaSSP (Wang 2018; Kalaja 2022), with the matrix and the vector in one measurement,
and lambda from the noisy matrix.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from prolate.curator import Curator, Measurement, Searcher
from prolate.estimators.clip import Norms, fraction_radius, measure_norms
from prolate.estimators.columns import SomeColumns
from prolate.estimators.line import Line, Moments, fit_line, read_moments
from prolate.estimators.linear_fit import LinearFit
from prolate.estimators.shape import refine_center
from prolate.estimators.shares import count_rows, rows_changed
from prolate.estimators.standardize import standardize
from prolate.queries import Cut, Gram, Query

__all__ = ["regression"]

Floats = NDArray[np.float64]

P = dict(
    y_noise=0.07, y_most=0.12, x_noise=0.07, x_most=0.06, fine=0.004, fine_most=0.03, n_noise=0.02, n_most=0.03,
    drop=0.15, tight=0.09, cut=3.0, cy=2.5, w=0.9, a=0.35, frac=0.6, wshare=0.3, bias=0.2, ratio=1.5, wcy=3.5, wcut=5.0, pfloor=1.0, mixk=0.0,
)


class _CutColumns:
    """A view on columns cut to limits."""

    def __init__(self, view: SomeColumns, lower: Floats, upper: Floats) -> None:
        self._view, self._lower, self._upper = view, lower, upper
        self.neighbors = view.neighbors
        self.remaining = view.remaining
        self.mu_of = view.mu_of

    def measure(self, query: Query, *, share: float, label: str) -> Measurement:
        return self._view.measure(
            Cut(query, self._lower, self._upper), share=share, label=label
        )


def regression(
    curator: Curator, *, fit_intercept: bool = True, alpha: float | None = None
) -> LinearFit:
    rows = count_rows(curator)
    k = curator.dimension - 1
    one = rows_changed(curator.neighbors) / (curator.budget.mu * rows) ** 2

    def share(noise, most, d):
        cost = one * d
        return max(min(cost / P["fine"] ** 2, P["fine_most"]), min(cost / noise**2, most), 0.0004)

    target, features = SomeColumns(curator, np.array([k])), SomeColumns(curator, np.arange(k))
    y_share = share(P["y_noise"], P["y_most"], 1)
    my, sy = standardize(
        target, rows, share=y_share, rough=math.sqrt(one / y_share) > P["tight"], target=True
    )
    x_share = share(P["x_noise"], P["x_most"], k)
    if math.sqrt(one * k / x_share) > P["drop"]:
        center, noise = refine_center(target, rows, my, sy, share=curator.remaining)
        return LinearFit(coef=np.zeros(k), intercept=float(center[0]), rows=rows)
    mx, sx = standardize(features, rows, share=x_share)
    reach = P["wcut"] * sx
    norms = measure_norms(
        _CutColumns(features, mx - reach, mx + reach),
        center=mx,
        scale=sx,
        spread=np.where(sx < 1e100, sx, 0.0) + 1e-300,
        share=share(P["n_noise"], P["n_most"], 1),
    )
    hard = fraction_radius(norms, P["frac"], rows)
    left = curator.remaining
    wide = best_wide(curator, norms, k, rows, P["wshare"] * left)
    both = wide > P["ratio"] * hard

    def measure(radius, share, label, cy, cut):
        t, a = P["w"] * radius, P["a"] * radius
        weight = t / cy
        center, scale = np.append(mx, my), np.append(sx, sy / weight)
        limit = np.append(cut * sx, np.inf)
        query = Gram(center, scale, radius, constant=a, target=t, lower=center - limit, upper=center + limit)
        m = curator.measure(query, share=share, label=label)
        return read_moments(query, m.values, m.std, rows, weight)

    h = measure(hard, (1 - P["wshare"]) * left if both else left, "regression", P["cy"], P["cut"])
    line = fit_line(h)
    best, radius, mom, cut = line, hard, h, P['cut']
    coef_line, coef_mom, kap = line, h, attenuation(norms, hard)
    if both:
        wm = measure(wide, curator.remaining, "slopes", P["wcy"], P["wcut"])
        wl = fit_line(wm)
        coef_line, coef_mom, kap = wl, wm, attenuation(norms, wide)
        if wl.gain > line.gain:
            best, radius, mom, cut = wl, wide, wm, P["wcut"]
    theta, cov = plain_line(coef_mom, kap, rows, wide if both else hard, P["wcy"] if both else P["cy"])
    J = np.diag(sy[0] / sx)
    coef = J @ theta
    icpt = my[0] + sy[0] * (coef_mom.target_mean - kap * coef_mom.mean @ theta) - mx @ coef
    shift = np.append(-(mx / sx) - kap * coef_mom.mean, 1.0) * sy[0]
    M = np.vstack([np.hstack([J, np.zeros((k, 1))]), shift])
    cov = M @ cov @ M.T
    slopes = best.slopes / sx * sy[0]
    at = my[0] + sy[0] * (mom.target_mean - mom.mean @ best.slopes)
    return LinearFit(
        coef=coef,
        intercept=float(icpt),
        rows=rows,
        covariance=cov,
        noise_std=np.sqrt(np.diag(cov)),
        clip=(mx, sx, radius, cut, slopes, float(at)),
        details={"both": both, "wide": wide, "hard": hard, "kappa": kap, "gain": best.gain, "used": "wide" if radius == wide else "hard"},
    )


def plain_line(m: Moments, kap: float, rows: float, radius: float, cy: float):
    """Slopes hardly shrunk, and the covariance of slopes and mean."""
    k = m.mean.size
    ev, V = np.linalg.eigh(m.features)
    tr = max(ev.sum(), 1e-300)
    c = math.sqrt(k * m.noise**2 + m.noise_both**2 * tr / 0.5)
    p = np.maximum(ev, P["pfloor"] * c)
    f = 1.0 / p
    th = f * (V.T @ m.both)
    explained = min(max(2 * th @ (V.T @ m.both) - th @ (ev * th), 0.0), 0.98 * max(m.target, 1e-9))
    resid = max(m.target - explained, 0.02)
    t2 = float(th @ th)
    noise = (m.noise_both**2 + m.noise**2 * t2) * np.eye(k) + m.noise**2 * np.outer(th, th)
    C = (f[:, None] * noise) * f + np.diag(resid / rows / p)
    kg, var = gauss(p, radius)
    kappa = kg * (1 + P["mixk"] * (kap / (np.sum(kg * p) / np.sum(p)) - 1))
    prior = 0.5 / tr * np.maximum(1 - np.maximum(ev, 0) * f, 0) ** 2
    C += np.diag(prior)
    from scipy.special import erf

    sd = math.sqrt(max(m.target, 1e-9))
    kept = erf(cy / sd / math.sqrt(2))
    kept = erf(cy / (sd / math.sqrt(max(kept, 0.1)) ** 0.5) / math.sqrt(2))
    A = V / kappa / kept
    C = A @ C @ A.T
    out = np.zeros((k + 1, k + 1))
    out[:k, :k] = C
    out[k, k] = m.noise_target_mean**2 + resid / rows + m.noise_mean**2 * t2
    return A @ th, out


def gauss(gamma: Floats, radius: float) -> tuple[Floats, Floats]:
    """beta/gamma per principal axis of normal rows whose clipped variances are gamma."""
    k = gamma.size
    g2 = np.random.default_rng(0).standard_normal((4096, k)) ** 2
    g2 /= g2.mean(axis=0)
    gamma = np.minimum(gamma, gamma * 0.98 * radius**2 / gamma.sum()) if gamma.sum() > 0.98 * radius**2 else gamma
    var = gamma.copy()
    for _ in range(60):
        square = g2 @ var
        s = np.minimum(1.0, radius / np.sqrt(np.maximum(square, 1e-300)))
        got = var * (s**2 @ g2) / len(g2)
        new = var * np.clip(gamma / got, 0.5, 2.0)
        if np.max(np.abs(new / var - 1)) < 1e-6:
            break
        var = new
    return (s @ g2) / (s**2 @ g2), var


def cells(norms: Norms) -> tuple[Floats, Floats]:
    edges = norms.edges
    middle = np.concatenate([[0.7 * edges[0]], np.sqrt(edges[:-1] * edges[1:]), [1.2 * edges[-1]]])
    counts = np.where(middle < 1.02 * P["wcut"] * norms.typical, norms.counts, 0.0)
    above = np.append(np.cumsum(counts[::-1])[::-1], 0.0)
    above = np.minimum.accumulate(np.maximum(above, 0.0))
    counts = -np.diff(above)
    return middle, counts / max(counts.sum(), 1e-300)


def attenuation(norms: Norms, radius: float) -> float:
    """E |z| |T| / E |T|**2."""
    m, c = cells(norms)
    t = np.minimum(m, radius)
    return float(np.sum(c * m * t) / np.sum(c * t * t))


def best_wide(curator, norms, k, rows, share) -> float:
    m, c = cells(norms)
    sens = math.sqrt(rows_changed(curator.neighbors))
    best = (np.inf, 0.0)
    for r in norms.edges:
        size = np.sum(c * np.minimum(m, r) ** 2) / k
        big = r * r * (1 + P["w"] ** 2 + P["a"] ** 2)
        noise = sens * big / (curator.mu_of(share) * rows) / 1.4 * math.sqrt(k) / size
        bias = P["bias"] * (attenuation(norms, r) - 1.0)
        best = min(best, (noise**2 + bias**2 + 0.0 * r, float(r)))
    return best[1]
