"""Regression and the steps of scikit-learn's pipelines, on tables and arguments of any kind.

As in `test_functions`, a case runs on two tables that differ in their values alone, and ends
in the same way. What was learned is finite, can be stored and cloned, and works on any rows of
the same features.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fuzz.arguments import ARGUMENTS, arguments, both, bounds, budgets, fresh, good, made, tables
from fuzz.arguments import numbers_and_table as known
from fuzz.harness import cases, check_learned, check_sentence, limit, outcome
from fuzz.tables import NAMES
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn", minversion="1.6", reason="needs scikit-learn 1.6 or later")

import sklearn.base

import prolate
from prolate import Budget, InputError
from prolate.sklearn import LinearRegression, PrivateMean, PrivateScaler

BIG = Budget(mu=1e4)
LINE: dict[str, Any] = {
    "method": ["auto", "ssp", "adassp", "adassp-fixed", "best", "", None, 3, ["ssp"], {}],
    "accounting": ["joint", "basic", "", None, 1, ["joint"]],
    "fit_intercept": [True, False, 0, "no", None, [], np.bool_(False)],
    "alpha": [None, 0, 1e-9, 1.0, 1e308, -1.0, math.nan, math.inf, "1", True, [1], 10**400, 1j],
}
features = st.sampled_from([
    None, None, None, None, "a", "x0", "", ["x0"], ["x0", "x0"], [], (), ["zz"], 0, [0], [None],
    b"x0", {"x0"}, {"x0": 1}, iter(["x0"]), True, 1.5, [["x0"]], np.array(["x0"]), ["y"], object(),
])  # fmt: skip
targets = st.sampled_from([
    "", "zz", None, 0, 1.5, True, b"y", ["y"], ("y",), {}, np.str_("x0"), object(), "\ud800", "\0",
    "x" * 1000,
])  # fmt: skip
usual = st.one_of(st.just({"mu": 1.0}), st.just({"mu": 1.0}), budgets)


@cases(70)
@given(tables, st.integers(0, 5), targets, features, usual, bounds,
       arguments({**LINE, **LINE, **ARGUMENTS}), st.booleans())  # fmt: skip
def test_regress(table, place, odd, chosen, budget, limits, more, quick) -> None:
    """The target is one of the columns, as a rule; the quick method is one of the papers'."""
    target = (*table[1], "x0", "x1")[place] if place < len(table[1]) + 2 else odd
    options = {"features": chosen, "bounds": limits, "seed": 1, **more}
    if quick:
        options.setdefault("method", "ssp")

    def make(data: Any) -> Any:
        return prolate.regress(data, target, budget=Budget(**budget), **fresh(options))

    both(make, table)


named = st.sampled_from(["pandas", "nullable", "arrow", "chunks", "stream", "polars", "runs"])


@cases(8)
@given(good.filter(lambda table: len(table[1]) > 1), named,
       st.sampled_from(["replace", "add-remove"]))  # fmt: skip
def test_lines_are_right(table, container, neighbors) -> None:
    dtype = table[2] if table[2] not in ("f2", "g") else "f8"  # of which no table is made
    x, data = known((*table[:2], dtype, "c", container, "plain", *table[6:]))
    release = outcome(
        lambda: prolate.regress(data, table[1][-1], budget=BIG, neighbors=neighbors, seed=1)
    )
    whole = np.column_stack([x[:, :-1], np.ones(len(x))])
    line, _, rank, _ = np.linalg.lstsq(whole, x[:, -1], rcond=None)
    if rank == whole.shape[1]:
        miss = whole @ (release.estimate - line)
        # A slope that hangs on a single row is as uncertain as the release says.
        stated = np.hypot(np.minimum(release.noise_std, 1e300), release.sampling_std)
        assert np.std(miss) <= 0.2 * np.std(x[:, -1]) + 6 * np.max(stated)


STEPS: dict[str, Any] = {
    "epsilon": [1.0, None, 0, -1, math.nan, "1", True, [1], 1e-300, 10**400],
    "delta": [1e-6, None, 0, 1, math.nan, "x", [1e-6], 1e-300],
    "rho": [None, 0.5, 0, "1", math.inf, 1j],
    "mu": [None, 1.0, 1e4, -1, math.nan, {}, np.float32(1)],
    "bounds": [None, (0, 1), (-1e300, 1e300), (1, 0), {"x0": (0, 1)}, {"zz": (0, 1)}, 7, "ab"],
    "neighbors": ARGUMENTS["neighbors"],
    "ledger": ARGUMENTS["ledger"],
    "seed": ARGUMENTS["seed"],
}
kinds = st.sampled_from([PrivateMean, PrivateMean, PrivateScaler, LinearRegression])
targets_beside = st.sampled_from([
    "line", "line", "line", None, "x0", "zz", [], [1.0], "text", [[1.0, 2.0]], {}, 7, object(),
])  # fmt: skip


def beside(kind: Any, y: Any, data: Any) -> Any:
    """Return what is handed over as the target."""
    if kind is not LinearRegression or not isinstance(y, str) or y in ("zz", "x0"):
        return y
    size = data.shape[0] if hasattr(data, "shape") else len(data) if hasattr(data, "__len__") else 0
    return np.arange(float(size)) if y == "line" else np.full(size, "a")


@cases(45)
@given(kinds, tables, arguments(STEPS), targets_beside)
def test_steps_of_pipelines(kind, table, given, y) -> None:
    given = {"seed": 1, **({} if given.keys() & {"epsilon", "delta"} else {"mu": 1.0}), **given}

    def make(data: Any) -> Any:
        step = kind(**{"epsilon": None, "delta": None, **given})
        assert repr(step)
        assert sklearn.base.clone(step).get_params().keys() == step.get_params().keys()
        step.fit(data, beside(kind, y, data))
        check_learned(step)
        again = pickle.loads(pickle.dumps(step))
        assert np.array_equal(again.release_.estimate, step.release_.estimate)
        return step.release_

    both(make, table)


def answer(ask: Callable[[], Any]) -> Any:
    """Return what a call gives, or the sentence, or the warning, in its place."""
    with limit():
        try:
            return ask()
        except (InputError, UserWarning) as error:
            # Lists of names, as scikit-learn wants them, have a line for each.
            return check_sentence(" ".join(str(error).split()).removesuffix(".") + ".")


@cases(15)
@given(st.sampled_from([PrivateMean, LinearRegression]), tables, tables, st.booleans())
def test_learned_steps_meet_other_rows(kind, table, other, same) -> None:
    """Of the same features there is a number for each, or a missing one; of others, a sentence."""
    data = made((40, *table[1:]), 0)
    step = kind(mu=1.0, epsilon=None, delta=None, seed=1)
    if isinstance(answer(lambda: step.fit(data, beside(kind, "line", data))), str):
        return
    rows = made((max(other[0], 1), *table[1:]), 1) if same else made(other, 1)
    line = kind is LinearRegression
    for use in [step.predict] if line else [step.transform, step.inverse_transform]:
        found = answer(lambda use=use: use(rows))
        if isinstance(found, str):
            assert not same, found
        else:
            assert found.shape[1:] == (() if line else (step.n_features_in_,))
            assert found.dtype == np.float64


@cases(25)
@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4), st.sampled_from([
    None, [], ["a"], "a", 7, [None], {}, [["a"]], np.array(["a", "b"]), [1, 2], object(),
    iter("ab"), 1.5,
]), st.booleans())  # fmt: skip
def test_names_of_features(names, asked, named) -> None:
    step = PrivateMean(mu=1.0, epsilon=None, delta=None, seed=1)
    frame = pd.DataFrame(np.zeros((9, len(names))))
    frame.columns = pd.Index(names if named else range(len(names)), dtype=object)
    fitted = answer(lambda: step.fit(frame))
    if isinstance(fitted, str):
        assert "More than one column" in fitted
        return
    found = answer(lambda: step.get_feature_names_out(fresh({"names": asked})["names"]))
    if isinstance(found, str):
        assert "input_features" in found
    else:
        plain = [f"x{j}" for j in range(len(names))]
        assert found.tolist() == (names if named else plain if asked is None else list(asked))


def test_a_penalty_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(InputError, match="alpha must be"):
        LinearRegression(alpha=10**400).fit(np.ones((3, 1)), np.ones(3))
