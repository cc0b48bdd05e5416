"""Histopathologic Cancer Detection: a ratio that hangs on unlabelled patches, tables in file order."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import Trial, check_competition

CANCER = mlecore.competition("histopathologic-cancer-detection")


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("histopathologic-cancer-detection", tmp_path_factory.mktemp("cancer"), size=0.1)


@pytest.fixture
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "answers.csv")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("histopathologic-cancer-detection")


def test_unlabelled_patches_set_the_ratio_and_tables_keep_file_order(trial: Trial) -> None:
    from sklearn.model_selection import train_test_split

    table = pd.read_csv(trial.raw / "train_labels.csv")
    unlabelled = len(list((trial.raw / "test").iterdir()))
    train, test = train_test_split(table["id"], test_size=unlabelled / (len(table) + unlabelled), random_state=0)
    for ids, name, folder in ((train, "public/train_labels.csv", "train"), (test, "private/answers.csv", "test")):
        part = table[table["id"].isin(ids)]
        assert (trial.folder / name).read_text() == part.to_csv(index=False)
        images = {path.stem for path in (trial.public / folder).iterdir()}
        assert images == set(part["id"])
    image = next((trial.public / "test").iterdir())
    assert image.read_bytes() == (trial.raw / "train" / image.name).read_bytes()


def test_tables_have_id_and_label_only(trial: Trial, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    shutil.copytree(trial.raw, raw)
    table = pd.read_csv(raw / "train_labels.csv")
    table.assign(note="x")[["note", "label", "id"]].to_csv(raw / "train_labels.csv", index=False)
    CANCER.prepare(raw, tmp_path / "public", tmp_path / "private")
    for name in ("public/train_labels.csv", "private/answers.csv", "public/sample_submission.csv"):
        assert (tmp_path / name).read_bytes() == (trial.folder / name).read_bytes()


def test_without_unlabelled_patches_there_is_no_split(tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "train_labels.csv").write_text("id,label\na,0\nb,1\n")
    with pytest.raises(DataError, match="cannot split"):
        CANCER.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 1
    assert trial.grade(answers.assign(label=0)) == 0.5
    close = answers.assign(label=0.3 + answers["label"] * 1e-16 * 2)  # differ in the last digit only: no tie
    assert trial.grade(close.sample(frac=1, random_state=0).assign(note="x")) == 1
    assert trial.grade(answers.assign(label=answers["label"] == 1)) == 1


@pytest.mark.parametrize("value", [None, 1.01, -0.01, "inf", "tumour", "True"])
def test_labels_are_numbers_from_0_to_1(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    bad = answers.assign(label=0.5).astype({"label": object})
    bad.loc[1, "label"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="'label' must hold numbers from 0 to 1"):
        trial.grade(bad)


def test_ids_are_those_of_the_sample(trial: Trial, answers: pd.DataFrame) -> None:
    repeated = answers.assign(id=[answers["id"][1], *answers["id"][1:]])
    for bad in (repeated, answers.iloc[1:], answers.iloc[:0], answers.drop(columns="label")):
        with pytest.raises(mlecore.InvalidSubmission):
            trial.grade(bad)
