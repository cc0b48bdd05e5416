"""RSNA mammography: breasts of several images, predictions missing, clipped or all negative."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from mle_comp_rsna_breast_cancer_detection import probabilistic_f1

from mlecore import InvalidSubmission
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.1)


def test_a_breast_has_one_answer(trial: Trial, answers: pd.DataFrame) -> None:
    test, train = pd.read_csv(trial.public / "test.csv"), pd.read_csv(trial.public / "train.csv")
    assert not set(test["patient_id"]) & set(train["patient_id"])
    assert list(answers["prediction_id"]) == sorted(test["prediction_id"].unique())  # as text: 10116_L before 999_L
    assert (test["prediction_id"] == test["patient_id"].astype(str) + "_" + test["laterality"]).all()
    raw = pd.read_csv(trial.raw / "train.csv").set_index("image_id")["cancer"]
    truth = answers.set_index("prediction_id")["cancer"]
    assert (test["prediction_id"].map(truth) == test["image_id"].map(raw)).all()
    sample = pd.read_csv(trial.public / "sample_submission.csv")
    assert sample["cancer"].unique().tolist() == pytest.approx([train["cancer"].mean()])


def test_formula() -> None:
    truth = np.array([1, 1, 0, 0])
    assert probabilistic_f1(truth, np.array([1.0, 0.5, 0.5, 0.0])) == pytest.approx(0.75)
    assert probabilistic_f1(truth, np.array([math.inf, 7.0, -1.0, -math.inf])) == 1
    assert probabilistic_f1(truth, np.array([1.0, 1.0, 0.0, math.nan])) == 0
    assert probabilistic_f1(truth, np.zeros(4)) == 0
    with pytest.raises(InvalidSubmission, match="no breast with cancer"):
        probabilistic_f1(np.zeros(4, dtype=np.int64), np.ones(4))


def test_all_negative_predictions_are_refused(trial: Trial, answers: pd.DataFrame) -> None:
    with pytest.raises(InvalidSubmission, match="below 0"):
        trial.grade(answers.assign(cancer=-1.0))
    assert trial.grade(answers.assign(cancer=[0.0, *[-1.0] * (len(answers) - 1)])) == 0
    assert trial.grade(answers.assign(cancer=[None, *[-1.0] * (len(answers) - 1)])) == 0


def test_truth_values_count_even_with_gaps(trial: Trial, answers: pd.DataFrame) -> None:
    said = answers["cancer"] == 1
    assert trial.grade(answers.assign(cancer=said)) == 1
    assert trial.grade(answers.assign(cancer=said.astype(object).where(answers.index > 0))) == 0
    assert any("cut off" in warning for warning in trial.check(answers.assign(cancer=2 * answers["cancer"])))
