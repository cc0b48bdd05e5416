"""Iceberg or ship: what the archives hold, and the bounds of the score."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from mlecore.errors import DataError
from mlecore.prepare import extract, split, write_7z
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.1)


def unpacked(archive: Path, name: str, into: Path) -> str:
    extract(archive, into, {name: Path(name).name})
    return (into / Path(name).name).read_text()


def test_the_parts(trial: Trial, answers: pd.DataFrame, tmp_path: Path) -> None:
    images: list[dict[str, Any]] = json.loads(
        unpacked(trial.raw / "train.json.7z", "data/processed/train.json", tmp_path)
    )
    train, test = split(images, test_size=0.2)
    assert unpacked(trial.public / "train.json.7z", "train.json", tmp_path / "public") == json.dumps(train)
    keys = ["id", "inc_angle", "band_1", "band_2"]  # as in Kaggle's test.json
    expected = json.dumps([{key: image[key] for key in keys} for image in test])
    assert unpacked(trial.public / "test.json.7z", "test.json", tmp_path / "public") == expected
    assert answers["id"].tolist() == [image["id"] for image in test]
    assert sorted(path.name for path in trial.private.iterdir()) == ["sample_submission.csv", "test.csv"]


def test_objects_of_other_keys_are_refused(trial: Trial, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    images = [{"id": "a", "is_iceberg": 1}, {"id": "b"}]
    write_7z(raw / "train.json.7z", {"data/processed/train.json": json.dumps(images).encode()})
    (tmp_path / "private").mkdir()
    with pytest.raises(DataError, match=r"differ in their keys, as b shows"):
        trial.competition.loaded.call("prepare", raw=raw, public=tmp_path, private=tmp_path / "private", edition="v1")


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert 0 <= trial.grade(answers) < 1e-15
    assert trial.grade(answers.assign(is_iceberg=answers["is_iceberg"] == 1)) < 1e-15  # True and False
    assert math.isclose(trial.grade(answers.assign(is_iceberg=1 - answers["is_iceberg"])), 36.04365338911715)
