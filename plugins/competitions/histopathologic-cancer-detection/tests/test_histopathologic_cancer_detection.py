"""Histopathologic Cancer Detection: a ratio that hangs on unlabelled patches, tables in file order."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import check_competition

CANCER = mlecore.competition("histopathologic-cancer-detection")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """raw/ (the stand-in), public/ and private/."""
    folder = tmp_path_factory.mktemp("cancer")
    CANCER.make_raw(folder / "raw", size=0.1)
    CANCER.prepare(folder / "raw", folder / "public", folder / "private")
    return folder


@pytest.fixture
def answers(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "private" / "answers.csv")


def grade(table: pd.DataFrame, data: Path, tmp_path: Path) -> float:
    table.to_csv(tmp_path / "submission.csv", index=False)
    return CANCER.grade(tmp_path / "submission.csv", data / "private")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("histopathologic-cancer-detection")


def test_unlabelled_patches_set_the_ratio_and_tables_keep_file_order(data: Path) -> None:
    from sklearn.model_selection import train_test_split

    table = pd.read_csv(data / "raw" / "train_labels.csv")
    unlabelled = len(list((data / "raw" / "test").iterdir()))
    train, test = train_test_split(table["id"], test_size=unlabelled / (len(table) + unlabelled), random_state=0)
    for ids, name, folder in ((train, "public/train_labels.csv", "train"), (test, "private/answers.csv", "test")):
        part = table[table["id"].isin(ids)]
        assert (data / name).read_text() == part.to_csv(index=False)
        images = {path.stem for path in (data / "public" / folder).iterdir()}
        assert images == set(part["id"])
    image = next((data / "public" / "test").iterdir())
    assert image.read_bytes() == (data / "raw" / "train" / image.name).read_bytes()


def test_tables_have_id_and_label_only(data: Path, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    shutil.copytree(data / "raw", raw)
    table = pd.read_csv(raw / "train_labels.csv")
    table.assign(note="x")[["note", "label", "id"]].to_csv(raw / "train_labels.csv", index=False)
    CANCER.prepare(raw, tmp_path / "public", tmp_path / "private")
    for name in ("public/train_labels.csv", "private/answers.csv", "public/sample_submission.csv"):
        assert (tmp_path / name).read_bytes() == (data / name).read_bytes()


def test_without_unlabelled_patches_there_is_no_split(tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "train_labels.csv").write_text("id,label\na,0\nb,1\n")
    with pytest.raises(DataError, match="cannot split"):
        CANCER.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_scores(data: Path, answers: pd.DataFrame, tmp_path: Path) -> None:
    assert grade(answers, data, tmp_path) == 1
    assert grade(answers.assign(label=0), data, tmp_path) == 0.5
    close = answers.assign(label=0.3 + answers["label"] * 1e-16 * 2)  # differ in the last digit only: no tie
    assert grade(close.sample(frac=1, random_state=0).assign(note="x"), data, tmp_path) == 1
    assert grade(answers.assign(label=answers["label"] == 1), data, tmp_path) == 1


@pytest.mark.parametrize("value", [None, 1.01, -0.01, "inf", "tumour", "True"])
def test_labels_are_numbers_from_0_to_1(data: Path, answers: pd.DataFrame, tmp_path: Path, value: object) -> None:
    bad = answers.assign(label=0.5).astype({"label": object})
    bad.loc[1, "label"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="'label' must hold numbers from 0 to 1"):
        grade(bad, data, tmp_path)


def test_ids_are_those_of_the_sample(data: Path, answers: pd.DataFrame, tmp_path: Path) -> None:
    repeated = answers.assign(id=[answers["id"][1], *answers["id"][1:]])
    for bad in (repeated, answers.iloc[1:], answers.iloc[:0], answers.drop(columns="label")):
        with pytest.raises(mlecore.InvalidSubmission):
            grade(bad, data, tmp_path)
