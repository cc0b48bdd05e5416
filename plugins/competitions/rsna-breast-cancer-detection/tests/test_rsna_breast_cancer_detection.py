"""RSNA mammography: predictions missing, clipped or all negative."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from mle_comp_rsna_breast_cancer_detection import probabilistic_f1

from mlecore import InvalidSubmission
from mlecore_testing import Trial


def test_formula() -> None:
    truth = np.array([1, 1, 0, 0])
    assert probabilistic_f1(truth, np.array([1.0, 0.5, 0.5, 0.0])) == pytest.approx(0.75)
    assert probabilistic_f1(truth, np.array([math.inf, 7.0, -1.0, -math.inf])) == 1
    assert probabilistic_f1(truth, np.array([1.0, 1.0, 0.0, math.nan])) == 0
    assert probabilistic_f1(truth, np.zeros(4)) == 0
    with pytest.raises(InvalidSubmission, match="no breast with cancer"):
        probabilistic_f1(np.zeros(4, dtype=np.int64), np.ones(4))


def test_all_negative_predictions_are_refused(trial: Trial, answers: pd.DataFrame) -> None:
    trial.refuses(answers.assign(cancer=-1.0), "below 0")
    assert trial.grade(answers.assign(cancer=[0.0, *[-1.0] * (len(answers) - 1)])) == 0
    assert trial.grade(answers.assign(cancer=[None, *[-1.0] * (len(answers) - 1)])) == 0
