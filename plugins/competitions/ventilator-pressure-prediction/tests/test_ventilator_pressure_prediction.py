"""Ventilator pressure: rows that are not scored."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial


@pytest.mark.parametrize("value", ["", "x", "inf", "1e400", "True"])
def test_values_are_looked_at_where_they_are_scored(trial: Trial, answers: pd.DataFrame, value: str) -> None:
    pressure, out = answers["pressure"].astype(str), answers["u_out"] == 1
    assert trial.grade(answers.assign(pressure=pressure.where(~out, value))) == 0
    row = answers.index[~out][3]
    pressure[row] = value
    trial.refuses(answers.assign(pressure=pressure), f"id {answers['id'][row]}:")
