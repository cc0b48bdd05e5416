"""RSNA 2022: four draws that keep the shares of annotated studies, and a loss weighted within each study."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from mle_comp_rsna_2022_cervical_spine_fracture_detection import STUDY, weighted_loss
from mlecore_testing import Trial


def test_a_tenth_of_each_kind_is_for_training(trial: Trial) -> None:
    raw, train = pd.read_csv(trial.raw / "train.csv"), pd.read_csv(trial.public / "train.csv")
    boxed = set(pd.read_csv(trial.raw / "train_bounding_boxes.csv")[STUDY])
    segmented = {path.stem for path in (trial.raw / "segmentations").iterdir()}
    kept_boxes = set(pd.read_csv(trial.public / "train_bounding_boxes.csv")[STUDY])
    kept_segments = {path.stem for path in (trial.public / "segmentations").iterdir()}
    assert (len(raw), len(boxed), len(segmented), len(boxed & segmented)) == (80, 20, 15, 10)
    assert (len(train), len(kept_boxes), len(kept_segments), len(kept_boxes & kept_segments)) == (8, 2, 2, 1)
    assert kept_boxes | kept_segments <= set(train[STUDY])
    assert train.equals(raw[raw[STUDY].isin(train[STUDY])].reset_index(drop=True))  # in the order of the file


def test_loss_is_weighted_within_a_study() -> None:
    rows = {"a.b_patient_overall": (1, 0.8), "a.b_C1": (1, 0.6), "a.b_C2": (0, 0.3), "c.d_C1": (0, 1.0)}
    frame = pd.DataFrame({"row_id": list(rows), "fractured": [y for y, _ in rows.values()]})
    predictions = pd.DataFrame({"fractured": [p for _, p in rows.values()]})
    first = -(14 * math.log(0.8) + 2 * math.log(0.6) + math.log(0.7)) / 17
    second = -math.log(1 - (1 - 1e-15))
    assert weighted_loss(frame, predictions) == pytest.approx((first + second) / 2, abs=1e-12)


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(fractured=0.5)) == pytest.approx(math.log(2))
    assert trial.grade(answers.assign(fractured=answers["fractured"] == 1)) == pytest.approx(0, abs=1e-12)
