"""Invasive Species: archives that are full, tables in archives."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pandas as pd
from mlecore_testing import Trial

from mlecore.prepare import extract, members


def test_each_archive_holds_the_photographs_of_its_part(trial: Trial, answers: pd.DataFrame, tmp_path: Path) -> None:
    extract(trial.raw / "train.7z", tmp_path)
    train = pd.read_csv(trial.public / "train_labels.csv.zip")
    for name, part in (("train", train), ("test", answers)):
        assert members(trial.public / f"{name}.7z") == [f"{name}/{image}.jpg" for image in part["name"]]
        extract(trial.public / f"{name}.7z", tmp_path / "public")
        for image in part["name"]:
            raw = tmp_path / "train" / f"{image}.jpg"
            assert (tmp_path / "public" / name / f"{image}.jpg").read_bytes() == raw.read_bytes()
    assert sorted([*train["name"], *answers["name"]]) == list(range(1, 61))


def test_tables_are_packed_and_the_sample_is_private_too(trial: Trial, answers: pd.DataFrame) -> None:
    names = {"train.7z", "test.7z", "train_labels.csv.zip", "sample_submission.csv.zip", "description.md"}
    assert {path.name for path in trial.public.iterdir()} <= names
    with zipfile.ZipFile(trial.public / "sample_submission.csv.zip") as archive:
        assert archive.namelist() == ["sample_submission.csv"]
        packed = archive.read("sample_submission.csv")
    assert packed == (trial.private / "sample_submission.csv").read_bytes()
    assert trial.grade(packed) == 0.5


def test_names_are_numbers(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(name=answers["name"].astype(float), invasive=answers["invasive"] == 1)) == 1
