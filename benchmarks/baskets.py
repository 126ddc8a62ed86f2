"""Half the l1 error on baskets, ours and PLAN's for binary data.

python benchmarks/baskets.py [--data ../shared/data/sparse] [--runs 5]

Real baskets are read from Parquet files of (row_id, col_id) in the folder given; without
it, only the synthetic ones of PLAN's paper are measured.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import scipy.sparse as sp

import prolate
from prolate.curator import Curator
from prolate.rivals import plan_binary
from prolate.sources import open_source

SHAPES = {
    "groceries": (9835, 169),
    "bms_webview1": (59602, 497),
    "kosarak_prefix": (36682, 17034),
    "retail": (88162, 16470),
}


def baskets(folder: Path):
    for name, shape in SHAPES.items():
        path = folder / f"{name}.parquet"
        if path.is_file():
            table = pq.read_table(path)
            places = (table["row_id"].to_numpy(), table["col_id"].to_numpy())
            yield name, sp.csr_matrix((np.ones(table.num_rows), places), shape=shape)
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/sparse"))
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    for name, rows in baskets(options.data):
        truth = np.asarray(rows.mean(axis=0)).ravel()
        for rho in (1, 0.5, 0.25, 0.125, 0.0625):
            budget = prolate.Budget(rho=rho)
            ours, plans = [], []
            for _ in range(options.runs):
                release = prolate.mean(rows, budget=budget, error_norm=1)
                ours.append(0.5 * np.abs(release.estimate - truth).sum())
                other = plan_binary(Curator(open_source(rows), budget))
                plans.append(0.5 * np.abs(other.value - truth).sum())
            ratio = np.median(ours) / np.median(plans)
            print(
                f"{name:16} rho={rho:<7g} ours {np.median(ours):8.4g}  "
                f"PLAN {np.median(plans):8.4g}  ratio {ratio:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
