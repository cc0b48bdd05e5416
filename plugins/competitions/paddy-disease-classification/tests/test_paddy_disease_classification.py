"""Paddy Doctor: a train share that is rounded down, folders that must not tell, and missing labels."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from mlecore import InvalidSubmission
from mlecore.errors import DataError
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.1)


def test_files(trial: Trial, answers: pd.DataFrame) -> None:
    train = pd.read_csv(trial.public / "train.csv")
    assert (len(train), len(answers)) == (62, 21)  # of 83: 62.25 and 20.75
    tested = {path.name: path for path in (trial.public / "test_images").iterdir()}
    assert tested.keys() == set(answers["image_id"])
    for image, label in zip(answers["image_id"], answers["label"], strict=True):
        raw = trial.raw / "train_images" / label / image
        assert raw.read_bytes() == tested[image].read_bytes()
        assert not raw.samefile(tested[image])
    found = {f"{path.parent.name}/{path.name}" for path in (trial.public / "train_images").rglob("*.jpg")}
    assert found == set(train["label"] + "/" + train["image_id"])


def test_other_columns_of_the_sample_are_refused(trial: Trial, tmp_path: Path) -> None:
    shutil.copytree(trial.raw, tmp_path / "raw")
    (tmp_path / "raw" / "sample_submission.csv").write_text("image_id,disease\n")
    with pytest.raises(DataError, match="sample_submission"):
        trial.competition.prepare(tmp_path / "raw", tmp_path / "public", tmp_path / "private")


def test_missing_labels_are_wrong(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 1
    assert trial.grade((trial.public / "sample_submission.csv").read_bytes()) == 0
    assert trial.grade(answers.assign(label=answers["label"].where(answers.index > 0))) == 20 / 21
    assert trial.grade(answers.assign(label=" " + answers["label"])) == 0
    assert trial.grade(answers.assign(label=["1", *answers["label"][1:]])) == 20 / 21


@pytest.mark.parametrize("value", [1, True])
def test_numbers_throughout_are_refused(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    with pytest.raises(InvalidSubmission, match="label"):
        trial.grade(answers.assign(label=value))
    assert trial.grade(answers.assign(label=[None, *[value] * (len(answers) - 1)])) == 0
