"""One noisy covariance matrix, measured in given coordinates, and two of them together.

In coordinates z = (x - center) @ matrix the rows are clipped to norm C, and the Gram matrix
of u = (b, z) is one query. Its first row gives the mean of z, so how far the center is off;
clipping is undone along each axis (`lengths.py`).

Noise. A clip at C**2 = tr(M'SM) and a change back cost tr(M'SM) |(MM')**-1|_F in Frobenius
norm, S being the covariance. Its least value is tr(S**(1/2))**2, at M = S**(-1/4), the same
for coordinates of one spread (M = S**(-1/2)) and for none (M = I): d tr(S). In Mahalanobis
norm M = S**(-1/2) is best, and costs d**2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prolate.arrays import Bools, Floats
from prolate.curator import Curator
from prolate.estimators.covariance.layer import LongRows, Taken, with_taken
from prolate.estimators.covariance.lengths import Clip, Lengths, learn_lengths
from prolate.estimators.lengths.norms import MeasuredNorms, measure_norms
from prolate.estimators.rotation import TurnedCurator
from prolate.estimators.shrink import kept_part
from prolate.neighbors import rows_changed
from prolate.queries import Gram

__all__ = [
    "Frame",
    "Moment",
    "Standardized",
    "combine",
    "gram_noise",
    "measure_lengths",
    "measure_moment",
]

_CONSTANT = 0.06  # b**2, over the mean of |z|**2
_DISTRUST = 0.4  # of what is clipped: rows are not elliptical
_WRONG = 0.5  # of it, that intervals allow for
_UNLIKE = 0.5  # more where the lengths are not those of normal rows
_LATER, _SPREAD = 3.0, 0.1  # squared radii of rough moments; eigenvalues that noise may spread so
_NORMS_NOISE = 0.001  # wanted noise of a count of the histogram of norms, over the rows
_LEAST_NORMS, _MOST_NORMS = 0.002, 0.2  # its part of the share, ...
_FEW_COLUMNS = 2.3  # ... at most this over d**1.5, or ...
_MANY_COLUMNS = 0.02
_AGAIN, _MOST_AGAIN = 2.0, 0.1  # times it, and of the share: for rows that are far out, perhaps
_AXES = 3.0  # of few columns, on one of which all that a clip takes may be
_REST = 0.3  # of the doubt of what is given back, in any direction
_MORE_LOOKS = 3  # where rows are beyond the last edge
_ALIKE = 2.0  # two moments of sizes that differ more are not averaged
_APART = 6.0  # times the noise's mean square by which their variances are apart, if not alike


@dataclass(frozen=True, eq=False)
class Standardized:
    """The rows: a curator of them, their number, and a first center and spread.

    In what follows x is (row - center) / spread. `variances` says whether they are asked for,
    not correlations alone; `guessed`, of which columns only a single value was seen.
    """

    curator: Curator
    rows: float
    center: Floats
    spread: Floats
    variances: bool
    guessed: Bools | None = None


@dataclass(frozen=True, eq=False)
class Frame:
    """The coordinates (x - mean) @ axes, in which rows are measured.

    Attributes
    ----------
    axes : float64 array of shape (d, d)
        In columns.
    variances : float64 array of shape (d,)
        Expected along them.
    mean : float64 array of shape (d,)
        Where x is expected.
    """

    axes: Floats
    variances: Floats
    mean: Floats

    @classmethod
    def plain(cls, d: int) -> Frame:
        """Return that of x itself, of which nothing more is known."""
        return cls(np.eye(d), np.ones(d), np.zeros(d))


@dataclass(frozen=True, eq=False)
class Moment:
    """A noisy covariance matrix of x @ axes.

    Attributes
    ----------
    axes : float64 array of shape (d, d)
        In columns.
    value : float64 array of shape (d, d)
    variance : float64 array of shape (d, d)
        Of the noise of `value` off the diagonal; on it, twice as much.
    mean : float64 array of shape (d,)
        Of x.
    radius, factor : float
        Clipping radius, and the part of the variances that it left.
    doubt : float
        Standard deviation of an error in the size of `value`, which is not in `variance`.
    lost : float
        Part of the variances that clipping may have taken, and is not given back.
    anywhere : float
        The same of rows that are not elliptical, most of which may be along one axis: over a
        variance.
    taken : float64 array of shape (d, d), or None
        What was given back of the rows that were clipped, times how unsure that is.
    missing : float64 array of shape (d, d), or None
        Standard deviations of correlations that noise may have hidden of it.
    """

    axes: Floats
    value: Floats
    variance: Floats
    mean: Floats
    radius: float
    factor: float
    doubt: float
    lost: float = 0.0
    anywhere: float = 0.0
    taken: Floats | None = None
    missing: Floats | None = None

    @property
    def back(self) -> Floats:
        """The inverse of the axes."""
        return np.asarray(np.linalg.inv(self.axes))

    @property
    def matrix(self) -> Floats:
        """The covariance matrix of x."""
        back = self.back
        return np.asarray(back.T @ self.value @ back)


def gram_noise(curator: Curator, rows: float, share: float) -> float:
    """Return the noise beside the diagonal of the mean of rows clipped to norm 1."""
    changed = np.sqrt(rows_changed(curator.neighbors))
    return float(5.0 / 7.0 * changed / (rows * curator.mu_of(share)))


def measure_lengths(table: Standardized, frame: Frame, *, share: float) -> Lengths:
    """Return how long (x - mean) @ axes is, for a part of the share of what is to be measured."""
    variances, d = frame.variances, frame.variances.size
    wanted = gram_noise(table.curator, table.rows, share) * 7.0 / 5.0 / _NORMS_NOISE
    most = min(max(_FEW_COLUMNS / d**1.5, _MANY_COLUMNS), _MOST_NORMS)
    part = min(max(wanted**2, _LEAST_NORMS), most)
    turned = _turned(table, frame)

    def look(part: float, edges: Floats | None = None) -> MeasuredNorms:
        return measure_norms(
            turned,
            center=np.zeros(d),
            scale=np.ones(d),
            spread=turned.spread,
            share=part * share,
            edges=edges,
            more=_MORE_LOOKS if edges is None else 0,
        )

    norms = look(part)
    lengths = learn_lengths(variances, norms, table.rows)
    if lengths.maybe_far:
        norms = norms.averaged(look(min(_AGAIN * part, _MOST_AGAIN), norms.edges))
        lengths = learn_lengths(variances, norms, table.rows)
    if lengths.unlike > 0.0 and d > 1:
        lengths = replace(lengths, long=LongRows.of(norms, table.rows))
    return lengths


def _turned(table: Standardized, frame: Frame) -> TurnedCurator:
    center = table.center + table.spread * frame.mean
    turn = np.ascontiguousarray(frame.axes / table.spread[:, np.newaxis])
    return TurnedCurator(table.curator, center, turn, np.sqrt(frame.variances))


def measure_moment(
    table: Standardized,
    frame: Frame,
    *,
    share: float,
    label: str,
    lengths: Lengths | None = None,
    wide: bool = False,
    rough: bool = False,
) -> Moment:
    """Measure the covariance of (x - mean) @ axes, for a share of mu**2.

    Parameters
    ----------
    table : Standardized
    frame : Frame
    share, label
        As for `Curator.measure`.
    lengths : Lengths, optional
        What `measure_lengths` found in these axes; those of normal rows by default.
    wide : bool
        Whether the axes are those of spreads S**(1/4), for an error in Frobenius norm.
    rough : bool
        Whether it only shows where to measure: rows are clipped later, as far as noise allows.
    """
    axes, variances, mean = frame.axes, frame.variances, frame.mean
    d, rows = variances.size, table.rows
    turned = _turned(table, frame)
    known = learn_lengths(variances) if lengths is None else lengths
    # Noise and moments in the units in which their errors count: of x, or of even spreads.
    relative = variances / variances.sum() if wide else np.full(d, 1.0 / d)
    beside = gram_noise(table.curator, rows, share)
    noise = beside * np.sqrt(1.0 + 1.0 / d)
    size = float(np.sqrt(np.sum(relative**4)))
    distrust = _DISTRUST + _UNLIKE * known.unlike
    clip = known.best_clip(noise, size, constant=np.sqrt(_CONSTANT), distrust=distrust)
    constant = float(np.sqrt(_CONSTANT * known.variances.sum()))
    clip, taken, share = _with_layer(turned, known, clip, noise, rows=rows, share=share)
    if rough:
        # Axes would be scaled by what is left of them, so rows far out be clipped harder each time.
        most = _SPREAD / (2.0 * np.sqrt(d) * beside) - constant**2
        later = min(_LATER * clip.radius**2, max(most, clip.radius**2))
        clip = known.clip(float(np.sqrt(later)))

    gram = Gram(np.zeros(d), np.ones(d), clip.radius, constant)
    measured = turned.measure(gram, share=share, label=label)
    whole = gram.matrix(measured.values) / rows
    off = gram.noise(measured.std)[1] / rows
    moved, noise = whole[0, 1:] / (constant * clip.kept), off / (constant * clip.kept)
    moved = moved * np.sqrt(kept_part(float(moved @ moved), d * noise**2))
    root = np.sqrt(clip.factors)
    found = Moment(
        axes=axes * root,
        value=whole[1:, 1:] - np.outer(moved * root, moved * root),
        variance=np.full((d, d), off**2),
        mean=mean + np.linalg.solve(axes.T, moved),
        radius=clip.radius,
        factor=clip.factor,
        doubt=clip.doubt,
    )
    more, unsure = known.more(clip)
    anywhere = float(np.sqrt(_AXES * d) * np.hypot(more, unsure))
    if taken is not None:
        return _with_taken(found, taken, anywhere)
    # What is taken is known for elliptical rows. Few are; where lengths show that, all of it
    # may be otherwise.
    lost = float(np.hypot(max(known.unlike, _WRONG) * (1.0 - clip.factor), more))
    return replace(found, lost=min(lost, 1.0), anywhere=min(anywhere, 1.0))


def _with_layer(
    turned: TurnedCurator, known: Lengths, clip: Clip, noise: float, *, rows: float, share: float
) -> tuple[Clip, Taken | None, float]:
    """Return a clip, what it takes of long rows if that can be told, and what share is left."""
    if known.long is None:
        return clip, None, share
    d, usual = known.variances.size, (1.0 - clip.factor) * float(known.variances.sum())
    plan = known.long.plan(noise, clip.radius, usual, d)
    if plan is None:
        return clip, None, share
    taken = known.long.taken(turned, plan, clip.radius, d, rows=rows, share=plan.share * share)
    return replace(clip, factors=np.ones(d), doubt=0.0), taken, (1.0 - plan.share) * share


def _with_taken(found: Moment, taken: Taken, anywhere: float) -> Moment:
    """Return a moment of clipped rows with what the clip took."""
    added = with_taken(found.value, taken, found.back)
    part = float(np.trace(taken.value)) / max(float(np.trace(added.value)), 1e-300)
    return replace(
        found,
        value=added.value,
        variance=found.variance + added.noise**2,
        factor=max(1.0 - part, 0.0),
        lost=min(_REST * taken.doubt * part, 1.0),
        anywhere=min(float(np.sqrt(added.hidden)) * anywhere, 1.0),
        taken=taken.doubt * taken.value,
        missing=added.missing,
    )


def combine(first: Moment, second: Moment, *, bias: float) -> Moment:
    """Return the average of two moments, each of even noise, by inverse variance.

    There are axes in which the noise of both is independent between entries: those along
    which the change from one moment's axes to the other's is orthogonal.

    Parameters
    ----------
    first, second : Moment
        The second in coordinates in which variances are about 1.
    bias : float
        Standard deviation of an error of `first` that is not noise, over the variances.
    """
    change = first.back @ second.axes
    stretch, turn = np.linalg.eigh(change.T @ change)
    stretch = np.maximum(stretch, 1e-300)
    axes, to_first = second.axes @ turn, change @ turn
    values = to_first.T @ first.value @ to_first, turn.T @ second.value @ turn
    of_first = first.variance[0, 0] * np.outer(stretch, stretch) + bias**2
    weight = of_first / (of_first + second.variance)  # of the second
    # The first's size is less certain, because rows' lengths were not measured for it.
    trust = 1.0 / np.diag(of_first + second.variance)
    own, other = np.diag(values[0]), np.diag(values[1])
    ratio = float(np.sum(trust * own * other) / max(np.sum(trust * own**2), 1e-300))
    # And where its rows were clipped otherwise than normal ones are, its shape is another.
    usual = 2.0 * np.diag(ratio**2 * of_first + second.variance)
    apart = float(np.mean((ratio * own - other) ** 2))
    if apart > _APART * float(np.mean(usual)):
        of_first = of_first + apart
        weight = of_first / (of_first + second.variance)
    if not 1.0 / _ALIKE < ratio < _ALIKE:
        ratio, weight = 1.0, np.ones_like(weight)
    return Moment(
        axes=axes,
        value=(1.0 - weight) * ratio * values[0] + weight * values[1],
        variance=weight * second.variance,
        mean=second.mean,
        radius=second.radius,
        factor=second.factor,
        doubt=second.doubt,
        lost=second.lost,
        anywhere=second.anywhere,
        missing=second.missing,
        taken=None if second.taken is None else turn.T @ second.taken @ turn,
    )
