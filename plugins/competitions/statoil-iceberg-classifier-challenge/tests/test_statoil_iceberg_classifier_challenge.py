"""Iceberg or ship: what the archive must hold, and the bounds of the score."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
from mlecore_testing import Trial

from mlecore.prepare import write_7z


def test_objects_of_other_keys_are_refused(trial: Trial, tmp_path: Path) -> None:
    images = [{"id": "a", "is_iceberg": 1}, {"id": "b"}]
    write_7z(tmp_path / "train.json.7z", {"data/processed/train.json": json.dumps(images).encode()})
    trial.refuses_raw(tmp_path, "differ in their keys, as b shows")


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert 0 <= trial.grade(answers) < 1e-15
    assert trial.grade(answers.assign(is_iceberg=answers["is_iceberg"] == 1)) < 1e-15  # True and False
    assert math.isclose(trial.grade(answers.assign(is_iceberg=1 - answers["is_iceberg"])), 36.04365338911715)
