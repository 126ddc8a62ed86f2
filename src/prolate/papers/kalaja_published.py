"""Wang's numbers for the figures of Kalaja's thesis that repeat his experiments."""

from __future__ import annotations

import csv
from pathlib import Path

from prolate.errors import InputError

__all__ = ["WangResults"]

_RERUN, _RESULTS = "regression_adassp_octave.csv", "regression_wang_published.csv"
_IN_RERUN = {
    "trivial": "trivial",
    "ridge_lambda1": "ridge",
    "SSP_wang": "SSP",
    "AdaSSP_wang": "AdaSSP",
}
_IN_RESULTS = {"trivial": "trivial", "non-private": "ridge", "SSP": "SSP", "AdaSSP": "AdaSSP"}
_NO_BUDGET = ("trivial", "ridge")
_NOTE = (
    "published: the mean of ten cross-validations with Wang's own code, or else, where there is "
    "none, his own result, of one cross-validation. SSP's mean hangs on single folds."
)

Key = tuple[str, str, float]


class WangResults:
    """Wang's errors by data set, method and epsilon, at delta = 1e-6.

    Parameters
    ----------
    folder : path, optional
        None, or a folder without his files, for no numbers.

    Attributes
    ----------
    notes : list of str
        What the numbers are, once one has been looked up.

    Raises
    ------
    InputError
        If a file is there and is not what it should be.
    """

    def __init__(self, folder: Path | None) -> None:
        self.notes: list[str] = []
        self._errors: dict[Key, float] = {}
        if folder is None:
            return
        for name, column, names in (
            (_RESULTS, "cv_mse", _IN_RESULTS),
            (_RERUN, "mean", _IN_RERUN),  # read last: it counts where both have a number
        ):
            if (folder / name).is_file():
                self._errors.update(_read(folder / name, column, names))

    def error(self, data: str, method: str, epsilon: float) -> float | None:
        """Return the error of a method, or None."""
        found = self._errors.get((data, method, 0.0 if method in _NO_BUDGET else epsilon))
        if found is not None and not self.notes:
            self.notes.append(_NOTE)
        return found


def _read(path: Path, column: str, names: dict[str, str]) -> dict[Key, float]:
    found: dict[Key, float] = {}
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                if row["method"] not in names or row.get("delta_rule") == "n^-1.1":
                    continue
                method = names[row["method"]]
                epsilon = 0.0 if method in _NO_BUDGET else float(row["eps"])
                found[row["dataset"], method, epsilon] = float(row[column])
    except (OSError, KeyError, ValueError) as error:
        raise InputError(
            f"{str(path)!r} needs the columns dataset, method, eps and {column}; leave --anchors "
            "out to do without."
        ) from error
    return found
