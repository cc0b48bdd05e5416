"""RANZCR CLiP, edition v2: no patient in both parts, and eleven labels."""

from __future__ import annotations

import pandas as pd
import pytest
from mle_comp_ranzcr_clip_catheter_line_classification import GRADED, ID, LABELS

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_eleven_labels_are_asked_for(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    assert pd.read_csv(trial_v1.public / "sample_submission.csv", nrows=0).columns.tolist() == [ID, *GRADED]
    assert pd.read_csv(trial.public / "sample_submission.csv", nrows=0).columns.tolist() == [ID, *LABELS]
    trial.refuses(answers[[ID, *GRADED]], "CVC - Normal")
