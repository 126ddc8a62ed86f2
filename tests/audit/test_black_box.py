"""Black-box audits of whole releases: one row moves from extreme to extreme, or goes.

Each of two neighbors is released many times. What is looked at is everything that a release
says and, which is more than anybody gets, every measurement behind it in units of its noise.
A linear test and a trained classifier are fitted on half of the runs and tried on the others;
the likelihood ratio of all measurements needs no fitting. `audit.testers` says what each of
them proves; that must not be more than the budget. At most 2,000 bounds are taken, each wrong
with probability 1e-12 or less: false alarm 2e-9 with --long, below 1e-10 without.

With r runs on trial a side, no tester sees more than about mu = 2 Phi^-1(1 - 28 / r). So the
few runs of whole releases that are quick would only find gross faults; noise of half the size
is found in the 400 runs of --long, and in the many of a single measurement, by every tester.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from audit import testers
from audit.recorder import record
from audit.subjects import CASES, SOURCES, SUBJECTS
from audit.testers import Sides

from prolate import Budget
from prolate.noise import SystemBits, rounded_gaussian
from prolate.queries import ClippedSum, Cross, Query

# The row that goes takes its secret bits along, so the other side's answers are not known.
HALF_KNOWN = [(n, "add-remove") for n in SUBJECTS if "of a sample" in n or "in parts" in n]
SCORES = {"linear": testers.linear, "forest": testers.forest}


def runs_of(
    name: str,
    relation: str,
    pair: str,
    budget: Budget,
    runs: int,
    patch: pytest.MonkeyPatch,
    *,
    form=None,
) -> tuple[Sides, Sides]:
    """Return the features of every run of both sides, and its likelihood ratio's logarithm."""
    subject = SUBJECTS[name]
    sides = subject.neighbors(pair, relation)
    if form is not None:
        sides = tuple(form(side, rows) for side, rows in enumerate(sides))
    features: list[list[np.ndarray]] = [[], []]
    ratios: Sides = [np.zeros(runs), np.zeros(runs)]
    for side, run in itertools.product((0, 1), range(runs)):
        tape = record(
            subject.make, sides[side], sides[1 - side], patch, budget=budget, neighbors=relation
        )
        release = tape.release
        said = [release.estimate.ravel(), [release.n], [e.noise_std for e in release.receipt]]
        said += [a.ravel() for a in (release.noise_std, release.sampling_std) if a is not None]
        said += [step.result.values / step.result.std for step in tape.steps]
        features[side].append(np.concatenate(said))
        ratios[side][run] = (1 - 2 * side) * sum(step.likelihood for step in tape.measured)
    return table(features), ratios


def table(features: list[list[np.ndarray]]) -> Sides:
    """Put runs of different lengths into arrays, zeros where something was not measured."""
    width = max(run.size for side in features for run in side)
    return [
        np.clip([np.pad(run, (0, width - run.size)) for run in side], -1e30, 1e30)
        for side in features
    ]


def judged(features: Sides, ratios: Sides, budget: Budget) -> dict[str, float]:
    """Return what each tester proves, over what is allowed."""
    halves = testers.halves(features)
    scored = {kind: score(*halves) for kind, score in SCORES.items()}
    # The ratio is nobody's fit: all runs are on trial, and its threshold is 0.
    shown = {"likelihood": testers.between_rates(ratios, 0.0) / budget.mu}
    for kind, sides in scored.items():
        shown[f"{kind}, error rates"] = testers.by_error_rates(*sides) / budget.mu
        shown[f"{kind}, Renyi"] = testers.by_renyi(*sides) / budget.rho
        for epsilon in (0.0, budget.rho):
            proved = testers.by_hockey_stick(*sides, epsilon)
            shown[f"{kind}, hockey-stick at {epsilon:.2g}"] = proved / budget.delta_at(epsilon)
    if budget.composition == "zcdp":  # which says nothing of error rates
        shown = {kind: value for kind, value in shown.items() if "," in kind}
        shown = {kind: value for kind, value in shown.items() if "rates" not in kind}
    return shown


def audit(
    name: str,
    relation: str,
    pair: str,
    budget: Budget,
    runs: int,
    patch: pytest.MonkeyPatch,
    **options,
) -> float:
    """Return the most that any tester proves, over what is allowed."""
    allowed = budget.for_zcdp() if "exponential" in name else budget
    shown = judged(*runs_of(name, relation, pair, budget, runs, patch, **options), allowed)
    if (name, relation) in HALF_KNOWN:
        shown.pop("likelihood", None)
    figures = ", ".join(f"{value:.2f} by {kind}" for kind, value in shown.items())
    print(f"{name}, {relation}, {pair}, mu = {budget.mu:.2f}: of what is allowed, {figures}")
    return max(shown.values())


@pytest.mark.parametrize(
    ("name", "relation", "pair", "mu", "runs"),
    [
        ("sum", "replace", "corners", 1.0, 400),
        ("sum", "add-remove", "corners", 4.0, 400),
        ("mean", "replace", "corners", 0.7, 80),
        ("mean", "add-remove", "corners", 0.7, 80),
        ("quantile", "replace", "corners", 0.7, 80),
        ("regression", "replace", "features flip", 0.5, 40),
    ],
)
def test_black_box(name, relation, pair, mu, runs, monkeypatch) -> None:
    assert audit(name, relation, pair, Budget(mu=mu), runs, monkeypatch) <= 1.0


@pytest.mark.long
@pytest.mark.parametrize(("name", "relation"), CASES)
def test_black_box_in_many_runs(name, relation, monkeypatch) -> None:
    pair = "features flip" if relation == "replace" else "corners"
    runs = 100 if SUBJECTS[name].slow else 400
    budget = Budget(epsilon=8, delta=1e-6)  # mu is 1.5
    assert audit(name, relation, pair, budget, runs, monkeypatch) <= 1.0


@pytest.mark.long
@pytest.mark.parametrize("source", list(SOURCES))
@pytest.mark.parametrize(
    ("name", "relation"), [("sum", "replace"), ("mean", "add-remove"), ("regression", "replace")]
)
def test_black_box_from_files_and_tables(name, relation, source, tmp_path, monkeypatch) -> None:
    def form(side: int, rows: np.ndarray) -> object:
        return SOURCES[source](tmp_path / str(side), rows)

    shown = audit(name, relation, "corners", Budget(mu=1.5), 150, monkeypatch, form=form)
    assert shown <= 1.0


def hurt(query: type[Query], patch: pytest.MonkeyPatch) -> None:
    honest = query.sensitivity_squared
    patch.setattr(query, "sensitivity_squared", lambda self, relation: honest(self, relation) // 4)


# Many runs of one measurement: all but the noise is frozen.


def noisy(
    name: str, relation: str, mu: float, runs: int, patch: pytest.MonkeyPatch
) -> dict[str, float]:
    """Return what each tester proves about a release that is a single measurement."""
    subject, budget = SUBJECTS[name], Budget(mu=mu)
    rows, other = subject.neighbors("corners", relation)
    tape = record(subject.make, rows, other, patch, budget=budget, neighbors=relation)
    [step], [(scale, _)] = tape.measured, tape.noise
    size, gap = step.here.size, (step.there - step.here).astype(float)
    noise = rounded_gaussian(scale, 2 * runs * size, SystemBits()).reshape(2, runs, size)
    noise = noise * (step.result.std / scale)  # in the steps of the sum
    features = [noise[0], noise[1] + gap]
    ratios = [(side - 0.5 * gap) @ gap for side in features]
    shown = judged(features, ratios, budget)
    print(f"{name}, mu = {mu:g}:", ", ".join(f"{v:.2f} by {k}" for k, v in shown.items()))
    return shown


def test_nearly_all_of_a_budget_is_there_to_be_seen(monkeypatch) -> None:
    shown = noisy("sum, plain", "replace", 1.0, 30_000, monkeypatch)
    assert max(shown.values()) <= 1.0
    assert shown["likelihood"] > 0.8
    assert min(value for kind, value in shown.items() if "rates" in kind) > 0.65
    assert min(shown.values()) > 0.3


def test_every_tester_finds_noise_of_half_the_size(monkeypatch) -> None:
    hurt(ClippedSum, monkeypatch)
    shown = noisy("sum, plain", "replace", 0.5, 30_000, monkeypatch)
    assert min(shown.values()) > 1.0, shown


@pytest.mark.parametrize("query", [ClippedSum, Cross])
def test_whole_releases_of_half_the_noise_are_found(query, monkeypatch) -> None:
    hurt(query, monkeypatch)
    case = {
        ClippedSum: ("sum, plain", "replace", "corners", Budget(mu=1.5), 700),
        Cross: ("adassp", "replace", "at an angle", Budget(mu=1.5), 700),
    }[query]
    assert audit(*case, monkeypatch) > 1.0
