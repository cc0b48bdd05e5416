"""RSNA-MICCAI, edition v2: faulty scans are for training."""

from __future__ import annotations

import pandas as pd
import pytest
from mle_comp_rsna_miccai_brain_tumor_radiogenomic_classification.v2 import FAULTY

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def cases(trial: Trial) -> tuple[list[str], list[str]]:
    tables = (trial.public / "train_labels.csv", trial.private / "test.csv")
    train, test = (pd.read_csv(path, dtype=str)["BraTS21ID"].tolist() for path in tables)
    assert {path.name for path in (trial.public / "test").iterdir()} == set(test)
    return train, test


def test_no_faulty_case_is_to_be_predicted(trial: Trial, trial_v1: Trial) -> None:
    before, after = cases(trial_v1), cases(trial)
    assert set(before[1]) & set(FAULTY)
    assert set(FAULTY) <= set(after[0])
    assert after[1] == [case for case in before[1] if case not in FAULTY]
    assert sorted([*after[0], *after[1]]) == sorted([*before[0], *before[1]])
