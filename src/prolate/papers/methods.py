"""The curves of the figures: every estimator, told what the papers let it know.

Prolate is told nothing about Gaussian data, and that binary data lie between 0 and 1. The
rivals get the paper's universe as well (Table 1). CoinPress gets the largest standard
deviation, and a ball of radius 20 sqrt(d) around the origin that holds the mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import prolate
from prolate import rivals
from prolate.arrays import Floats
from prolate.curator import Curator
from prolate.papers.settings import Sample, Setting
from prolate.sources import open_source

__all__ = ["METHODS", "OURS", "SAMPLE_MEAN", "Method"]

OURS = "Prolate"
SAMPLE_MEAN = "sample mean"


@dataclass(frozen=True)
class Method:
    """A curve.

    Attributes
    ----------
    estimate : callable
        From (setting, sample, run) to the estimated mean, shape (d,).
    published : str
        What the published result files call it; empty if they do not have it.
    cost : callable
        From a setting to about how long it takes, in units of one value of the data.
    """

    estimate: Callable[[Setting, Sample, int], Floats]
    published: str
    cost: Callable[[Setting], float]


def _ours(setting: Setting, sample: Sample, _run: int) -> Floats:
    release = prolate.mean(
        sample.rows,
        budget=prolate.Budget(rho=setting.rho),
        error_norm=setting.norm,
        bounds=(0.0, 1.0) if setting.norm == 1 else None,
    )
    return release.estimate


def _plan(setting: Setting, sample: Sample, _run: int) -> Floats:
    return _plan_of(setting, sample, scaling=True)


def _plan_noscale(setting: Setting, sample: Sample, _run: int) -> Floats:
    return _plan_of(setting, sample, scaling=False)


def _plan_of(setting: Setting, sample: Sample, *, scaling: bool) -> Floats:
    curator = _curator(setting, sample)
    if setting.norm == 1:
        return rivals.plan_binary(curator, scaling=scaling).value
    return rivals.plan(curator, scaling=scaling, universe_size=setting.universe).value


def _iome(setting: Setting, sample: Sample, run: int) -> Floats:
    longest = math.sqrt(setting.d)
    if setting.norm == 2:
        # So that it searches rotated medians where the published code does, within
        # universe / sqrt(D): a wider range costs steps, and errors where n is tight.
        length = 1 << (setting.d - 1).bit_length()
        longest = setting.universe / math.sqrt(2.0 * math.log(4.0 * length))
    return rivals.iome(_curator(setting, sample), longest=longest, rotation=run).value


def _coinpress(setting: Setting, sample: Sample, _run: int) -> Floats:
    radius = 20.0 * math.sqrt(setting.d)
    return rivals.coinpress(_curator(setting, sample), sigma=setting.widest, radius=radius).value


def _sample_mean(_setting: Setting, sample: Sample, _run: int) -> Floats:
    return sample.mean


def _curator(setting: Setting, sample: Sample) -> Curator:
    return Curator(open_source(sample.rows), prolate.Budget(rho=setting.rho))


def _passes(count: float) -> Callable[[Setting], float]:
    return lambda setting: count * setting.n * setting.d


def _rotations(setting: Setting) -> float:
    length = 1 << (setting.d - 1).bit_length()
    return 2.0 * setting.n * length * math.log2(max(length, 2))


METHODS = {
    OURS: Method(_ours, "", _passes(3.0)),
    "PLAN": Method(_plan, "PLAN", _passes(1.0)),
    "PLAN without scaling": Method(_plan_noscale, "PLAN-noscale", _passes(1.0)),
    "IOME": Method(_iome, "IOME", _rotations),
    "CoinPress": Method(_coinpress, "", _passes(0.1)),
    SAMPLE_MEAN: Method(_sample_mean, "empirical", _passes(0.1)),
}
