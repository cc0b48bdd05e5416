"""Paddy Doctor, edition v2: the sample submission has labels, and there are ten of them."""

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


@pytest.mark.parametrize("label", ["Normal", "normal ", "rust", None])
def test_other_labels_are_invalid(trial: Trial, trial_v1: Trial, answers: pd.DataFrame, label: str | None) -> None:
    odd = answers[["image_id"]].assign(label=[label, *answers["label"][1:]])
    assert trial_v1.grade(odd) == 1 - 1 / len(answers)
    trial.refuses(odd, "column 'label' must hold")
