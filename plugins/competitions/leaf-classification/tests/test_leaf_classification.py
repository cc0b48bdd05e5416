"""Leaf Classification: leaves of both parts in one folder, rows that add up to 1."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

import pandas as pd
from mlecore_testing import Trial

from mlecore.prepare import ZipWriter


def test_pictures_of_both_parts_are_in_one_folder(trial: Trial, answers: pd.DataFrame) -> None:
    ids = [*pd.read_csv(trial.public / "train.csv")["id"], *answers["id"]]
    with zipfile.ZipFile(trial.raw / "images.zip") as archive:
        assert {path.name: path.read_bytes() for path in (trial.public / "images").iterdir()} == {
            f"{leaf}.jpg": archive.read(f"images/{leaf}.jpg") for leaf in ids
        }
        assert len(archive.namelist()) > len(ids)  # Kaggle's own test leaves stay behind
    assert list((trial.private / "images").iterdir()) == []


def test_a_missing_picture_is_named(trial: Trial, tmp_path: Path) -> None:
    (tmp_path / "train.csv.zip").write_bytes((trial.raw / "train.csv.zip").read_bytes())
    with ZipWriter(tmp_path / "images.zip") as archive:
        archive.add("images/1.jpg", b"")
    trial.refuses_raw(tmp_path, r"images/\d+\.jpg")


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    sample = pd.read_csv(trial.public / "sample_submission.csv")
    assert len(sample.columns) == 100
    assert math.isclose(trial.grade(sample), math.log(99))
    assert trial.grade(answers.assign(Acer_Mono=1e-5)) < 1e-15  # within the tolerance; the synthetic data have none
    trial.refuses(answers.assign(Acer_Mono=1.2e-5), "add up to 1")
