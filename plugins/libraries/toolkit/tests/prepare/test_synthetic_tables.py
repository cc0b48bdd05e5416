from __future__ import annotations

import hashlib
import io
import tomllib

import pandas as pd
import pytest

from mlecore.errors import PluginError
from mlecore_toolkit import ColumnSchema, roc_auc, synthetic_table, write_csv

SCHEMA = """
columns = [
  { name = "visit", kind = "id" },
  { name = "patient", kind = "id", prefix = "P", low = 1, rows_each = 4 },
  { name = "date", kind = "date", low = "2023-01-01", high = "2024-12-31", ascending = true },
  { name = "ward", kind = "category", values = ["A", "B", "C"], shares = [6, 3, 1] },
  { name = "pulse", kind = "integer", quantiles = [40, 62, 71, 84, 160], missing = 0.05 },
  { name = "weight", kind = "number", low = 40, high = 120, decimals = 1 },
  { name = "smokes", kind = "boolean", shares = [4, 1] },
  { name = "note", kind = "text", low = 3, high = 30 },
  { name = "scan", kind = "file", prefix = "scans/", suffix = ".png" },
  { name = "ill", kind = "category", values = [0, 1], shares = [0.8, 0.2], target = true },
]
"""


@pytest.fixture(scope="module")
def schema() -> list[ColumnSchema]:
    return [ColumnSchema(**column) for column in tomllib.loads(SCHEMA)["columns"]]


def test_the_bytes_never_change(schema: list[ColumnSchema]) -> None:
    written = io.BytesIO()
    write_csv(synthetic_table(schema, 400, 7), written)
    assert hashlib.md5(written.getvalue()).hexdigest() == "7dc151022df5a446639975c0479d0f16"


def test_cells_are_those_of_the_schema(schema: list[ColumnSchema]) -> None:
    table = synthetic_table(schema, 1000, 0)
    assert table["visit"].is_unique and table["scan"].str.fullmatch(r"scans/\w{8}\.png").all()
    assert 150 < table["patient"].nunique() <= 250 and table["patient"].str.fullmatch(r"P\d+").all()
    assert table["date"].is_monotonic_increasing and table["date"].between("2023-01-01", "2024-12-31").all()
    assert table["ward"].value_counts().to_dict() == {"A": 600, "B": 300, "C": 100}
    assert table["pulse"].isna().sum() == 50 and 68 <= table["pulse"].median() <= 74
    assert table["weight"].between(40, 120).all() and (table["weight"].round(1) == table["weight"]).all()
    assert table["smokes"].dtype == bool and table["smokes"].sum() == 200
    assert table["note"].str.split().str.len().between(3, 30).all()
    assert table["ill"].sum() == 200


def test_each_measured_column_says_a_little_of_the_target(schema: list[ColumnSchema]) -> None:
    table = synthetic_table(schema, 4000, 0)
    measured = {"pulse": table["pulse"].astype(float).fillna(71), "weight": table["weight"], "smokes": table["smokes"]}
    measured["note"] = table["note"].str.count(r"\b(?:warm|quick|early|clear|strong)\b") / table["note"].str.len()
    measured["ward"] = table["ward"].map(ord)
    assert {name: 0.55 < roc_auc(table["ill"], values) < 0.9 for name, values in measured.items()} == dict.fromkeys(
        measured, True
    )


def test_rows_of_a_group_are_alike_and_others_are_not(schema: list[ColumnSchema]) -> None:
    table = synthetic_table(schema, 8000, 0)
    by_patient = table.groupby("patient")["ill"].mean().std()
    by_chance = table.groupby(table["patient"].sample(frac=1, random_state=0).to_numpy())["ill"].mean().std()
    assert by_patient > 1.2 * by_chance


def test_a_new_column_leaves_the_others_alone(schema: list[ColumnSchema]) -> None:
    more = [*schema[:3], ColumnSchema("age", "integer", low=18, high=90, signal=0), *schema[3:]]
    pd.testing.assert_frame_equal(synthetic_table(more, 100, 0).drop(columns="age"), synthetic_table(schema, 100, 0))


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "integer"},
        {"kind": "category"},
        {"kind": "decimal"},
        {"kind": "number", "low": 2, "high": 1},
        {"kind": "date", "low": "2020-01-01"},
        {"kind": "category", "values": [1, 2], "shares": [1]},
        {"kind": "id", "missing": 1.5},
    ],
)
def test_a_schema_that_cannot_be_is_an_error_that_names_the_column(wrong: dict[str, object]) -> None:
    with pytest.raises(PluginError, match="'age'"):
        ColumnSchema(**{"name": "age", **wrong})  # type: ignore[arg-type]
