"""Paddy Doctor, edition v2: the sample submission has labels."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_the_sample_has_labels(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    v1, v2 = (pd.read_csv(each.public / "sample_submission.csv") for each in (trial_v1, trial))
    assert v1["label"].isna().all()
    assert trial_v1.grade(v1) == 0
    assert trial.grade(v2) == (answers["label"] == "normal").mean() > 0
