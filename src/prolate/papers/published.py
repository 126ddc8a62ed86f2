"""The published numbers, from the folder that holds them as CSV files, where it is there.

``plan_published.csv`` has the errors of the authors' own runs, and
``plan_published_vs_oracle.csv`` their noise errors: distances to the samples' own means,
inferred from pairs of runs on the same data.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

from prolate.errors import InputError
from prolate.papers.settings import Setting

__all__ = ["Published"]

_EXPERIMENTS = {
    "A": "gaussianA",
    "B": "gaussianB",
    "C": "gaussianC",
    "Binary": "synthetic",
    "Kosarak": "kosarak",
    "POS": "POS",
}
_FILES = ("Kosarak", "POS")
_ERRORS, _NOISE = "plan_published.csv", "plan_published_vs_oracle.csv"
_CLEAR = 0.25  # an inferred noise error counts if its 2 standard errors are within this part

Key = tuple[str, str, int, int, float, float]


class Published:
    """Published errors by setting and algorithm.

    Parameters
    ----------
    folder : path, optional
        None, for no published numbers.

    Attributes
    ----------
    notes : list of str
        Grows with what has been looked up.

    Raises
    ------
    InputError
        If `folder` does not hold the files, or they are not what they should be.
    """

    def __init__(self, folder: Path | None) -> None:
        self.notes: list[str] = []
        self._errors: dict[Key, float] = {}
        self._noise: dict[Key, float] = {}
        if folder is None:
            return
        try:
            for row in _read(folder / _ERRORS):
                key = _key(row, row["algorithm"], row["skew"] or row["ratio"])
                self._errors[key] = float(row["err_mean"])
            for row in _read(folder / _NOISE):
                noise, low, high = (
                    float(row[f"noise_{part}"]) for part in ("rms_paired", "lo", "hi")
                )
                if noise > 0.0 and max(noise - low, high - noise) <= _CLEAR * noise:
                    self._noise[_key(row, row["alg"], row["skew"])] = noise
        except (OSError, KeyError, ValueError) as error:
            raise InputError(
                f"The folder of published numbers {str(folder)!r} needs readable files {_ERRORS} "
                f"and {_NOISE} with their columns; leave --anchors out to do without."
            ) from error

    def error(self, setting: Setting, algorithm: str) -> float | None:
        """Return an algorithm's published mean distance to the true mean, or None."""
        if setting.data in _FILES:
            return None
        return self._found(self._errors, setting, algorithm, "published: the authors' own runs.")

    def noise(self, setting: Setting, algorithm: str) -> float | None:
        """Return an algorithm's published mean distance to the sample's own mean, or None."""
        if setting.data in _FILES:
            note = "published: the authors' own runs, IOME's two, the others' twenty."
            return self._found(self._errors, setting, algorithm, note)
        note = (
            "published noise: distance to the samples' own means, inferred from the authors' "
            "runs; empty where these do not determine it."
        )
        return self._found(self._noise, setting, algorithm, note)

    def _found(
        self, numbers: dict[Key, float], setting: Setting, algorithm: str, note: str
    ) -> float | None:
        experiment = _EXPERIMENTS.get(setting.data, "")
        key = (experiment, algorithm, setting.n, setting.d, setting.rho, setting.alpha)
        found = numbers.get(key)
        if found is not None and note not in self.notes:
            self.notes.append(note)
        return found


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _key(row: dict[str, str], algorithm: str, alpha: str) -> Key:
    skew = float(alpha) if alpha else 0.0
    n, d, rho = int(row["n"]), int(row["d"]), float(row["rho"])
    return row["experiment"], algorithm, n, d, rho, 0.0 if math.isnan(skew) else skew
