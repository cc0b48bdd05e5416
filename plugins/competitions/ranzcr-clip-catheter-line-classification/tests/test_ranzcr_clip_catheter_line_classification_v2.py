"""RANZCR CLiP, edition v2: no patient in both parts, and eleven labels."""

from __future__ import annotations

import pandas as pd
import pytest
from mle_comp_ranzcr_clip_catheter_line_classification import GRADED, ID, LABELS
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def patients_of_both(trial: Trial) -> set[str]:
    train, test = pd.read_csv(trial.public / "train.csv"), pd.read_csv(trial.private / "test.csv")
    return set(train["PatientID"]) & set(test["PatientID"])


def test_no_patient_is_in_both_parts(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    assert patients_of_both(trial_v1)
    assert not patients_of_both(trial)
    assert len(answers) == pytest.approx(len(pd.read_csv(trial_v1.private / "test.csv")), rel=0.1)
    assert {path.stem for path in (trial.public / "test").iterdir()} == set(answers[ID])


def test_eleven_labels_are_asked_for(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    assert pd.read_csv(trial_v1.public / "sample_submission.csv", nrows=0).columns.tolist() == [ID, *GRADED]
    assert pd.read_csv(trial.public / "sample_submission.csv", nrows=0).columns.tolist() == [ID, *LABELS]
    trial.refuses(answers[[ID, *GRADED]], "CVC - Normal")
