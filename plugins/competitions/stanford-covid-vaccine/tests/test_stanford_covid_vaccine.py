"""OpenVaccine: positions without measurements."""

from __future__ import annotations

import math

import pandas as pd
from mle_comp_stanford_covid_vaccine import TARGETS

from mlecore_testing import Trial


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
