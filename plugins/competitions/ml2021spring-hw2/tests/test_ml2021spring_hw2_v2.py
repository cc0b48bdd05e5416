"""ML2021Spring-hw2, edition v2: frames of the test part do not overlap with those for training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")
FOLDER = Path("timit_11", "timit_11")


def frames(trial: Trial, part: str) -> np.ndarray:
    return np.load(trial.public / FOLDER / f"{part}_11.npy").reshape(-1, 11, 39)


def overlap(trial: Trial) -> float:
    """The share of test rows of which a frame is also in a row for training."""
    known = {frame.tobytes() for frame in frames(trial, "train").reshape(-1, 39)}
    return float(np.mean([any(frame.tobytes() in known for frame in row) for row in frames(trial, "test")]))


def test_parts_do_not_overlap(trial: Trial, trial_v1: Trial) -> None:
    assert overlap(trial_v1) > 0.99
    assert overlap(trial) == 0
    share = len(frames(trial, "test")) / len(frames(trial_v1, "test"))
    assert 0.9 < share < 1.1


def test_rows_are_consecutive_frames_with_their_labels(trial: Trial, answers: pd.DataFrame) -> None:
    raw = trial.raw / FOLDER
    place = {row.tobytes(): number for number, row in enumerate(np.load(raw / "train_11.npy"))}
    labels = np.load(raw / "train_label_11.npy")
    for part, given in (
        ("train", np.load(trial.public / FOLDER / "train_label_11.npy").astype(int)),
        ("test", answers["ClassId"].to_numpy()),
    ):
        places = np.array([place[row.tobytes()] for row in frames(trial, part)])
        assert (labels[places].astype(int) == given).all()
        assert (np.diff(places) > 0).all()
        assert (np.diff(places) == 1).mean() > 0.9
