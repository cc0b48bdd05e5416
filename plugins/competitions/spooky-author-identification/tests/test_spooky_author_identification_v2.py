"""Spooky Author Identification, edition v2: rows are rescaled, columns go by their names."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")
AUTHORS = ["EAP", "HPL", "MWS"]


def test_rows_are_rescaled(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    tenths = answers.assign(EAP=0.1, HPL=0.1, MWS=0.1)
    trial_v1.refuses(tenths, "add up to 1")
    assert math.isclose(trial.grade(tenths), math.log(3))
    trial.refuses(answers.assign(EAP=0, HPL=0, MWS=0), "sum above 0")


def test_certain_and_wrong_is_clipped_as_on_kaggle(trial: Trial, answers: pd.DataFrame) -> None:
    wrong = answers.assign(EAP=answers["HPL"], HPL=answers["MWS"], MWS=answers["EAP"])
    assert math.isclose(trial.grade(wrong), -math.log(1e-15))


def test_the_id_may_come_last(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    trial_v1.refuses(answers[[*AUTHORS, "id"]], "the first column must be id")
    assert trial.grade(answers[[*AUTHORS, "id"]]) < 1e-15


def test_it_agrees_with_the_definition(trial: Trial, answers: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    truth = [AUTHORS.index(name) for name in answers[AUTHORS].idxmax(axis=1)]
    for _ in range(50):
        given = rng.random((len(answers), 3)) * rng.choice([1e-3, 1.0])
        losses = [-math.log(row[true] / math.fsum(row)) for row, true in zip(given.tolist(), truth, strict=True)]
        frame = answers[["id"]].join(pd.DataFrame(given, columns=AUTHORS))
        assert abs(trial.competition.grade(frame, trial.private) - math.fsum(losses) / len(losses)) < 1e-9
