"""RANZCR CLiP, edition v2: no patient in both parts, and eleven labels."""

from __future__ import annotations

import numpy as np
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


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial, answers: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        given = rng.integers(0, 5, (len(answers), len(LABELS))) / 4  # with ties
        areas = []
        for place, label in enumerate(LABELS):
            positive = answers[label].to_numpy() == 1
            above = given[positive, place][:, None] - given[~positive, place][None]
            areas.append(((above > 0) + 0.5 * (above == 0)).mean())
        frame = answers[[ID]].join(pd.DataFrame(given, columns=LABELS)).sample(frac=1, random_state=1)
        assert abs(trial.competition.grade(frame, trial.private) - np.mean(areas)) < 1e-9
