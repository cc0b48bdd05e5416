"""A package for each task and split: it passes the kit, and no public file contains the test part's targets."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from drafts import LOST, PRICE, ROWS, draft, metric, prepared
from mle_ext_own_data.draft import Split
from mle_ext_own_data.writing import write_competition
from mle_ext_own_data.writing.module import schema_code

from mlecore_testing import check_competition
from mlecore_toolkit import ColumnSchema

CONFIG = Path(__file__).parents[4] / "pyproject.toml"
CASES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "regression": ((PRICE,), {}),
    "several numbers": ((PRICE, "grade"), {}),
    "binary": (
        ("churned",),
        {
            "task": "binary",
            "classes": ("no", "yes"),
            "positive": "yes",
            "id": "code",
            "metric": metric("probability"),
            "split": Split(by="stratified", column="churned", test_size=0.2),
        },
    ),
    "multi-class": (
        ("kind",),
        {
            "task": "multi-class",
            "classes": ("2", "None", "half full"),
            "left_out": LOST,
            "metric": metric("probabilities"),
        },
    ),
    "labels that look like gaps": (
        ("kind",),
        {"task": "multi-class", "classes": ("2", "None", "half full"), "left_out": LOST, "metric": metric("label")},
    ),
    "text labels by group": (
        ("churned",),
        {
            "task": "binary",
            "classes": ("no", "yes"),
            "metric": metric("label"),
            "group": "patient",
            "drop": ("secret", "patient"),  # agents do not see the groups
            "split": Split(by="group", column="patient", test_size=0.25),
        },
    ),
    "ordinal by time": (
        ("grade",),
        {
            "task": "ordinal",
            "classes": ("0", "1", "2", "3"),
            "numeric_classes": True,
            "metric": metric("ordinal"),
            "time": "day",
            "time_form": "%d/%m/%Y",
            "split": Split(by="time", column="day", test_size=0.25),
        },
    ),
    "multi-label": (("cold", "wet"), {"task": "multi-label", "metric": metric("mean probability")}),
    "list of labels": (
        ("tags",),
        {"task": "multi-label", "classes": ("big", "blue", "red"), "delimiter": ";", "metric": metric("labels")},
    ),
    "ranking": (
        ("grade",),
        {
            "task": "ranking",
            "metric": metric("score"),
            "group": "patient",
            "split": Split(by="group", column="patient", test_size=0.25),
        },
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_package_of_each_task_works_and_keeps_its_answers(case: str, install, tmp_path: Path) -> None:
    targets, more = CASES[case]
    written = write_competition(draft(tmp_path, targets, **more), tmp_path / "packages")
    assert written.notes == ()
    for words in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *words, "--config", str(CONFIG), str(written.folder)]
        done = subprocess.run(ruff, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
    competition = install(written)
    check_competition(competition, short=True)
    public, private = prepared(competition, tmp_path / "real")
    perfect = competition.grade(private / "test.csv", private, public)
    sample = competition.grade(public / "sample_submission.csv", private, public)
    assert competition.facts.better(perfect, sample)
    assert math.isclose(perfect, {"minimize": 0, "maximize": 1}[competition.facts.direction], abs_tol=1e-9)
    train, test = pd.read_csv(public / "train.csv"), pd.read_csv(public / "test.csv")
    dropped = {*more.get("drop", ["secret"])}
    assert not {*targets, *dropped} & {*test} and not dropped & {*train}
    answers = pd.read_csv(private / "test.csv")
    assert len(train) + len(test) == ROWS - more.get("left_out", 0) and len(answers) == len(test)
    if targets == (PRICE,):  # each price is unique: no public file has one of the test part
        texts = "".join(
            path.read_text(errors="replace")
            for path in [*public.rglob("*"), *written.folder.rglob("*.*")]
            if path.is_file()
        )
        assert not [price for price in answers[PRICE].astype(str) if price in texts]


def test_a_schema_of_ten_thousand_columns_is_short() -> None:
    """A module has a limit of size, above which a plugin counts as broken."""
    names = [f'c "{number}"' for number in range(10_000)]
    columns = [
        ColumnSchema("y", "boolean", target=True),
        *(ColumnSchema(name, "number", low=0, high=1) for name in names),
    ]
    code = schema_code(columns)
    scope: dict[str, Any] = {"ColumnSchema": ColumnSchema}
    exec(code, scope)
    assert scope["SCHEMA"] == columns
    assert max(map(len, code.split("\n"))) <= 120 and len(code) < 200_000
