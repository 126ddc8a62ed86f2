"""Covariances of flags and of other columns within public bounds, against the plain mechanism.

    python benchmarks/bounded.py [--runs 10] [--only TEXT]

The plain mechanism adds noise to the Gram matrix of a constant and the rows around the middle of
their bounds, no row of which is longer than a public number. A figure is the error of an entry in
units of the columns' standard deviations, on the diagonal and beside it, against the covariance of
the rows themselves: the mean of the absolute values, of the plain mechanism, of Prolate, and of
Prolate where it is told no bounds. In brackets: how many of a hundred 95 % intervals hold the
rows' own covariance (more than 95, as they allow for sampling, too). Budget: epsilon 1, delta 1e-6.
"""

from __future__ import annotations

import argparse

import numpy as np

import prolate

BUDGET = prolate.Budget(epsilon=1, delta=1e-6)
SIZES = [(2, 2_000), (2, 30_000), (5, 5_000), (5, 100_000), (20, 10_000), (20, 200_000)]


def flags(*parts):
    return lambda rng, n, d: rng.random((n, d)) < np.resize(parts, d)


def one_hot(rng, n, d):
    part = 1.0 / np.arange(1, d + 2)
    level = rng.choice(d + 1, n, p=part / part.sum())
    return np.eye(d + 1)[level][:, :d] > 0.0


def alike(rng, n, d):
    return 0.8 * rng.normal(size=(n, 1)) + 0.6 * rng.normal(size=(n, d))


# Rows, and the bounds that are public; None for booleans.
TABLES = {
    "flags of 50 to 2 %": (flags(0.5, 0.3, 0.1, 0.05, 0.02), None),
    "flags of 5 to .2 %": (flags(0.05, 0.02, 0.01, 0.005, 0.002), None),
    "one-hot": (one_hot, None),
    "flags alike": (lambda rng, n, d: alike(rng, n, d) > np.resize([0.0, 1.0, 1.5], d), None),
    "answers 1 to 5": (
        lambda rng, n, d: rng.choice([1.0, 2, 3, 4, 5], p=[0.1, 0.1, 0.2, 0.3, 0.3], size=(n, d)),
        (1, 5),
    ),
    "0 to 1, even": (lambda rng, n, d: rng.random((n, d)), (0, 1)),
    "0 to 1, skewed": (lambda rng, n, d: rng.beta(0.5, 3.0, (n, d)), (0, 1)),
    "ages in 0 to 120": (lambda rng, n, d: np.clip(45 + 15 * alike(rng, n, d), 0, 120), (0, 120)),
}


def plain(rows, lower, upper, rng):
    half, n, d = (upper - lower) / 2.0, len(rows), rows.shape[1]
    u = np.column_stack([np.ones(n), (rows - lower) / half - 1.0])
    std = np.sqrt(2.0) * (1.0 + d) / BUDGET.mu
    noise = np.triu(rng.normal(0.0, std / np.sqrt(2.0), (d + 1, d + 1)), 1)
    noise = noise + noise.T + np.diag(rng.normal(0.0, std, d + 1))
    whole = (u.T @ u + noise) / n
    return half**2 * (whole[1:, 1:] - np.outer(whole[0, 1:], whole[0, 1:]))


def figures(errors, held=None):
    mean = np.mean(errors, axis=0)
    text = f"{mean[0]:.4f}, {mean[1]:.4f}"
    return text if held is None else f"{text} ({100 * np.mean(held):.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", default="")
    chosen = parser.parse_args()
    print(
        "| table | d | n | plain mechanism | Prolate | told no bounds |\n|---|---|---|---|---|---|"
    )
    for name, (make, bounds) in TABLES.items():
        for d, n in SIZES:
            if chosen.only not in f"{name}, {d}, {n}":
                continue
            of = {"plain": [], "known": [], "unknown": []}
            held = {"known": [], "unknown": []}
            for seed in range(chosen.runs):
                rng = np.random.default_rng(seed)
                rows = make(rng, n, d)
                numbers = rows.astype(float)
                true = np.cov(numbers.T, bias=True)
                spread = np.sqrt(np.maximum(np.diag(true), 1e-9))

                def error(estimate, true=true, spread=spread, d=d):
                    off = np.abs(estimate - true) / np.outer(spread, spread)
                    return np.mean(np.diag(off)), np.mean(off[~np.eye(d, dtype=bool)])

                of["plain"].append(error(plain(numbers, *(bounds or (0.0, 1.0)), rng)))
                for key, table, limits in (
                    ("known", rows, bounds),
                    ("unknown", numbers, None),
                ):
                    r = prolate.covariance(table, bounds=limits, budget=BUDGET, seed=seed)
                    of[key].append(error(r.estimate))
                    ends = r.interval()
                    held[key].append(np.mean((ends[..., 0] <= true) & (true <= ends[..., 1])))
            print(
                f"| {name} | {d} | {n:,} | {figures(of['plain'])} | "
                f"{figures(of['known'], held['known'])} | "
                f"{figures(of['unknown'], held['unknown'])} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
