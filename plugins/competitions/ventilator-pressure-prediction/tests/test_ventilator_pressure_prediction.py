"""Ventilator pressure: breaths in the order of the split, ten digits, and rows that are not scored."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial


def test_breaths_stay_together_and_ids_restart(trial: Trial, answers: pd.DataFrame) -> None:
    raw, train = pd.read_csv(trial.raw / "train.csv"), pd.read_csv(trial.public / "train.csv")
    for part in (train, answers):
        assert part["id"].tolist() == list(range(1, len(part) + 1))
        breaths = part["breath_id"].to_numpy()
        assert (breaths[1:] != breaths[:-1]).sum() == len(set(breaths)) - 1
        assert (np.diff(breaths) < 0).any()
    both = pd.concat([train, answers]).sort_values(["breath_id", "time_step"])
    expected = raw.sort_values(["breath_id", "time_step"])
    assert both["u_in"].map("{:.10g}".format).tolist() == expected["u_in"].map("{:.10g}".format).tolist()
    assert any(len(f"{value!r}") > 14 for value in raw["pressure"])
    assert all(len(f"{value!r}") <= 14 for value in answers["pressure"])


@pytest.mark.parametrize("value", ["", "x", "inf", "1e400", "True"])
def test_values_are_looked_at_where_they_are_scored(trial: Trial, answers: pd.DataFrame, value: str) -> None:
    pressure, out = answers["pressure"].astype(str), answers["u_out"] == 1
    assert trial.grade(answers.assign(pressure=pressure.where(~out, value))) == 0
    row = answers.index[~out][3]
    pressure[row] = value
    trial.refuses(answers.assign(pressure=pressure), f"id {answers['id'][row]}:")


def test_all_scored_rows_weigh_alike(trial: Trial, answers: pd.DataFrame) -> None:
    scored = answers["u_out"] == 0
    assert math.isclose(trial.grade(answers.assign(pressure=0)), answers.loc[scored, "pressure"].abs().mean())
    ten = answers.assign(pressure=[" 1_0 " if here else "word" for here in scored])
    assert math.isclose(trial.grade(ten), (answers.loc[scored, "pressure"] - 10).abs().mean())
    assert math.isfinite(trial.grade(answers.assign(pressure=True)))
    assert trial.grade(answers.assign(id=answers["id"].astype(float)).sample(frac=1, random_state=1)) == 0
