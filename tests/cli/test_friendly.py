"""What a beginner types: it works where it can be meant, and else says what to type."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import prolate
from prolate import Budget, GroupedRelease
from prolate.cli import main
from prolate.cli.words import in_options
from prolate.errors import InputError
from prolate.report import repeat

rng = np.random.default_rng(8)
N = 3000
VISITS = pd.DataFrame(
    {
        "patient_id": [f"p{i}" for i in rng.integers(0, 900, N)],
        "region": rng.choice(["north", "south", "Bonn, west"], N),
        "age": rng.normal(50, 9, N),
        "cost": rng.normal(9, 2, N),
    }
)
B = Budget(mu=1)


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    VISITS.to_csv("visits.csv", index=False)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], line: str, *, code: int = 2) -> str:
    import shlex

    assert main(shlex.split(line)) == code
    out, err = capsys.readouterr()
    assert bool(out) == (code == 0)
    return out + err


def test_files_called_alike_are_refused(visits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    VISITS.to_parquet("visits.parquet")
    words = said(capsys, "count visits.csv visits.parquet --mu 1")
    assert "visits.csv and visits.parquet are most likely the same rows twice;" in words
    assert "matches visits.csv and visits.parquet" in said(capsys, "count 'visits.*' --mu 1")


def test_names_may_have_spaces_after_commas(
    visits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = said(capsys, "mean visits.csv -c 'age, cost' --bounds age=0:99 --mu 1", code=0)
    assert "mean of 2 columns" in out
    line = "count visits.csv --by 'region, patient_id' --key 'north, p7' --mu 1"
    assert "by region, patient_id: 1 group" in said(capsys, line, code=0)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "mean visits.csv -c age --by region --mu 1",
            "such as --epsilon 1 --delta 1e-6. Or give the groups: --key north --key south.",
        ),
        ("mean visits.csv --mu 1", "numeric columns: --columns age,cost."),
        ("median visits.csv -c age --mu 1", "'median'; use prolate quantile -q 0.5."),
        ("correlation visits.csv --mu 1", "use prolate covariance --correlation."),
        ("mean visits.csv -c age --mu 1 -o age.html",
         "Use -o age.json, and make a page of it by prolate report age.json -o age.html."),
        ("mean visits.csv -c age --key north --mu 1", "such as --by region."),
        ("mean visits.csv -c age, cost --mu 1", "write them as a,b,c, without spaces"),
        ("count visits.csv --by region --key '' --mu 1", "a key is empty"),
        ("mean visits.csv -c age --mu one", "'one' is not a valid number"),
        ("mean visits.csv -c age --mu 1 --unit patient_id --max-rows 3",
         "--max-rows goes with --contribution rows;"),
        ("mean visits.csv -c age --mu 1 --unit patient_id --contribution rows",
         "such as --max-rows 5."),
        ("mean visits.csv -c age --mu 1 --error-norm 0", "--error-norm must be"),
        ("mean visits.csv -c age --mu 1 --ledger no", "make one with prolate ledger create."),
        ("sum visits.csv -c age,cost --mu 1 --bounds age=0:99",
         "and none are given; give them as --bounds cost=0:100."),
        ("sum visits.csv -c age --mu 1 --method gaussian-ellipse --center 3",
         "--method gaussian-ellipse needs a public scale for every column, such as --scale 10"),
        ("quantile visits.csv -c age --mu 1 -q median", "use -q 0.5 for the median"),
        ("quantile visits.csv -c age --mu 1 -q 0.5,50", "'50' is not a number from 0 to 1"),
        ("regress visits.csv --target zz --mu 1", "There is no column 'zz' in visits.csv."),
        ("regress visits.csv --target zz -f nope --mu 1", "There is no column 'zz' in visits.csv."),
        ("regress visits.csv --target costs --mu 1", "Did you mean 'cost'?"),
        ("regress visits.csv --target region --mu 1",
         "Choose the target from the numeric columns: 'age', 'cost'."),
        ("regress visits.csv --target cost --mu 1", "numeric columns: --features age."),
        ("regress visits.csv --target age --mu 1", "numeric columns: --features cost."),
        ("regress visits.csv --target age -f cost --mu 1 --method ssp --alpha 2",
         "alpha is for --method auto; got --method ssp."),
    ],
)  # fmt: skip
def test_advice_can_be_typed(
    line: str, words: str, visits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = said(capsys, line)
    assert words in found
    for python in ("Budget(", "keys=", "='", "=[", "={", "None"):
        assert python not in found


def test_advice_leaves_what_is_not_its_own() -> None:
    for sentence in (
        "There is no column 'max_rows' in a.csv.",
        "There is no file '/a/by='x'.csv'.",
        "The limit is rho = 1 (mu = 1.4).",
        "bounds name a column that is not used: 'keys'.",
    ):
        assert in_options(sentence) == sentence
    assert in_options("columns=['a b', 'c,d' and 3 more].") == ("--columns 'a b,\"c,d\",...'.")
    assert in_options("Give bounds={'it\\'s': (0, 1), 'b': (-1, 2)}.") == (
        "Give --bounds 'it'\"'\"'s=0:1' --bounds b=-1:2."
    )
    assert in_options("use fit_intercept=True.") == "use --intercept."


def test_warnings_of_a_release_can_be_typed(
    visits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unit = "--unit patient_id --contribution rows --max-rows 2 --mu 3"
    for groups in ("", "--by region --key north"):
        shown = said(capsys, f"mean visits.csv -c age {unit} {groups}", code=0)
        assert "With --contribution mean, each person counts once" in " ".join(shown.split())
        stored = said(capsys, f"mean visits.csv -c age {unit} {groups} --json", code=0)
        assert "With contribution='mean', each person counts once" in stored  # of no face


def test_keys_and_quantiles_with_commas(visits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "count visits.csv --by region --mu 1 --json"
    for keys in ("--key north,south", "--key north --key south"):
        made = GroupedRelease.from_json(said(capsys, f"{line} {keys}", code=0))
        assert list(made.groups) == ["north", "south"]
    made = GroupedRelease.from_json(said(capsys, f"{line} --key '\"Bonn, west\"',north", code=0))
    assert list(made.groups) == ["Bonn, west", "north"]
    page = made.to_html()
    assert "&#34;Bonn, west&#34;" in page  # the command to repeat it
    line = "quantile visits.csv -c age --mu 1 --json"
    for q in ("-q 0.25,0.5", "-q 0.25 -q 0.5"):
        found = json.loads(said(capsys, f"{line} {q}", code=0))
        assert found["details"]["q"] == [0.25, 0.5]


def test_a_column_with_a_comma_can_be_named(
    visits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    VISITS.rename(columns={"cost": "cost, net"}).to_csv("visits.csv", index=False)
    words = said(capsys, "mean visits.csv -c 'cost, net' --mu 1")
    assert "two pairs of quotes: '\"cost, net\"'." in words
    said(capsys, "mean visits.csv -c '\"cost, net\"' --mu 1", code=0)
    for name in ('"cost, net"', "cost, net"):  # with quotes as in lists, and without
        bounds = f"--bounds '{name}=0:20'"
        said(capsys, f"sum visits.csv -c '\"cost, net\"' {bounds} --mu 1", code=0)
        said(capsys, f"regress visits.csv --target '{name}' -f age --mu 1", code=0)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_rows_with_text_are_counted(
    neighbors: str, visits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = f"count visits.csv --mu 1 --neighbors {neighbors} --json"
    assert json.loads(said(capsys, line, code=0))["estimate"][0] == pytest.approx(N, abs=8)
    table = pa.Table.from_pandas(VISITS)
    words = VISITS[["patient_id", "region"]]
    tables = [VISITS, table, table.to_reader(), pl.from_pandas(VISITS)]
    tables += [words, pa.Table.from_pandas(words), VISITS[["age"]], VISITS[["age"]].to_numpy()]
    for data in tables:
        found = prolate.count(data, budget=B, neighbors=neighbors)
        assert found.estimate[0] == pytest.approx(N, abs=8)
        assert found.columns == ("rows",)
    with pytest.raises(InputError, match="There is no file"):
        prolate.count("nope.csv", budget=B)
    with pytest.raises(InputError, match="not supported"):
        prolate.count({"a": 1}, budget=B)


def test_every_command_teaches_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    from prolate.cli.entry import cli

    def commands(group, *before: str):
        for name, command in group.commands.items():
            yield (*before, name)
            if hasattr(command, "commands"):
                yield from commands(command, *before, name)

    found = list(commands(cli))
    assert len(found) > 12
    for words in found:
        text = said(capsys, " ".join([*words, "--help"]), code=0)
        assert "Examples:" in text
        assert f"  prolate {' '.join(words)}" in text


def test_commands_to_repeat_name_the_same_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of `"y"` named the column y."""
    monkeypatch.chdir(tmp_path)
    names = {"age": "a, b", "cost": '"y"', "patient_id": '"who"', "region": "y"}
    odd = VISITS.rename(columns=names).assign(y=rng.normal(0, 1, N))
    odd.to_csv("odd.csv", index=False)
    made = prolate.regress(
        odd, '"y"', features="a, b", bounds={'"y"': (0, 20)}, unit='"who"', budget=B, seed=1
    )
    command = repeat.as_command(made).replace("\\\n", " ").replace("data.parquet", "odd.csv")
    line = command.removeprefix("prolate ").replace("-o release.json", "--json")
    again = json.loads(said(capsys, line, code=0))
    assert again["details"]["target"] == '"y"'
    assert again["unit"]["column"] == '"who"'
    assert again["details"]["bounds"] == made.details["bounds"]
