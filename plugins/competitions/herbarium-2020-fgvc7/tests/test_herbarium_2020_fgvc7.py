"""Herbarium 2020: predictions cut to integers."""

from __future__ import annotations

import pandas as pd

from mlecore_testing import Trial


def test_fractions_are_cut_off(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(Predicted=answers["Predicted"] + 0.9)) == 1
    text = [f"{kind[0]}_{kind[1:]} " if len(kind) > 1 else kind for kind in answers["Predicted"].astype(str)]
    assert trial.grade(answers.assign(Predicted=text)) == 1
    trial.refuses(answers.assign(Predicted=[*text[:-1], "3.0"]), "integers")
