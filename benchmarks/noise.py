"""Exact Gaussian integers per second of one core: python benchmarks/noise.py"""

from __future__ import annotations

import statistics
import time

import numpy as np

from prolate.compiled import WORK
from prolate.noise import SystemBits, rounded_gaussian

SIZE = 2_000_000


def main() -> None:
    WORK.enough = WORK.plenty = -1  # the steady state: loops are loaded
    rounded_gaussian(2**34, SIZE, SystemBits())
    ours, numpys = [], []
    generator = np.random.default_rng()
    for _ in range(7):
        start = time.process_time()
        rounded_gaussian(2**34, SIZE, SystemBits())
        ours.append(time.process_time() - start)
        start = time.process_time()
        generator.standard_normal(SIZE)
        numpys.append(time.process_time() - start)
    exact, inexact = statistics.median(ours), statistics.median(numpys)
    print(f"exact, from the system's generator: {SIZE / exact / 1e6:6.1f} million / s")
    print(f"NumPy's, inexact and predictable:   {SIZE / inexact / 1e6:6.1f} million / s")
    print(f"ratio {exact / inexact:.1f}")


if __name__ == "__main__":
    main()
