"""Hindi and Tamil questions, edition v2: articles are on one side of the split, and texts are text."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.5)


def test_texts_are_text(trial: Trial, trial_v1: Trial) -> None:
    tables = [pd.read_csv(each.public / "train.csv", na_filter=False) for each in (trial, trial_v1)]
    assert "NA" in set(tables[0]["answer_text"]) and "NA" not in set(tables[1]["answer_text"])
    truth = pd.DataFrame({"id": ["a", "b", "c"], "PredictionString": ["NA", "007", ""]})
    assert trial.grade(truth, truth) == 1
    trial_v1.refuses(truth, "numbers", truth)
    assert trial.grade(truth.assign(PredictionString=["", "7", "NA"]), truth) == 0
