"""Spaceship Titanic: truth that is spelled in many ways."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.2)


def put(table: pd.DataFrame, value: object) -> pd.DataFrame:
    """One cell replaced, the others as they are."""
    changed = table.astype({"Transported": object})
    changed.loc[2, "Transported"] = value
    return changed


def test_truth_is_spelled_in_many_ways(trial: Trial, answers: pd.DataFrame) -> None:
    truth = answers["Transported"]
    for spelling in (truth.map({True: "TRUE", False: "fAlSe"}), truth.astype(int), truth * 1.0):
        assert trial.grade(answers.assign(Transported=spelling)) == 1


@pytest.mark.parametrize("value", [2, -1, 7.0])
def test_another_whole_number_is_wrong_but_valid(trial: Trial, answers: pd.DataFrame, value: float) -> None:
    numbers = answers.assign(Transported=answers["Transported"].astype(int))
    assert trial.grade(put(numbers, value)) == pytest.approx(1 - 1 / len(answers), abs=1e-12)


@pytest.mark.parametrize("value", ["yes", " True", 1])
def test_one_odd_cell_spoils_a_column_of_truth_values(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    trial.refuses(put(answers, value), rf"found PassengerId '{answers['PassengerId'][2]}': '{value}'$")
