"""APTOS 2019: photographs that follow their split, and a kappa on the grades that occur."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import check_competition

APTOS = mlecore.competition("aptos2019-blindness-detection")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """raw/ (the stand-in), public/ and private/."""
    folder = tmp_path_factory.mktemp("aptos")
    APTOS.make_raw(folder / "raw", size=0.1)
    APTOS.prepare(folder / "raw", folder / "public", folder / "private")
    return folder


@pytest.fixture
def answers(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "private" / "test.csv")


def grade(table: pd.DataFrame, data: Path, tmp_path: Path) -> float:
    table.to_csv(tmp_path / "submission.csv", index=False)
    return APTOS.grade(tmp_path / "submission.csv", data / "private")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("aptos2019-blindness-detection")


def test_split_and_photographs(data: Path) -> None:
    from sklearn.model_selection import train_test_split

    parts = train_test_split(pd.read_csv(data / "raw" / "train.csv"), test_size=0.1, random_state=0)
    for part, table, folder in zip(parts, ("public/train.csv", "private/test.csv"), ("train", "test"), strict=True):
        assert (data / table).read_text() == part.to_csv(index=False)
        images = sorted((data / "public" / f"{folder}_images").iterdir())
        assert [image.stem for image in images] == sorted(part["id_code"])
        assert all(image.read_bytes() == (data / "raw" / "train_images" / image.name).read_bytes() for image in images)
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
    private = tmp_path / "private"
    private.mkdir()

    def kappa(truth: list[int], guess: list[object]) -> float:
        ids = [f"x{i}" for i in range(len(truth))]
        pd.DataFrame({"id_code": ids, "diagnosis": truth}).to_csv(private / "test.csv", index=False)
        return grade(pd.DataFrame({"id_code": ids, "diagnosis": guess}), tmp_path, tmp_path)

    assert kappa([0, 0, 4, 4], [0, 4, 4, 4]) == kappa([0, 0, 1, 1], [0, 1, 1, 1]) == 0.5
    assert kappa([0, 1, 2, 3], [0.0, 1.0, 2.0, 3.0]) == 1
    assert kappa([0, 1, 2, 3], [2, 2, 2, 2]) == 0
    assert math.isnan(kappa([2, 2], [2, 2]))
    assert kappa([0, 1, 0, 1], ["False", "True", "False", "True"]) == 1
    assert kappa([0, 1, 2, 4], [0, 1, 2, 7]) != 1
    assert kappa([0, 1, 2, 4], [-1, 1, 2, 100]) < 1


@pytest.mark.parametrize("value", [None, 1.5, "inf", 1e30, "mild", "True"])
def test_grades_are_whole_numbers(data: Path, answers: pd.DataFrame, tmp_path: Path, value: object) -> None:
    bad = answers.astype({"diagnosis": object})
    bad.loc[2, "diagnosis"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="'diagnosis' must hold whole numbers"):
        grade(bad, data, tmp_path)


def test_ids_are_those_of_the_sample(data: Path, answers: pd.DataFrame, tmp_path: Path) -> None:
    repeated = pd.concat([answers, answers.iloc[:1]])
    other = answers.assign(id_code=["nope", *answers["id_code"][1:]])
    for bad in (repeated, other, answers.iloc[1:], answers.iloc[:0], answers.drop(columns="id_code")):
        with pytest.raises(mlecore.InvalidSubmission):
            grade(bad, data, tmp_path)
    assert grade(answers.sample(frac=1, random_state=1).assign(note="x"), data, tmp_path) == 1
