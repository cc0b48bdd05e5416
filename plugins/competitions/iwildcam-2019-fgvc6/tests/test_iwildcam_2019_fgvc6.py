"""iWildCam 2019: places that are in one part only, repeated ids, an index in the sample."""

from __future__ import annotations

import zipfile

import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.2)


def test_the_sample_has_the_raw_tables_row_numbers(trial: Trial, answers: pd.DataFrame) -> None:
    raw = pd.read_csv(trial.raw / "train.csv")
    sample = (trial.public / "sample_submission.csv").read_text().splitlines()
    rows = [row for row, id in enumerate(raw["id"]) if id in set(answers["Id"])]
    assert sample == [",Id,Category", *(f"{row},{raw['id'][row]},0" for row in rows)]
    assert rows != list(range(len(rows))) and raw["category_id"][rows].tolist() == answers["Category"].tolist()
    assert "category_id" not in pd.read_csv(trial.public / "test.csv").columns
    assert (trial.private / "test.csv").read_text().splitlines()[0] == ",".join(raw.columns)


def test_a_repeated_id_has_one_picture(trial: Trial, answers: pd.DataFrame) -> None:
    assert answers["Id"].duplicated().sum() == 1
    public = trial.public / "test_images.zip"
    with zipfile.ZipFile(trial.raw / "train_images.zip") as raw, zipfile.ZipFile(public) as made:
        assert made.namelist() == [f"{id}.jpg" for id in dict.fromkeys(answers["Id"])]
        assert all(made.read(name) == raw.read(name) for name in made.namelist())


def test_repeated_ids_must_be_repeated(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(Category=answers["Category"] + 0.5)) == 1
    trial.refuses(answers.drop_duplicates("Id"), "rows; expected")
    trial.refuses(answers.rename(columns={"Category": "Predicted"}), "Category")
