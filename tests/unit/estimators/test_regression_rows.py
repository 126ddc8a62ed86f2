"""The rows that a regression asks: a sample of them is as all are, but for their number."""

from __future__ import annotations

import numpy as np
import pytest

from prolate import Budget
from prolate.curator import Curator
from prolate.estimators.lengths.norms import MeasuredNorms
from prolate.estimators.regression.radii import choose_radii
from prolate.estimators.regression.rows import StandardRows
from prolate.estimators.regression.standard import Standard
from prolate.sources import open_source


def test_radii_of_a_sample_are_those_of_all_rows() -> None:
    """Lengths of all rows beside the number of a sample's: its radius was as large as can be."""
    rows, part = 400_000, 0.1
    source = open_source(np.random.default_rng(0).normal(size=(rows, 4)))
    curator = Curator(source, Budget(rho=5), neighbors="replace", seed=1)
    sample = curator.sampled(part * rows, rows)
    assert sample.fraction == pytest.approx(part, rel=0.2)
    edges = np.linspace(0.1, 6.0, 60)
    lengths = np.linalg.norm(np.random.default_rng(1).normal(size=(rows, 3)), axis=1)
    counts = np.histogram(lengths, np.concatenate([[0.0], edges, [np.inf]]))[0].astype(float)
    standard = Standard(np.zeros(4), np.ones(4), np.ones(3, dtype=np.bool_), 0.1, True)
    every = StandardRows(curator, rows, standard, MeasuredNorms(edges, counts, 1.0, 1.7))
    few = every.sampled(sample)
    assert few.norms.counts.sum() == pytest.approx(few.count)
    assert few.norms.noise == pytest.approx(sample.fraction)
    usual, theirs = (choose_radii(each, share=1.0, again=False)[0] for each in (every, few))
    assert theirs.radius == pytest.approx(usual.radius)
    assert theirs.radius < 2.55  # its largest is 2.6
