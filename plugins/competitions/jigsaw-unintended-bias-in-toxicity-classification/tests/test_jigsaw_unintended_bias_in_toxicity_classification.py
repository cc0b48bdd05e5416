"""Jigsaw Unintended Bias: predictions cut at 0.5, and AUCs of nine identities."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.3)


def test_odd_predictions_are_accepted(trial: Trial, answers: pd.DataFrame) -> None:
    toxic = answers["toxicity"] >= 0.5
    ids = answers[["id"]]
    assert trial.grade(ids.assign(prediction=np.where(toxic, np.inf, np.nan))) == 1
    assert trial.grade(ids.assign(prediction=toxic.astype(object).where(toxic, None))) == 1
    assert (
        trial.grade(ids.assign(prediction=["0.49999999999999999" if here else "0.49999999999999994" for here in toxic]))
        == 1
    )
    assert trial.grade(ids.assign(toxicity=toxic.astype(int))) == 1
    assert trial.grade(ids.assign(prediction=7)) == 0.5
    gap = ids.assign(prediction=[None, *[1.0] * (len(ids) - 1)])
    assert trial.check(gap) == ["missing predictions count as 0; there are 1"]


def test_refused(trial: Trial, answers: pd.DataFrame) -> None:
    ids, toxic = answers[["id"]], answers["toxicity"] >= 0.5
    for submission, reason in (
        (answers.assign(prediction=0.5), "it has both"),
        (ids, "it has neither"),
        (ids.assign(prediction=["x", *[0.5] * (len(ids) - 1)]), "'x'"),
        (ids.assign(prediction=[10**20, *[1] * (len(ids) - 1)]), "must hold numbers"),
        (ids.assign(prediction=(~toxic).astype(int)), "the subgroup AUC of male is 0"),
    ):
        trial.refuses(submission, reason)
