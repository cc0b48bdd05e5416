"""OSIC: every patient at every week, of which only the last three visits are graded."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from mlecore_testing import Trial


@pytest.fixture
def graded(answers: pd.DataFrame) -> pd.DataFrame:
    visits = answers.dropna(subset=["FVC"]).sort_values("Weeks")
    return visits.groupby("Patient").tail(3).reset_index(drop=True)


def test_anchors(trial: Trial, answers: pd.DataFrame, graded: pd.DataFrame) -> None:
    assert trial.grade(answers.fillna({"FVC": 1})) == pytest.approx(-math.log(math.sqrt(2) * 100))
    assert trial.grade(graded.assign(Confidence=-5)) == pytest.approx(-math.log(math.sqrt(2) * 70))
    far = -math.sqrt(2) * 1000 / 70 - math.log(math.sqrt(2) * 70)
    assert trial.grade(graded.assign(FVC=math.inf, Confidence=None)) == pytest.approx(far)
    assert trial.grade(graded.assign(Confidence=math.inf)) == -math.inf


def test_a_part_of_the_rows_is_enough(trial: Trial, answers: pd.DataFrame, graded: pd.DataFrame) -> None:
    best = -math.log(math.sqrt(2) * 100)
    assert trial.grade(graded.tail(1)) == pytest.approx(best)
    assert math.isnan(trial.grade(answers[~answers["Patient_Week"].isin(graded["Patient_Week"])].fillna({"FVC": 1})))
    assert math.isnan(trial.grade(graded.assign(FVC=None)))


def test_only_graded_visits_may_not_be_repeated(trial: Trial, answers: pd.DataFrame, graded: pd.DataFrame) -> None:
    rest = answers[~answers["Patient_Week"].isin(graded["Patient_Week"])]
    assert trial.grade(pd.concat([graded, rest, rest])) < 0
    trial.refuses(pd.concat([graded, graded.head(1)]), "repeat a Patient_Week")
    alone = graded.head(1)
    near = trial.grade(pd.concat([alone, alone.assign(FVC=alone["FVC"] + 100)]))
    assert near == pytest.approx(-math.sqrt(2) * 50 / 100 - math.log(math.sqrt(2) * 100))


@pytest.mark.parametrize("cells", [["word", 1], [2**64, 1], []])
def test_a_column_that_is_not_numeric_is_refused(trial: Trial, graded: pd.DataFrame, cells: list[object]) -> None:
    trial.refuses(graded.head(len(cells)).assign(FVC=pd.Series(cells, dtype=object)), "FVC")
    assert trial.grade(graded.assign(FVC=True, Confidence=True)) < 0


def test_two_visits_in_a_week_are_refused(trial: Trial, tmp_path: Path) -> None:
    table = pd.read_csv(trial.raw / "train.csv")
    pd.concat([table, table]).to_csv(tmp_path / "train.csv", index=False)
    trial.refuses_raw(tmp_path, "visits in a week")
