"""Plant Pathology 2020, edition v2: a tenth of each class is for testing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlecore_testing import Trial

CLASSES = ["healthy", "multiple_diseases", "rust", "scab"]

pytestmark = pytest.mark.trial(edition="v2")


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """A rare class, and leaves sorted by class."""
    kinds = np.repeat([0, 1, 2, 3], [100, 20, 120, 160])
    table = pd.DataFrame(np.eye(4, dtype=int)[kinds], columns=CLASSES)
    table.insert(0, "image_id", [f"Train_{number}" for number in range(len(table))])
    table.to_csv(tmp_path / "train.csv", index=False)
    (tmp_path / "images").mkdir()
    for number, kind in enumerate(kinds):
        (tmp_path / "images" / f"Train_{number}.jpg").write_bytes(f"{CLASSES[kind]} {number}".encode())
    return tmp_path


def test_each_class_is_split_by_itself(trial: Trial, trial_v1: Trial, raw: Path) -> None:
    shares = [10, 2, 12, 16]
    _, before = trial_v1.prepare(raw)
    assert pd.read_csv(before / "test.csv")[CLASSES].sum().tolist() != shares
    public, private = trial.prepare(raw)
    test = pd.read_csv(private / "test.csv")
    assert test[CLASSES].sum().tolist() == shares
    for part in (test, pd.read_csv(public / "train.csv")):
        for id, kind in zip(part["image_id"], part[CLASSES].idxmax(axis=1), strict=True):
            assert (public / "images" / f"{id}.jpg").read_text().split()[0] == kind
