"""APTOS 2019: photographs that follow their split, and a kappa on the grades that occur."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import Trial, check_competition

APTOS = mlecore.competition("aptos2019-blindness-detection")


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("aptos2019-blindness-detection", tmp_path_factory.mktemp("aptos"), size=0.1)


@pytest.fixture
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "test.csv")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("aptos2019-blindness-detection")


def test_split_and_photographs(trial: Trial) -> None:
    from sklearn.model_selection import train_test_split

    parts = train_test_split(pd.read_csv(trial.raw / "train.csv"), test_size=0.1, random_state=0)
    for part, table, folder in zip(parts, ("public/train.csv", "private/test.csv"), ("train", "test"), strict=True):
        assert (trial.folder / table).read_text() == part.to_csv(index=False)
        images = sorted((trial.public / f"{folder}_images").iterdir())
        assert [image.stem for image in images] == sorted(part["id_code"])
        assert all(image.read_bytes() == (trial.raw / "train_images" / image.name).read_bytes() for image in images)
    assert set(parts[1]["diagnosis"]) == {0, 1, 2, 3, 4}


def test_only_the_columns_of_the_sheet_are_handed_out(tmp_path: Path) -> None:
    (tmp_path / "raw" / "train_images").mkdir(parents=True)
    rows = "".join(f"note,{i % 5},a{i}\n" for i in range(10))
    (tmp_path / "raw" / "train.csv").write_text(f"more,diagnosis,id_code\n{rows}")
    for i in range(10):
        (tmp_path / "raw" / "train_images" / f"a{i}.png").write_bytes(b"")
    APTOS.prepare(tmp_path / "raw", tmp_path / "public", tmp_path / "private")
    assert (tmp_path / "private" / "test.csv").read_text() == "id_code,diagnosis\na2,2\n"
    for table in ("train", "sample_submission"):
        assert (tmp_path / "public" / f"{table}.csv").read_text().startswith("id_code,diagnosis\na")


def test_a_photograph_that_is_missing_is_said(tmp_path: Path) -> None:
    (tmp_path / "raw" / "train_images").mkdir(parents=True)
    (tmp_path / "raw" / "train.csv").write_text("id_code,diagnosis\n" + "".join(f"a{i},0\n" for i in range(5)))
    with pytest.raises(DataError, match=r"\.png"):
        APTOS.prepare(tmp_path / "raw", tmp_path / "public", tmp_path / "private")


def test_kappa_of_the_grades_that_occur(tmp_path: Path) -> None:
    def kappa(truth: list[int], guess: list[object]) -> float:
        for name, grades in (("test.csv", truth), ("guess.csv", guess)):
            ids = [f"x{i}" for i in range(len(grades))]
            pd.DataFrame({"id_code": ids, "diagnosis": grades}).to_csv(tmp_path / name, index=False)
        return APTOS.grade(tmp_path / "guess.csv", tmp_path)

    assert kappa([0, 0, 4, 4], [0, 4, 4, 4]) == kappa([0, 0, 1, 1], [0, 1, 1, 1]) == 0.5
    assert kappa([0, 1, 2, 3], [0.0, 1.0, 2.0, 3.0]) == 1
    assert kappa([0, 1, 2, 3], [2, 2, 2, 2]) == 0
    assert math.isnan(kappa([2, 2], [2, 2]))
    assert kappa([0, 1, 0, 1], ["False", "True", "False", "True"]) == 1
    assert kappa([0, 1, 2, 4], [0, 1, 2, 7]) != 1
    assert kappa([0, 1, 2, 4], [-1, 1, 2, 100]) < 1


@pytest.mark.parametrize("value", [None, 1.5, "inf", 1e30, "mild", "True"])
def test_grades_are_whole_numbers(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    bad = answers.astype({"diagnosis": object})
    bad.loc[2, "diagnosis"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="'diagnosis' must hold whole numbers"):
        trial.grade(bad)


def test_ids_are_those_of_the_sample(trial: Trial, answers: pd.DataFrame) -> None:
    repeated = pd.concat([answers, answers.iloc[:1]])
    other = answers.assign(id_code=["nope", *answers["id_code"][1:]])
    for bad in (repeated, other, answers.iloc[1:], answers.iloc[:0], answers.drop(columns="id_code")):
        with pytest.raises(mlecore.InvalidSubmission):
            trial.grade(bad)
    assert trial.grade(answers.sample(frac=1, random_state=1).assign(note="x")) == 1
