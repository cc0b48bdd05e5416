"""Histopathologic Cancer Detection: a ratio that hangs on unlabelled patches, and scores that nearly tie."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from mlecore_testing import Trial


def test_without_unlabelled_patches_there_is_no_split(trial: Trial, tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "train_labels.csv").write_text("id,label\na,0\nb,1\n")
    trial.refuses_raw(tmp_path, "cannot split")


def test_the_last_digit_counts(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(label=0.3 + answers["label"] * 2e-16)) == 1  # not ties
