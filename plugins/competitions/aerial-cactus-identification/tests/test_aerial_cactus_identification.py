"""Aerial Cactus Identification: its split, its archives, and what its grader takes."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.prepare import ZipWriter
from mlecore.testing import Trial, check_competition

CACTUS = mlecore.competition("aerial-cactus-identification")


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("aerial-cactus-identification", tmp_path_factory.mktemp("cactus"), size=0.2)


@pytest.fixture
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "test.csv")


def test_rows_are_split_as_published(trial: Trial) -> None:
    from sklearn.model_selection import train_test_split

    labels = pd.read_csv(trial.raw / "train.csv")
    train, test = train_test_split(labels, test_size=0.19, random_state=0)
    assert (trial.public / "train.csv").read_text() == train.to_csv(index=False)
    assert (trial.private / "test.csv").read_text() == test.to_csv(index=False)
    assert (trial.public / "sample_submission.csv").read_text() == test.assign(has_cactus=0.5).to_csv(index=False)


@pytest.mark.parametrize(("archive", "table"), [("train.zip", "public/train.csv"), ("test.zip", "private/test.csv")])
def test_each_archive_holds_the_photographs_of_its_part(trial: Trial, archive: str, table: str) -> None:
    with zipfile.ZipFile(trial.raw / "train.zip") as raw, zipfile.ZipFile(trial.public / archive) as part:
        assert sorted(part.namelist()) == sorted(pd.read_csv(trial.folder / table)["id"])
        assert all(part.read(image) == raw.read(f"train/{image}") for image in part.namelist())


def test_a_photograph_that_is_missing_is_said(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "train.csv").write_text("id,has_cactus\n" + "".join(f"{i}.jpg,{i % 2}\n" for i in range(10)))
    with ZipWriter(raw / "train.zip") as images:
        for i in range(9):
            images.add(f"train/{i}.jpg", b"")
    with pytest.raises(DataError, match=r"train/9\.jpg"):
        CACTUS.prepare(raw, tmp_path / "public", tmp_path / "private")


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 1
    assert trial.grade(answers.assign(has_cactus=1 - answers["has_cactus"])) == 0
    assert trial.grade(answers.assign(has_cactus=0.7)) == 0.5
    guess = answers.assign(has_cactus=np.linspace(0, 1, len(answers)).round(1))  # with ties
    shuffled = guess.sample(frac=1, random_state=1)[["has_cactus", "id"]].assign(note="x")
    assert trial.grade(guess) == trial.grade(shuffled)
    assert trial.grade(answers.assign(has_cactus=answers["has_cactus"] == 1)) == 1  # True and False


@pytest.mark.parametrize("value", [None, "high", "", -1e-9, 1.0000001, "inf", "50%"])
def test_a_prediction_is_a_number_from_0_to_1(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    bad = answers.astype({"has_cactus": object})
    bad.loc[3, "has_cactus"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="has_cactus"):
        trial.grade(bad)


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.iloc[1:],
        lambda table: pd.concat([table, table.iloc[:1]]),
        lambda table: table.assign(id=["nope.jpg", *table["id"].iloc[1:]]),
        lambda table: table.assign(id=[table["id"].iloc[1], *table["id"].iloc[1:]]),
        lambda table: table.drop(columns="id"),
        lambda table: table.rename(columns={"has_cactus": "Has_Cactus"}),
        lambda table: table.iloc[:0],
    ],
)
def test_rows_are_those_of_the_sample(trial: Trial, answers: pd.DataFrame, change: object) -> None:
    with pytest.raises(mlecore.InvalidSubmission):
        trial.grade(change(answers))


@pytest.mark.parametrize("size", [0.01, 1])
def test_synthetic_data_repeats_itself_and_holds_both_classes_in_each_part(tmp_path: Path, size: float) -> None:
    for name in ("one", "two"):
        CACTUS.make_raw(tmp_path / name, seed=4, size=size)
    for file in sorted((tmp_path / "one").iterdir()):
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()
    CACTUS.prepare(tmp_path / "one", tmp_path / "public", tmp_path / "private")
    for table in ("public/train.csv", "private/test.csv"):
        assert set(pd.read_csv(tmp_path / table)["has_cactus"]) == {0, 1}


@pytest.mark.slow
def test_it_conforms() -> None:
    check_competition("aerial-cactus-identification")
