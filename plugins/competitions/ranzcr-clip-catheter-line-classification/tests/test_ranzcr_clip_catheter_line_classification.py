"""RANZCR CLiP: nine of eleven labels are graded."""

from __future__ import annotations

import pandas as pd
from mle_comp_ranzcr_clip_catheter_line_classification import GRADED, ID

from mlecore_testing import Trial


def test_nine_of_eleven_labels_are_graded(trial: Trial, answers: pd.DataFrame) -> None:
    assert (answers[GRADED].nunique() == 2).all()
    assert trial.grade(answers[[*GRADED, ID]]) == 1
    assert trial.grade(answers.assign(**{"CVC - Normal": "x", "Swan Ganz Catheter Present": None})) == 1
    assert abs(trial.grade(answers.assign(**{"NGT - Normal": 0.5})) - (8 + 0.5) / 9) < 1e-12
