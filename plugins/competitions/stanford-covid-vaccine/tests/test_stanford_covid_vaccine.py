"""OpenVaccine: types that pandas guesses, positions without measurements, and rows selected by their place."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest
from mle_comp_stanford_covid_vaccine import SCORED, TARGETS
from mlecore_testing import Trial


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_records(trial: Trial, answers: pd.DataFrame) -> None:
    raw, train, test = (lines(path) for path in (trial.raw / "train.json", *sorted(trial.public.glob("*.json"))[::-1]))
    known = {record["id"]: record for record in raw}
    assert {known[record["id"]]["SN_filter"] for record in test} == {1.0}
    assert [record["index"] for record in (*train, *test)] == [*range(36), *range(4)]
    assert '"SN_filter":1,' in (trial.public / "train.json").read_text()  # written as 1.0 in the raw file
    first = known[test[0]["id"]]
    assert answers["reactivity"].head(20).tolist() == [*first["reactivity"], *[0.0] * 8]
    assert answers["keep"].head(20).tolist() == [True] * 12 + [False] * 8
    assert "0.0000000000,False\n" in (trial.private / "test.csv").read_text()


def test_rows_are_selected_by_their_place(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 0
    for order in (answers.iloc[::-1], answers.sort_values("id_seqpos")):
        assert trial.grade(order) > 0.1
    unscored = answers.index[~answers["keep"]]
    swapped = answers.rename(index={unscored[0]: unscored[-1], unscored[-1]: unscored[0]}).sort_index()
    assert trial.grade(swapped) == 0


def test_only_scored_cells_are_looked_at(trial: Trial, answers: pd.DataFrame) -> None:
    words = answers.astype(dict.fromkeys(TARGETS, object))
    words.loc[~words["keep"], TARGETS] = "word"
    words["deg_pH10"] = ""
    assert trial.grade(words) == 0
    for cell in ("word", "", "inf", "True", "1e400"):
        words.loc[3, "deg_Mg_50C"] = cell
        trial.refuses(words, "deg_Mg_50C")
    assert math.isfinite(trial.grade(answers.assign(reactivity=[" 1_0 "] * len(answers))))
    assert trial.grade(answers.assign(reactivity=1e200)) == math.inf


def test_columns_weigh_alike(trial: Trial, answers: pd.DataFrame) -> None:
    zero = answers.assign(**dict.fromkeys(TARGETS, 0))
    kept = answers[answers["keep"]]
    assert trial.grade(zero) == pytest.approx((kept[SCORED] ** 2).mean().pow(0.5).mean(), abs=1e-12)
