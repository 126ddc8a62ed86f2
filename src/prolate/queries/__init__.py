"""The questions that may be asked of rows: integer vectors that add up over rows."""

from prolate.queries.base import Query
from prolate.queries.beyond_cut import BeyondCut
from prolate.queries.clipped_sum import RADIUS, ClippedSum, radius_over
from prolate.queries.count import Count, CountBelow
from prolate.queries.cross import Along, Cross
from prolate.queries.cut import Cut
from prolate.queries.farthest import FarthestHistogram
from prolate.queries.gram import GRAM_RADIUS, Gram
from prolate.queries.grids import EdgesGrid, LinearGrid, MagnitudeGrid
from prolate.queries.histogram import Histogram
from prolate.queries.layer import Layer
from prolate.queries.mapped import Magnitudes, Norms, Rotated, Selected, rotate_back
from prolate.queries.norms import NormHistogram
from prolate.queries.one_sided import OneSidedSum
from prolate.queries.pairs import Pairs
from prolate.queries.pooled import PooledHistogram
from prolate.queries.ranks import Ranks
from prolate.queries.residual_gram import ResidualGram
from prolate.queries.together import Together
from prolate.queries.turned import Products, Turned
from prolate.queries.whole import WholeRows

__all__ = [
    "GRAM_RADIUS",
    "RADIUS",
    "Along",
    "BeyondCut",
    "ClippedSum",
    "Count",
    "CountBelow",
    "Cross",
    "Cut",
    "EdgesGrid",
    "FarthestHistogram",
    "Gram",
    "Histogram",
    "Layer",
    "LinearGrid",
    "MagnitudeGrid",
    "Magnitudes",
    "NormHistogram",
    "Norms",
    "OneSidedSum",
    "Pairs",
    "PooledHistogram",
    "Products",
    "Query",
    "Ranks",
    "ResidualGram",
    "Rotated",
    "Selected",
    "Together",
    "Turned",
    "WholeRows",
    "radius_over",
    "rotate_back",
]
