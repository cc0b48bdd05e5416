"""Plant Pathology 2020: leaves that get new names, and a mean of four curves."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from mlecore_testing import Trial

CLASSES = ["healthy", "multiple_diseases", "rust", "scab"]


def test_names_are_exchanged_at_once(trial: Trial, answers: pd.DataFrame) -> None:
    from sklearn.model_selection import train_test_split

    parts = train_test_split(pd.read_csv(trial.raw / "train.csv"), test_size=0.1, random_state=0)
    for part, prefix in zip(parts, ("Train_", "Test_"), strict=True):
        for number, before in enumerate(part["image_id"]):
            image = trial.public / "images" / f"{prefix}{number}.jpg"
            assert image.read_bytes() == (trial.raw / "images" / f"{before}.jpg").read_bytes()
    assert answers["image_id"].tolist() == [f"Test_{number}" for number in range(len(parts[1]))]
    assert len(list((trial.public / "images").iterdir())) == len(parts[0]) + len(parts[1])


@pytest.mark.parametrize(
    ("header_and_first", "reason"),
    [
        ("image_id,healthy,multiple_diseases,scab,rust\nTrain_0,1,0,0,0", "has the columns"),
        ("image_id,healthy,multiple_diseases,rust,scab\nX0,1,0,0,0", "start with Train_"),
    ],
)
def test_odd_tables_are_refused(trial: Trial, tmp_path: Path, header_and_first: str, reason: str) -> None:
    rows = "".join(f"\nTrain_{i},0,0,1,0" for i in range(1, 12))
    (tmp_path / "train.csv").write_text(f"{header_and_first}{rows}\n")
    trial.refuses_raw(tmp_path, reason)


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(rust=0.25)) == 0.875
    assert trial.grade(answers.assign(**{name: 100 * answers[name] - 7 for name in CLASSES})) == 1
    text = answers.astype({"rust": object})
    text.loc[0, "rust"] = "1_0"
    assert math.isfinite(trial.grade(text))
