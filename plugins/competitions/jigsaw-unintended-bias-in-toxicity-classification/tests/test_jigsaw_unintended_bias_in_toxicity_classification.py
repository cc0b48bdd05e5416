"""Jigsaw Unintended Bias: predictions cut at 0.5, and AUCs of nine identities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.3)


def test_files(trial: Trial) -> None:
    assert (trial.private / "test.csv").read_bytes() == (trial.raw / "test_private_expanded.csv").read_bytes()
    assert (trial.public / "train.csv").read_bytes() == (trial.raw / "train.csv").read_bytes()
    public = pd.read_csv(trial.public / "test.csv", keep_default_na=False)
    assert "" in set(public["comment_text"])  # NA on Kaggle
    assert "NA" not in set(public["comment_text"])


def test_another_number_of_columns_is_refused(trial: Trial, answers: pd.DataFrame, tmp_path: Path) -> None:
    answers.drop(columns="wow").to_csv(tmp_path / "test_private_expanded.csv", index=False)
    trial.refuses_raw(tmp_path, "44 columns, expected 45")


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
