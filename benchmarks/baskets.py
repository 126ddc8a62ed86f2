"""Half the l1 error on baskets, ours and PLAN's for binary data.

    python benchmarks/baskets.py [--data ../shared/data/sparse] [--runs 9] [--only TEXT] [--iome]

Real baskets are read from Parquet files of (row_id, col_id) in the folder given, whole and
cut down to their most popular items; without it, only synthetic ones are measured. Printed
are medians, ours over PLAN's, and our worst run over the median; with --iome, ours over
IOME's, too, of data of at most 2,048 items (IOME takes seconds to a minute a run there, and
the better part of an hour where items are 17,000).
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import scipy.sparse as sp

import prolate
from prolate.curator import Curator
from prolate.rivals import iome, plan_binary
from prolate.sources import open_source

SHAPES = {
    "groceries": (9835, 169),
    "bms_webview1": (59602, 497),
    "kosarak_prefix": (36682, 17034),
    "retail": (88162, 16470),
}
POPULAR = {"groceries": 60, "kosarak_prefix": 300, "retail": 400}
WIDEST = 2048  # items of the data that IOME is asked


def baskets(folder: Path) -> Iterator[tuple[str, sp.csr_matrix]]:
    for name, shape in SHAPES.items():
        path = folder / f"{name}.parquet"
        if path.is_file():
            table = pq.read_table(path)
            places = (table["row_id"].to_numpy(), table["col_id"].to_numpy())
            rows = sp.csr_matrix((np.ones(table.num_rows), places), shape=shape)
            yield name, rows
            if name in POPULAR:
                items = np.argsort(-np.asarray(rows.sum(axis=0)).ravel(), kind="stable")
                yield f"{name}, top {POPULAR[name]}", rows[:, items[: POPULAR[name]]]
    for d in (512, 1024, 2048):
        often = np.where(np.arange(d) < 0.1 * d, 0.5, 0.01)
        rows = np.random.default_rng(0).random((4096, d)) < often
        yield f"synthetic {d}", sp.csr_matrix(rows.astype(float))
    yield "zipf 300", zipf(30000, 0.3 / np.arange(1, 301) ** 0.8)
    yield "zipf 1000, steep", zipf(20000, 0.6 / np.arange(1, 1001) ** 1.2)
    yield "ten items each", ten_each(12000, 300)
    yield "six kinds of buyers", kinds(15000, 250)


def zipf(n: int, often: np.ndarray) -> sp.csr_matrix:
    """Baskets of very different sizes: each row's chances are multiplied by its own factor."""
    rng = np.random.default_rng(0)
    factor = rng.exponential(size=(n, 1))
    return sp.csr_matrix((rng.random((n, often.size)) < factor * often).astype(float))


def ten_each(n: int, d: int) -> sp.csr_matrix:
    """Baskets of ten items each."""
    often = 1.0 / np.arange(1, d + 1) ** 0.8
    # The ten largest of these numbers are ten items drawn one after the other.
    drawn = np.log(often) + np.random.default_rng(0).gumbel(size=(n, d))
    tenth = np.sort(drawn, axis=1)[:, -10, np.newaxis]
    return sp.csr_matrix((drawn >= tenth).astype(float))


def kinds(n: int, d: int) -> sp.csr_matrix:
    """Baskets of six kinds of buyers, each with likings of its own."""
    rng = np.random.default_rng(0)
    liking = np.exp(1.5 * rng.normal(size=(6, d)))
    often = np.minimum(0.8, 0.15 / np.arange(1, d + 1) ** 0.7 * liking)
    return sp.csr_matrix((rng.random((n, d)) < often[rng.integers(0, 6, n)]).astype(float))


def ours(rows: sp.csr_matrix, budget: prolate.Budget) -> np.ndarray:
    return prolate.mean(rows, budget=budget, error_norm=1).estimate


def plans(rows: sp.csr_matrix, budget: prolate.Budget) -> np.ndarray:
    return plan_binary(Curator(open_source(rows), budget)).value


def iomes(rows: sp.csr_matrix, budget: prolate.Budget) -> np.ndarray:
    """A row of ones and zeros is no longer than the root of its columns, which IOME is told."""
    curator = Curator(open_source(rows), budget)
    return iome(curator, longest=math.sqrt(rows.shape[1])).value


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data/sparse"))
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only", default="", help="data whose name contains this")
    parser.add_argument("--iome", action="store_true", help="slow where items are many")
    options = parser.parse_args()
    for name, rows in baskets(options.data):
        if options.only not in name:
            continue
        methods = {"ours": ours, "PLAN": plans}
        if options.iome and rows.shape[1] <= WIDEST:
            methods["IOME"] = iomes
        truth = np.asarray(rows.mean(axis=0)).ravel()
        for rho in (1, 0.5, 0.25, 0.125, 0.0625):
            budget = prolate.Budget(rho=rho)
            errors = {method: [] for method in methods}
            for _ in range(options.runs):
                for method, estimate in methods.items():
                    errors[method].append(0.5 * np.abs(estimate(rows, budget) - truth).sum())
            medians = {method: np.median(found) for method, found in errors.items()}
            shown = "  ".join(f"{method} {median:8.4g}" for method, median in medians.items())
            first, *others = medians.values()
            ratios = " ".join(f"{first / other:.2f}" for other in others)
            worst = max(errors["ours"]) / first
            print(f"{name:24} rho={rho:<7g} {shown}  ratio {ratios}  worst {worst:.2f}", flush=True)


if __name__ == "__main__":
    main()
