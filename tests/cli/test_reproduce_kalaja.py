"""`prolate reproduce kalaja-...`: what the figures compare, and what they say is private."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from prolate import papers
from prolate.cli import main
from prolate.errors import InputError
from prolate.papers import kalaja, kalaja_data
from prolate.papers.kalaja_methods import SOLVERS, Solver
from prolate.papers.kalaja_preprocessing import Rows
from prolate.papers.kalaja_published import WangResults

NAMES = [f"kalaja-4.{number}" for number in range(1, 9)]
SETS = {"airfoil": 2, "elevators": 4}
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of tiny sets with names that the figures want."""
    folder = tmp_path_factory.mktemp("uci")
    rng = np.random.default_rng(3)
    for name, d in SETS.items():
        x = rng.normal(5.0, 2.0, (120, d))
        y = 20.0 + x.sum(axis=1) + rng.normal(size=120)
        columns = {f"x{j}": x[:, j] for j in range(d)} | {"y": y}
        parquet.write_table(pa.table(columns), folder / f"{name}.parquet")
    return folder


@pytest.fixture
def instant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take two sets, and least squares in our method's place: these tests are about the others."""
    monkeypatch.setattr(kalaja, "_SETS", tuple(SETS))

    def line(rows: Rows, _epsilon: float) -> tuple[np.ndarray, float]:
        ones = np.ones((rows.y.size, 1))
        found = np.linalg.lstsq(np.hstack((rows.x, ones)), rows.y, rcond=None)[0]
        return found[:-1], float(found[-1])

    monkeypatch.setitem(SOLVERS, "Prolate", Solver(line, as_is=True))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.delenv("PROLATE_DEBUG", raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # so that `instant` counts

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main(["reproduce", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def by_curve(table: papers.Table) -> dict[str, dict[str, object]]:
    return {str(record["curve"]): record for record in table.records()}


_CLIPPED = [
    "ridge, not clipped", "AdaSSP fixed, not clipped", "c = 1.3", "c = 1.6", "c = 2", "c = 3",
]  # fmt: skip
CURVES = {
    "kalaja-4.1": ["ridge", "SSP", "SSP fixed"],
    "kalaja-4.2": ["ridge", "AdaSSP", "AdaSSP fixed"],
    "kalaja-4.3": ["ridge, row", "ridge, max", "AdaSSP fixed, row", "AdaSSP fixed, max"],
    "kalaja-4.4": [
        "ridge, row", "ridge, row, y too", "AdaSSP fixed, row", "AdaSSP fixed, row, y too",
    ],
    "kalaja-4.5": ["ridge, before", "ridge, after", "AdaSSP fixed, before", "AdaSSP fixed, after"],
    "kalaja-4.6": [
        "ridge, none", "ridge, intercept", "AdaSSP fixed, none", "AdaSSP fixed, intercept",
    ],
    "kalaja-4.7": _CLIPPED,
    "kalaja-4.8": _CLIPPED,
}  # fmt: skip


@pytest.mark.usefixtures("instant")
@pytest.mark.parametrize("name", NAMES)
def test_every_figure_has_its_curves_and_says_what_is_private(name: str, sets: Path) -> None:
    table = papers.reproduce(name, papers.Options(quick=True, data=sets))
    records = table.records()
    curves = ["trivial", *CURVES[name], "Prolate"]
    top = 2.0 if name == "kalaja-4.1" else 3.0
    assert [(r["data"], r["d"], r["curve"], r["epsilon"]) for r in records] == [
        (data, d, curve, epsilon)
        for data, d in SETS.items()
        for curve in curves
        for epsilon in (0.1, 1.0, top)
    ]
    found = by_curve(table)
    assert [curve for curve in curves if found[curve]["private"] == "yes"] == ["trivial", "Prolate"]
    for curve in CURVES[name]:
        reasons = str(found[curve]["not_private"]).split(", ")
        assert {"standardize", "maximum of y"} <= set(reasons)
        assert ("method" in reasons) == curve.startswith("ridge")
        after = name in ("kalaja-4.6", "kalaja-4.7", "kalaja-4.8") or curve.endswith("after")
        assert ("normalized before the split" in reasons) != after
        assert ("clip" in reasons) == curve.startswith("c = ")
    assert all(0.0 < r["error"] < np.inf for r in records)
    assert all(r["published"] is None for r in records)
    trivial = [r["error"] for r in records if (r["data"], r["curve"]) == ("airfoil", "trivial")]
    assert len(set(trivial)) == 1
    assert by_curve(table)["Prolate"]["error"] < 0.3 * by_curve(table)["trivial"]["error"]
    (shown,) = papers.entry(name).show(table)
    assert len(shown.rows) == 6
    starred = [column for column in shown.columns if column.endswith(" *")]
    assert starred == [f"{curve} *" for curve in CURVES[name]]
    assert papers.entry(name).draw(table)[:4] == b"\x89PNG"


def test_it_runs_with_our_method(
    run: Run, sets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kalaja, "_SETS", ("airfoil",))
    anchors = tmp_path / "anchors"
    anchors.mkdir()
    (anchors / "regression_wang_published.csv").write_text(
        "dataset,method,eps,delta,cv_mse,fold_std\n"
        "airfoil,AdaSSP,1.0,1e-06,0.25,0\n"
        "airfoil,non-private,0.1,1e-06,0.125,0\n"
    )
    code, out, err = run("kalaja-4.2", "--quick", "--data", sets, "--anchors", anchors)
    assert (code, err) == (0, "")
    assert "AdaSSP fixed *" in out
    assert "measured over published" in out
    assert (
        "is not private, by its rows (standardize, maximum of y, normalized before the split)"
        in " ".join(out.split())
    )
    with Path("kalaja-4.2.csv").open(newline="") as lines:
        records = list(csv.DictReader(lines))
    assert Path("kalaja-4.2.png").is_file()
    theirs = {
        (r["curve"], float(r["epsilon"])): float(r["published"]) for r in records if r["published"]
    }
    assert theirs == {("ridge", e): 0.125 for e in (0.1, 1.0, 3.0)} | {("AdaSSP", 1.0): 0.25}
    for r in records:
        assert r["published"] == "" or float(r["over_published"]) == pytest.approx(
            float(r["error"]) / float(r["published"])
        )


@pytest.mark.usefixtures("instant")
def test_every_set_there_is_one_table(run: Run, sets: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    rows = parquet.read_table(sets / "airfoil.parquet")
    for name in ("one", "other"):
        parquet.write_table(rows, folder / f"{name}.parquet")
    code, out, _ = run("kalaja-all", "--quick", "--json", "--data", folder)
    assert code == 0
    found = json.loads(out)
    records = [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
    assert list(dict.fromkeys(r["data"] for r in records)) == ["one", "other"]
    assert {r["curve"] for r in records if r["private"] == "yes"} == {"trivial", "Prolate"}
    assert len(records) == 2 * 7 * 3


@pytest.mark.usefixtures("instant")
def test_sets_are_found_beside_the_project(run: Run, sets: Path) -> None:
    Path("../shared/data").mkdir(parents=True)
    Path("../shared/data/uci").symlink_to(sets)
    assert run("kalaja-4.1", "--quick", "--json")[0] == 0
    assert run("kalaja-4.1", "--quick", "--json", "--data", "../shared/data")[0] == 0


def test_missing_sets_are_one_sentence(run: Run, tmp_path: Path) -> None:
    for name, sentence in (("kalaja-4.3", "UCI set 'airfoil'"), ("kalaja-all", "needs UCI sets")):
        for arguments in ([], ["--data", tmp_path]):
            code, out, err = run(name, *arguments)
            assert (code, out) == (2, "")
            assert sentence in err
            assert "Traceback" not in err


# --- the data and the published numbers --------------------------------------------------------


def test_targets_are_in_wangs_unit(sets: Path) -> None:
    raw = parquet.read_table(sets / "elevators.parquet")["y"].to_numpy()
    centered = np.log(raw) - np.log(raw).mean()
    found = kalaja_data.read_set(str(sets / "elevators.parquet"))
    np.testing.assert_allclose(found.y, centered / np.abs(centered).max())
    np.testing.assert_array_equal(found.target, np.log(raw))
    np.testing.assert_allclose(found.y * found.unit + found.target.mean(), found.target)
    assert found.x.shape == (120, 4)


def test_files_that_will_not_do(tmp_path: Path) -> None:
    def written(name: str, **columns: object) -> str:
        parquet.write_table(pa.table(columns), tmp_path / name)
        return str(tmp_path / name)

    text = tmp_path / "text.parquet"
    text.write_text("x,y\n1,2\n")
    many = list(range(30))
    for path, sentence in (
        (str(text), "not a readable Parquet file"),
        (written("words.parquet", x=["a"] * 30, y=many), "not a readable Parquet file"),
        (written("one.parquet", y=many), "needs a feature"),
        (written("few.parquet", x=[1.0], y=[2.0]), "20 rows"),
        (written("gaps.parquet", x=[None, *many[1:]], y=many), "missing or not finite"),
        (written("autos.parquet", x=many, y=many), "missing or not finite"),  # the log of 0
    ):
        with pytest.raises(InputError, match=sentence):
            kalaja_data.read_set(path)


def test_folds_are_a_partition_and_differ_between_repeats() -> None:
    found = kalaja_data.folds(57, 1)
    assert sorted(np.concatenate([test for _, test in found])) == list(range(57))
    for train, test in found:
        assert sorted([*train, *test]) == list(range(57))
    assert not np.array_equal(found[0][1], kalaja_data.folds(57, 2)[0][1])
    assert np.array_equal(found[0][1], kalaja_data.folds(57, 1)[0][1])


def test_wangs_own_code_counts_before_his_results(tmp_path: Path) -> None:
    assert WangResults(None).error("airfoil", "SSP", 1.0) is None
    assert WangResults(tmp_path).error("airfoil", "SSP", 1.0) is None
    (tmp_path / "regression_wang_published.csv").write_text(
        "dataset,method,eps,cv_mse\nairfoil,SSP,1.0,3\nairfoil,SSP,2.0,4\nairfoil,OPS,1.0,9\n"
    )
    (tmp_path / "regression_adassp_octave.csv").write_text(
        "dataset,method,delta_rule,eps,mean\n"
        "airfoil,SSP_wang,wang_1e-6,1.0,5\n"
        "airfoil,SSP_wang,n^-1.1,1.0,7\n"
    )
    results = WangResults(tmp_path)
    assert results.notes == []
    assert (results.error("airfoil", "SSP", 1.0), results.error("airfoil", "SSP", 2.0)) == (5, 4)
    assert len(results.notes) == 1
    (tmp_path / "regression_adassp_octave.csv").write_text("dataset,method,eps\na,trivial,1.0\n")
    with pytest.raises(InputError, match="needs the columns"):
        WangResults(tmp_path)


@pytest.mark.usefixtures("instant")
def test_airfoil_agrees_with_wangs_code(shared_data: Path, tmp_path: Path) -> None:
    """What is not private is Wang's to a per cent; his AdaSSP within its spread."""
    anchors = shared_data.parent / "anchors"
    if not (anchors / "regression_adassp_octave.csv").is_file():
        pytest.skip("needs ../shared/anchors, which is not part of the repository")
    (tmp_path / "airfoil.parquet").symlink_to((shared_data / "uci/airfoil.parquet").resolve())
    table = papers.reproduce("kalaja-all", papers.Options(runs=2, data=tmp_path, anchors=anchors))
    found = {(r["curve"], r["epsilon"]): r for r in table.records()}
    for curve in ("trivial", "ridge"):
        assert found[curve, 1.0]["over_published"] == pytest.approx(1.0, abs=0.01)
    for epsilon, within in ((1.0, 0.15), (3.0, 0.05)):
        print(f"AdaSSP at {epsilon:g}: {found['AdaSSP', epsilon]['over_published']:.3f} of Wang's")
        assert found["AdaSSP", epsilon]["over_published"] == pytest.approx(1.0, abs=within)


def test_our_line_is_no_stand_in(shared_data: Path) -> None:
    """At epsilon = 3 nearly all that least squares finds on airfoil is found: .0525 of .1033."""
    ours = kalaja.Curve("Prolate", "Prolate", kalaja.Preprocessing())
    task = kalaja.Task(str(shared_data / "uci/airfoil.parquet"), ours, 0, (3.0,))
    (error,), not_private = kalaja.one_run(task)
    assert error < 0.065
    assert not_private == ()


def test_the_catalog_has_them_in_order() -> None:
    assert [name for name in papers.CATALOG if name.startswith("kalaja")] == [*NAMES, "kalaja-all"]
    assert papers.entry("kalaja-4.5").summary == (
        "Kalaja's Figure 4.5: normalized before or after the split"
    )
    assert kalaja.COLUMNS[:5] == ("data", "n", "d", "epsilon", "curve")
