"""Half the l1 error on baskets, ours and PLAN's for binary data.

    python benchmarks/baskets.py [--data ../shared/data/sparse] [--runs 5] [--only TEXT] [--iome]

Real baskets are read from Parquet files of (row_id, col_id) in the folder given, whole and
cut down to their most popular items; without it, only synthetic ones are measured. Printed
are medians, and ours over PLAN's; with --iome, ours over IOME's after it.
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


def zipf(n: int, often: np.ndarray) -> sp.csr_matrix:
    """Baskets of very different sizes: each row's chances are multiplied by its own factor."""
    rng = np.random.default_rng(0)
    factor = rng.exponential(size=(n, 1))
    return sp.csr_matrix((rng.random((n, often.size)) < factor * often).astype(float))


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
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help="data whose name contains this")
    parser.add_argument("--iome", action="store_true", help="slow where items are many")
    options = parser.parse_args()
    methods = {"ours": ours, "PLAN": plans} | ({"IOME": iomes} if options.iome else {})
    for name, rows in baskets(options.data):
        if options.only not in name:
            continue
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
            print(f"{name:24} rho={rho:<7g} {shown}  ratio {ratios}", flush=True)


if __name__ == "__main__":
    main()
