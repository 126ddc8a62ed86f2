"""Which columns are read, and that errors name the argument that is to change."""

from __future__ import annotations

import pytest

from prolate.errors import InputError
from prolate.sources.choosing import Schema, Wanted, choose

TABLE = Schema(
    ["", "age", "city", "cost", "tags", "visits"],
    "the table",
    unusable={"city": "of type string", "tags": "of type list"},
    nested={"tags": "of type list"},
)
ARRAY = Schema(["x0", "x1", "x2"], "the array", by_position=True)


@pytest.mark.parametrize(
    ("wanted", "schema", "found"),
    [
        (Wanted(), ARRAY, (("x0", "x1", "x2"), ())),
        (Wanted([-1, "x0"]), ARRAY, (("x2", "x0"), ())),
        (Wanted(labels=[1]), ARRAY, (("x0", "x2"), ("x1",))),
        (Wanted((), [1]), ARRAY, ((), ("x1",))),
        (Wanted(target="x0"), ARRAY, (("x1", "x2", "x0"), ())),
        (Wanted("age", ["city"], "cost"), TABLE, (("age", "cost"), ("city",))),
        (Wanted(["cost"], ["cost"]), TABLE, (("cost",), ("cost",))),
        (Wanted(["age"], target=""), TABLE, (("age", ""), ())),  # an index that is named
        (
            Wanted(["age", " cost"], [" city"], "visits "),
            TABLE,
            (("age", "cost", "visits"), ("city",)),
        ),
        (Wanted([" a", "a"]), Schema([" a", "a", "b"], "the table"), ((" a", "a"), ())),
    ],
)
def test_columns_come_in_order(wanted, schema, found) -> None:
    assert choose(wanted, schema) == found


NUMERIC = "'age', 'cost', 'visits'"


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (Wanted(), "Column 'city' of the table is of type string, not numbers. Choose"),
        (Wanted(), f"Choose from the numeric columns: columns=[{NUMERIC}]."),
        (Wanted(argument="X"), f"Pass in X only columns of numbers: [{NUMERIC}]. To use 'city'"),
        (Wanted(None, (), "cost", "features"),
         "Choose from the numeric columns: features=['age', 'visits']. To use 'city'"),
        (Wanted(["nope"], (), "city", "features"),
         f"Choose the target from the numeric columns: {NUMERIC}. To use 'city'"),
        (Wanted(["city"], (), "coast", "features"), "no column 'coast' in the table. Did you mean"),
        (Wanted(["age", "age"], (), "cost", "features"), "features asks twice for 'age';"),
        (Wanted(["age", " age"]), "columns asks twice for 'age';"),
        (Wanted(["age", " "]), "There is no column ' ' in the table."),
        (Wanted(["cost"], (), "cost", "features"), "The target 'cost' cannot be one of the"),
        (Wanted((), ["city"], "cost", "features"), "features=[] leaves nothing to work on;"),
        (Wanted({"age"}, argument="features"), "features must be a list of column names,"),
        (Wanted(labels=["city", "city"]), "unit and by are both 'city'; name each once."),
        (Wanted(labels=["tags"]), "labels of persons or groups must be text or numbers."),
        (Wanted(labels=[2.5]), "unit and by must be column names; it holds an entry of type float"),
    ],
)  # fmt: skip
def test_errors_name_the_argument(wanted, says) -> None:
    with pytest.raises(InputError) as error:
        choose(wanted, TABLE)
    assert says in str(error.value)


@pytest.mark.parametrize("label", ["age", " age", "cost"])
def test_columns_of_labels_are_not_suggested(label) -> None:
    """An id is numeric, and its mean means nothing."""
    rest = ", ".join(repr(name) for name in ("age", "cost", "visits") if name != label.strip())
    for wanted, says in (
        (Wanted(["city"], labels=[label]), f"Choose from the numeric columns: columns=[{rest}]."),
        (
            Wanted(labels=[label], target="city"),
            f"Choose the target from the numeric columns: {rest}.",
        ),
    ):
        with pytest.raises(InputError) as error:
            choose(wanted, TABLE)
        assert f" {says} To use 'city'" in str(error.value)
    said = r"columns=\['age'\]\. \('patient_id': most likely labels\.\)"
    for names in (["patient_id", "age", "a"], ["age", "a", "patient_id"]):
        with pytest.raises(InputError, match=said):
            choose(Wanted(), Schema(names, "the table", {"a": "text"}))
    with pytest.raises(InputError, match=r"columns=\['ID', 'zip'\]\. To"):
        choose(Wanted(), Schema(["ID", "zip", "a"], "the table", {"a": "text"}))
    with pytest.raises(InputError, match=r"No other column is numeric\."):
        choose(Wanted(["a"], labels=["id"]), Schema(["id", "a"], "the table", {"a": "text"}))


def test_where_nothing_is_numeric_there_is_nothing_to_choose_from() -> None:
    texts = {"a": "text", "b": "text"}
    with pytest.raises(InputError, match=r"No column is numeric\. To use"):
        choose(Wanted(), Schema(["a", "b"], "the table", texts))
    with pytest.raises(InputError, match=r"No other column is numeric\. To use"):
        choose(Wanted(target="y"), Schema(["a", "y"], "the table", texts))
    with pytest.raises(InputError, match="no column beside the target 'y'"):
        choose(Wanted(target="y"), Schema(["y"], "the table"))
    with pytest.raises(InputError, match="no column in the table besides a"):
        choose(Wanted(labels=["a"]), Schema(["a"], "the table"))
