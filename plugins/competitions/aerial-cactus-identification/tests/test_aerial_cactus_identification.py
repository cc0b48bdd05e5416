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
from mlecore.testing import check_competition

CACTUS = mlecore.competition("aerial-cactus-identification")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """raw/ (the stand-in), public/ and private/."""
    folder = tmp_path_factory.mktemp("cactus")
    CACTUS.make_raw(folder / "raw", size=0.2)
    CACTUS.prepare(folder / "raw", folder / "public", folder / "private")
    return folder


@pytest.fixture
def answers(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "private" / "test.csv")


def grade(table: pd.DataFrame, data: Path, tmp_path: Path) -> float:
    """The score; checked as well, which must agree on what is valid."""
    path = tmp_path / "submission.csv"
    table.to_csv(path, index=False)
    try:
        CACTUS.check(path, data / "public")
    except mlecore.InvalidSubmission:
        with pytest.raises(mlecore.InvalidSubmission):
            CACTUS.grade(path, data / "private")
        raise
    return CACTUS.grade(path, data / "private")


def test_rows_are_split_as_published(data: Path) -> None:
    from sklearn.model_selection import train_test_split

    labels = pd.read_csv(data / "raw" / "train.csv")
    train, test = train_test_split(labels, test_size=0.19, random_state=0)
    assert (data / "public" / "train.csv").read_text() == train.to_csv(index=False)
    assert (data / "private" / "test.csv").read_text() == test.to_csv(index=False)
    assert (data / "public" / "sample_submission.csv").read_text() == test.assign(has_cactus=0.5).to_csv(index=False)


@pytest.mark.parametrize(("archive", "table"), [("train.zip", "public/train.csv"), ("test.zip", "private/test.csv")])
def test_each_archive_holds_the_photographs_of_its_part(data: Path, archive: str, table: str) -> None:
    with zipfile.ZipFile(data / "raw" / "train.zip") as raw, zipfile.ZipFile(data / "public" / archive) as part:
        assert sorted(part.namelist()) == sorted(pd.read_csv(data / table)["id"])
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


def test_scores(data: Path, answers: pd.DataFrame, tmp_path: Path) -> None:
    assert grade(answers, data, tmp_path) == 1
    assert grade(answers.assign(has_cactus=1 - answers["has_cactus"]), data, tmp_path) == 0
    assert grade(answers.assign(has_cactus=0.7), data, tmp_path) == 0.5
    guess = answers.assign(has_cactus=np.linspace(0, 1, len(answers)).round(1))  # with ties
    shuffled = guess.sample(frac=1, random_state=1)[["has_cactus", "id"]].assign(note="x")
    assert grade(guess, data, tmp_path) == grade(shuffled, data, tmp_path)
    assert grade(answers.assign(has_cactus=answers["has_cactus"] == 1), data, tmp_path) == 1  # True and False


@pytest.mark.parametrize("value", [None, "high", "", -1e-9, 1.0000001, "inf", "50%"])
def test_a_prediction_is_a_number_from_0_to_1(data: Path, answers: pd.DataFrame, tmp_path: Path, value: object) -> None:
    bad = answers.astype({"has_cactus": object})
    bad.loc[3, "has_cactus"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="has_cactus"):
        grade(bad, data, tmp_path)


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
def test_rows_are_those_of_the_sample(data: Path, answers: pd.DataFrame, tmp_path: Path, change: object) -> None:
    with pytest.raises(mlecore.InvalidSubmission):
        grade(change(answers), data, tmp_path)


@pytest.mark.parametrize("size", [0.01, 1])
def test_the_stand_in_repeats_itself_and_holds_both_classes_in_each_part(tmp_path: Path, size: float) -> None:
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
