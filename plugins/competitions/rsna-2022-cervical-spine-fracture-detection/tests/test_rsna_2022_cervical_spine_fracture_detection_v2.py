"""RSNA 2022, edition v2: no training study loses its annotations."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

STUDY = "StudyInstanceUID"

pytestmark = pytest.mark.trial(size=1, edition="v2")


def withheld(trial: Trial) -> tuple[int, int]:
    """Boxes and segmentations of training studies that are not public."""
    train = set(pd.read_csv(trial.public / "train.csv")[STUDY])
    boxes = pd.read_csv(trial.raw / "train_bounding_boxes.csv")[STUDY].isin(train)
    segmented = {path.stem for path in (trial.raw / "segmentations").iterdir()} & train
    public = {path.stem for path in (trial.public / "segmentations").iterdir()}
    assert public <= train
    kept = pd.read_csv(trial.public / "train_bounding_boxes.csv")[STUDY]
    assert set(kept) <= train
    return int(boxes.sum()) - len(kept), len(segmented - public)


def test_every_annotation_of_a_training_study_is_public(trial: Trial, trial_v1: Trial) -> None:
    assert min(withheld(trial_v1)) > 0
    assert withheld(trial) == (0, 0)
    for name in ("train.csv", "test.csv", "sample_submission.csv"):
        assert (trial.public / name).read_bytes() == (trial_v1.public / name).read_bytes()
