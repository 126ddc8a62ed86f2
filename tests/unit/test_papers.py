"""The papers' figures: their data, their arithmetic, their notes and their plots."""

from __future__ import annotations

import struct
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from prolate import papers
from prolate.errors import InputError
from prolate.papers import baskets, figures, measure, published, settings, shapes, variances
from prolate.papers.methods import METHODS, OURS, SAMPLE_MEAN, Method
from prolate.papers.settings import Setting
from prolate.papers.table import Table

NAMES = [
    "plan-3a", "plan-3b", "plan-3c", "plan-4a", "plan-4b", "plan-4c", "plan-5a", "plan-5b",
    "plan-5c", "plan-6", "plan-7a", "plan-7b", "plan-8", "plan-9", "plan-10", "plan-table-2",
]  # fmt: skip


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Replace every method by one that misses the sample mean by a known length."""
    misses = {OURS: 1.0, "PLAN": 2.0, "PLAN without scaling": 3.0, "IOME": 4.0, "CoinPress": 30.0}

    def missing(by: float) -> Method:
        def estimate(setting: Setting, sample: settings.Sample, run: int) -> np.ndarray:
            d = sample.mean.size
            by_column = 2.0 / d if setting.norm == 1 else 1.0 / np.sqrt(d)
            return sample.mean + by * (1.0 + 0.1 * run) * by_column

        return Method(estimate, "", lambda _: by)

    for name, by in misses.items():
        stub = missing(by)
        monkeypatch.setitem(
            METHODS, name, Method(stub.estimate, METHODS[name].published, stub.cost)
        )
    return misses


def small(*settings_: Setting, against: str = "true") -> measure.Panel:
    methods = tuple(METHODS)
    return measure.Panel("x", "A panel", settings_, methods, against, runs=3)


# --- data --------------------------------------------------------------------------------------


def test_the_variances_of_b_go_from_equal_to_skewed() -> None:
    assert np.allclose(Setting("B", 10, 4, 1.0, alpha=0.0).sigma, 1.0)
    assert np.allclose(Setting("B", 10, 4, 1.0, alpha=2.0).sigma, [1, 4 / 3, 2, 4])
    assert np.allclose(Setting("C", 10, 4, 1.0, alpha=1.0).sigma ** 2, [1, 4 / 3, 2, 4])
    assert np.allclose(Setting("A", 10, 4, 1.0, alpha=2.0).sigma, 1.0)


@pytest.mark.parametrize(("data", "alpha"), [("A", 0.0), ("C", 2.0), ("A'", 0.0), ("C'", 2.0)])
def test_rows_have_the_covariance_that_the_paper_says(data: settings.Data, alpha: float) -> None:
    setting = Setting(data, 40_000, 6, 1.0, alpha=alpha)
    sample = settings.draw(setting, run=0)
    sigma = setting.sigma
    assert np.all(np.abs(sample.mean - sample.true_mean) < 8 * sigma / 200)
    found = np.cov(sample.rows.T) / np.outer(sigma, sigma)
    wanted = np.eye(6)
    if data == "C'":
        wanted += 0.5 * (1 - np.eye(6))
    if data == "A'":
        loadings = settings._loadings(6)
        assert np.all(loadings[np.tril_indices(6)] == 0)
        assert 0 < loadings[0, 5] < 6**-0.5
        wanted = (loadings @ loadings.T + np.eye(6)) / np.outer(sigma, sigma)
    assert np.all(np.abs(found - wanted) < 8 * np.sqrt(2 / 40_000))
    # The widest direction is no wider than CoinPress is told.
    assert np.linalg.eigvalsh(np.cov(sample.rows.T)).max() < 1.1 * setting.widest**2


def test_binary_rows_are_ones_half_of_the_time_in_the_first_columns() -> None:
    sample = settings.draw(Setting("Binary", 4096, 8, 1.0, alpha=0.25), run=3)
    assert set(np.unique(sample.rows)) == {0, 1}
    assert sample.true_mean.tolist() == [0.5] * 2 + [0.01] * 6
    assert np.all(np.abs(sample.mean - sample.true_mean) < 8 * 0.5 / 64)


def test_a_run_has_the_same_rows_at_every_budget_and_others_in_the_next_run() -> None:
    setting = Setting("A", 50, 3, 1.0)
    first = settings.draw(setting, 0).rows.copy()
    assert not np.array_equal(settings.draw(setting, 1).rows, first)
    assert np.array_equal(settings.draw(setting.at_rho(0.1), 0).rows, first)


def test_universes_are_those_of_the_published_runs() -> None:
    assert Setting("A", 4000, 16, 1.0).universe == 100.0
    assert Setting("C", 10000, 128, 1.0, alpha=2.0).universe == pytest.approx(72407.734)


# --- baskets -----------------------------------------------------------------------------------


def test_baskets_of_fimi_and_of_parquet_are_the_same(tmp_path: Path) -> None:
    text, file = tmp_path / "b.dat", tmp_path / "b.parquet"
    text.write_text("7 3\n3\n\n900,7 7\n")
    pairs = {"row_id": [0, 0, 1, 3, 3, 3], "col_id": [1, 0, 0, 2, 1, 1]}
    parquet.write_table(pa.table(pairs), file)
    for path in (text, file):
        matrix = baskets.read_baskets(str(path))
        assert matrix.toarray().tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 1, 1]]


@pytest.mark.parametrize("content", ["", "\n\n", "1 2\nthree\n", "1.5\n", "ä\n"])
def test_other_files_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "b.dat"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="one basket per line"):
        baskets.read_baskets(str(path))


def test_other_parquet_files_and_missing_ones_are_refused(tmp_path: Path) -> None:
    other, negative = tmp_path / "x.parquet", tmp_path / "y.parquet"
    parquet.write_table(pa.table({"row": [1], "col_id": [2]}), other)
    parquet.write_table(pa.table({"row_id": [-1], "col_id": [2]}), negative)
    with pytest.raises(InputError, match="row_id and col_id"):
        baskets.read_baskets(str(other))
    with pytest.raises(InputError, match="whole numbers from 0 on"):
        baskets.read_baskets(str(negative))
    with pytest.raises(InputError, match="no file"):
        baskets.read_baskets(str(tmp_path / "none.dat"))


def test_some_items_are_popular_and_rare_ones(tmp_path: Path) -> None:
    path = tmp_path / "b.dat"
    path.write_text("\n".join(" ".join(map(str, range(i + 1))) for i in range(12)))
    matrix = baskets.some_items(baskets.read_baskets(str(path)), 4)
    assert np.asarray(matrix.sum(axis=0)).ravel().tolist() == [12, 9, 6, 3]


# --- measuring ---------------------------------------------------------------------------------


def test_errors_are_summed_up_by_setting_and_method(stubs: dict[str, float]) -> None:
    both = (Setting("C", 200, 5, 1.0, alpha=2.0), Setting("Binary", 200, 4, 0.5, alpha=0.5))
    steps: list[tuple[str, float, float]] = []
    options = papers.Options(progress=lambda *step: steps.append(step))
    table = measure.measure("x", "An example", [small(*both, against="sample")], options)
    records = table.records()
    assert len(records) == 2 * len(METHODS)
    for record in records:
        miss = stubs.get(record["method"], 0.0)
        assert record["runs"] == 3
        assert record["error"] == pytest.approx(1.1 * miss)
        assert record["lowest"] == pytest.approx(miss)
        assert record["highest"] == pytest.approx(1.2 * miss)
        assert record["over_plan"] == pytest.approx(miss / 2.0)
        assert record["published"] is None
    assert [done for _, done, _ in steps] == sorted(done for _, done, _ in steps)
    assert steps[-1][1] == pytest.approx(steps[-1][2])


def test_errors_against_the_true_mean_contain_the_sampling_error(stubs: dict[str, float]) -> None:
    setting = Setting("A", 100, 4, 1.0)
    table = measure.measure("x", "An example", [small(setting)], papers.Options(runs=1))
    of = {record["method"]: record for record in table.records()}
    drawn = settings.draw(setting, 0)
    assert of[SAMPLE_MEAN]["error"] == pytest.approx(np.linalg.norm(drawn.mean))
    assert of[SAMPLE_MEAN]["noise_error"] == 0.0
    assert of[OURS]["error"] == pytest.approx(np.linalg.norm(drawn.mean + 0.5))
    assert of[OURS]["noise_error"] == pytest.approx(1.0)


def test_two_processes_find_the_same_as_one() -> None:
    panel = measure.Panel("x", "A panel", (Setting("A", 50, 3, 1.0),), (SAMPLE_MEAN,), "true")
    one, two = (
        measure.measure("x", "An example", [panel], papers.Options(jobs=jobs)) for jobs in (1, 2)
    )
    assert one == two
    assert one.column("error")[0] > 0.0


@pytest.mark.parametrize("bad", [{"runs": 0}, {"runs": -3}, {"jobs": 0}, {"jobs": 3}])
def test_bad_options_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(InputError):
        papers.Options(**bad)


def test_every_estimator_runs_on_gaussian_binary_and_sparse_data(tmp_path: Path) -> None:
    path = tmp_path / "b.dat"
    path.write_text("\n".join("1 2" if i % 3 else "2 3" for i in range(3000)))
    for setting in (
        Setting("C'", 3000, 3, 1.0, alpha=2.0),
        Setting("Binary", 3000, 3, 1.0, alpha=0.5),
        Setting("Kosarak", 3000, 3, 1.0, path=str(path)),
    ):
        for method in METHODS:
            if method == "CoinPress" and setting.norm == 1:
                continue  # it has no place in those figures
            true, own = measure.one_run(measure.Task(setting, method, run=0))
            assert 0.0 <= own < 1.0 + setting.norm, (setting, method)
            assert np.isnan(true) == (setting.path is not None)


# --- published numbers -------------------------------------------------------------------------


@pytest.fixture
def anchors(tmp_path: Path) -> Path:
    (tmp_path / "plan_published.csv").write_text(
        "experiment,algorithm,n,d,rho,skew,ratio,err_mean\n"
        "gaussianA,PLAN,100,4,1,0,,0.5\n"
        "synthetic,IOME,100,4,0.5,,0.25,0.125\n"
        "kosarak,PLAN,75462,27983,1,,,3.75\n"
    )
    (tmp_path / "plan_published_vs_oracle.csv").write_text(
        "experiment,n,d,skew,rho,alg,noise_rms_paired,noise_lo,noise_hi\n"
        "gaussianA,100,4,0,1,PLAN,0.25,0.24,0.26\n"
        "gaussianA,100,4,0,1,IOME,0.25,0.0,0.5\n"
        "gaussianC,100,4,2,1,PLAN,0.0,0.0,0.5\n"
    )
    return tmp_path


def test_published_numbers_are_found_by_setting(anchors: Path) -> None:
    numbers = published.Published(anchors)
    a, c = Setting("A", 100, 4, 1.0), Setting("C", 100, 4, 1.0, alpha=2.0)
    binary = Setting("Binary", 100, 4, 0.5, alpha=0.25)
    kosarak = Setting("Kosarak", 75462, 27983, 1.0, path="x")
    assert numbers.notes == []
    assert (numbers.error(a, "PLAN"), numbers.noise(a, "PLAN")) == (0.5, 0.25)
    assert numbers.noise(a, "IOME") is None  # not determined
    assert numbers.noise(c, "PLAN") is None
    assert numbers.error(binary, "IOME") == 0.125
    assert numbers.noise(kosarak, "PLAN") == 3.75
    for other in (Setting("A", 101, 4, 1.0), Setting("A", 100, 4, 0.5), Setting("A'", 100, 4, 1.0)):
        assert numbers.error(other, "PLAN") is None
    assert len(numbers.notes) == 3


def test_measured_stands_beside_published(stubs: dict[str, float], anchors: Path) -> None:
    panel = small(Setting("A", 100, 4, 1.0))
    table = measure.measure("x", "An example", [panel], papers.Options(anchors=anchors))
    of = {record["method"]: record for record in table.records()}
    assert of["PLAN"]["published"] == 0.5
    assert of["PLAN"]["over_published"] == pytest.approx(of["PLAN"]["error"] / 0.5)
    assert of["PLAN"]["over_published_noise"] == pytest.approx(2.2 / 0.25)
    assert of[OURS]["published"] is None
    assert any("authors' own runs" in note for note in table.notes)
    errors, beside = papers.CATALOG["plan-3a"].show(table)
    assert errors.rows[0][-2:] == (pytest.approx(0.5), pytest.approx(0.25))
    assert errors.columns[-2:] == ("Prolate / PLAN", "Prolate / IOME")
    assert beside.columns[-3:] == ("PLAN published", "ratio", "noise ratio")


@pytest.mark.parametrize("content", ["", "experiment,algorithm\nx,y\n"])
def test_a_folder_without_the_published_numbers_is_refused(tmp_path: Path, content: str) -> None:
    if content:
        (tmp_path / "plan_published.csv").write_text(content)
    with pytest.raises(InputError, match=r"plan_published\.csv"):
        published.Published(tmp_path)


# --- figures -----------------------------------------------------------------------------------


def test_the_catalog_is_complete_and_says_what_each_is() -> None:
    plans = {name: entry for name, entry in papers.CATALOG.items() if name.startswith("plan-")}
    assert list(plans) == NAMES
    for name, entry in plans.items():
        assert entry.summary.startswith(name.removeprefix("plan-").replace("table-", "Table ")) or (
            entry.summary.startswith(f"Figure {name.removeprefix('plan-')}:")
        )
    with pytest.raises(InputError, match="Did you mean 'plan-3a'"):
        papers.entry("plan3a")


@pytest.fixture
def files(tmp_path: Path) -> SimpleNamespace:
    rng = np.random.default_rng(0)
    for name in ("kosarak_prefix", "retail"):
        rows, items = rng.integers(0, 40, 4000), rng.integers(0, 600, 4000)
        parquet.write_table(
            pa.table({"row_id": rows, "col_id": items}), tmp_path / f"{name}.parquet"
        )
    return SimpleNamespace(folder=tmp_path, kosarak=tmp_path / "kosarak_prefix.parquet")


def planned(monkeypatch: pytest.MonkeyPatch, name: str, **options: object) -> list[measure.Panel]:
    """Return the panels that a figure would measure."""
    seen: list[measure.Panel] = []

    def stand_in(name: str, title: str, panels: list[measure.Panel], _: object) -> Table:
        seen.extend(panels)
        return Table(name, title, (), ())

    monkeypatch.setattr(figures, "measure", stand_in)
    papers.reproduce(name, papers.Options(**options))
    return seen


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("plan-6", "plan-table-2")])
def test_quick_figures_are_small_parts_of_whole_ones(
    monkeypatch: pytest.MonkeyPatch, files: SimpleNamespace, name: str
) -> None:
    whole = planned(monkeypatch, name, data=files.folder)
    quick = planned(monkeypatch, name, data=files.folder, quick=True)
    options = papers.Options(quick=True)
    assert [panel.name for panel in quick] == [panel.name for panel in whole]
    for part, full in zip(quick, whole, strict=True):
        assert {OURS, "PLAN"} <= set(part.methods) <= set(full.methods)
        assert "IOME" in full.methods
        reduced = {s.at_rho(1.0) for s in part.settings} - {s.at_rho(1.0) for s in full.settings}
        assert not reduced or all(s.items == 128 for s in reduced)
        assert {s.rho for s in part.settings} <= {s.rho for s in full.settings}
        assert len(part.settings) < len(full.settings)
        assert any("--quick left out" in note for note in part.notes)
        assert part.runs_of(OURS, options) < full.runs_of(OURS, papers.Options())
    # In units of values: what two cores do in well under a minute.
    work = sum(
        METHODS[method].cost(setting) * panel.runs_of(method, options)
        for panel in quick
        for setting in panel.settings
        for method in panel.methods
    )
    assert work < 7.5e8


def test_figures_with_the_points_of_table_1(
    monkeypatch: pytest.MonkeyPatch, files: SimpleNamespace
) -> None:
    (panel,) = planned(monkeypatch, "plan-3a")
    assert {(s.n, s.alpha) for s in panel.settings} == {(4000, 0.0)}
    assert {s.d for s in panel.settings} == {16, 32, 64, 128, 256, 512, 1024}
    assert {s.rho for s in panel.settings} == {1.0, 0.5, 0.125}
    (panel,) = planned(monkeypatch, "plan-3c")
    assert {(s.n, s.alpha, panel.against) for s in panel.settings} == {(10000, 2.0, "sample")}
    (panel,) = planned(monkeypatch, "plan-4b")
    assert {(s.n, s.d, s.rho) for s in panel.settings} == {(100_000, 64, 0.01)}
    assert max(s.d for s in planned(monkeypatch, "plan-10")[2].settings) == 2048
    (panel,) = planned(monkeypatch, "plan-5b", kosarak=files.kosarak)
    assert {(s.n, s.d, s.items) for s in panel.settings} == {(40, 600, None)}
    assert {s.rho for s in panel.settings} == {1.0, 0.5, 0.25, 0.125, 0.0625}
    assert panel.runs_of("IOME", papers.Options(runs=20)) == 2
    assert panel.runs_of("PLAN", papers.Options(runs=20)) == 20
    assert not any("stands in" in note for note in panel.notes)
    (panel,) = planned(monkeypatch, "plan-5b", data=files.folder, quick=True)
    assert any("stands in for Kosarak" in note for note in panel.notes)
    assert any("128 in all" in note for note in panel.notes)


def test_baskets_that_are_nowhere_are_asked_for(tmp_path: Path) -> None:
    for options in (papers.Options(), papers.Options(data=tmp_path)):
        with pytest.raises(InputError, match=r"--pos PATH .* retail\.parquet"):
            papers.reproduce("plan-5c", options)


def test_a_named_file_must_exist(tmp_path: Path, files: SimpleNamespace) -> None:
    with pytest.raises(InputError, match="There is no file"):
        papers.reproduce("plan-5b", papers.Options(kosarak=tmp_path / "x", data=files.folder))


def test_figure_6_has_the_least_error_where_it_should() -> None:
    table = papers.reproduce("plan-6", papers.Options())
    first, second = table.column("mean l1"), table.column("rms l2")
    assert first.index(min(first)) == 1
    assert second.index(min(second)) == 2
    # All spend the same: the sensitivities in units of the noise have norm mu = 1.
    for record in table.records():
        assert np.hypot(4 / record["std 1"], 1 / record["std 2"]) == pytest.approx(1.0)
    assert table.rows[0][3:5] == (pytest.approx(17**0.5), pytest.approx(17**0.5))


def test_table_2_measures_standard_deviations() -> None:
    table = papers.reproduce("plan-table-2", papers.Options(runs=4))
    assert len(table.rows) == 4 * 6
    for record in table.records():
        # A quantile's own place, where it is not that of one sigma.
        wanted = {"direct-075": 0.3255, "direct-09": 0.2816}.get(record["method"], 0.0)
        assert abs(record["error"] - wanted) < (0.1 if wanted else 0.2)
        if record["published"]:
            ratio = record["error"] / record["published"]
            assert record["over_published"] == pytest.approx(ratio)
    assert variances.relative_error(variances.Task(1.0, 1.0, "general (k=4)", 4)) < 0.06
    assert shapes.noise_shape(np.array([1.0]), np.array([5.0]), 0.5)[0] == pytest.approx(1.0)


# --- plots and files ---------------------------------------------------------------------------


def size(image: bytes) -> tuple[int, int]:
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", image[16:24])


def test_errors_are_drawn_by_panel_and_budget(stubs: dict[str, float], anchors: Path) -> None:
    def table(*budgets: float, panels: int = 1) -> Table:
        points = [Setting("A", 100, d, rho) for rho in budgets for d in (4, 8)]
        made = [
            measure.Panel(f"x{i}", "A panel", tuple(points), tuple(METHODS), "true", runs=2)
            for i in range(panels)
        ]
        return measure.measure("plan-3a", "An example", made, papers.Options(anchors=anchors))

    draw = papers.CATALOG["plan-3a"].draw
    width, height = size(draw(table(1.0)))
    assert size(draw(table(1.0, 0.5))) > (width, height)  # budgets side by side, ...
    wide, high = size(draw(table(1.0, 0.5, panels=2)))  # ... and below each other beside panels
    assert wide > width
    assert high > 1.5 * height


def test_budgets_share_a_plot_where_they_are_the_axis(stubs: dict[str, float]) -> None:
    points = tuple(Setting("Binary", 100, 4, rho, 0.5) for rho in (1.0, 0.5, 0.25))
    table = measure.measure("x", "An example", [small(*points, against="sample")], papers.Options())
    assert size(papers.CATALOG["plan-5b"].draw(table))[0] < 1000
    (shown,) = papers.CATALOG["plan-5b"].show(table)
    assert shown.columns[0] == "rho"
    assert len(shown.rows) == 3


def test_figure_6_and_table_2_are_drawn() -> None:
    shape = papers.CATALOG["plan-6"]
    assert min(size(shape.draw(shape.measure(papers.Options())))) > 500
    columns = ("rho", "variance", "method", "runs", "error", "published", "over_published")
    rows = tuple(
        (rho, 1.0, method, 5, 0.02, None if method == OURS else 0.03, None)
        for rho in (0.01, 0.001)
        for method in ("direct-09", OURS)
    )
    entry = papers.CATALOG["plan-table-2"]
    assert min(size(entry.draw(Table("x", "An example", columns, rows)))) > 500
    assert "runs" not in entry.show(Table("x", "An example", columns, rows))[0].columns


def test_a_table_as_csv_and_as_json() -> None:
    table = Table("x", "T", ("a", "b"), (("p,q", 0.1), ("r", None), ("s", float("nan"))), ("n",))
    assert table.to_csv() == 'a,b\n"p,q",0.1\nr,\ns,nan\n'
    assert table.to_dict()["rows"] == [["p,q", 0.1], ["r", None], ["s", None]]
