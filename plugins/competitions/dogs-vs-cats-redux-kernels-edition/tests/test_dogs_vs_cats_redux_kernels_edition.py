"""Dogs vs. Cats Redux: new names for both parts, packed and unpacked, and a clipped log loss."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import Trial, check_competition

PETS = mlecore.competition("dogs-vs-cats-redux-kernels-edition")


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("dogs-vs-cats-redux-kernels-edition", tmp_path_factory.mktemp("pets"), size=0.1)


@pytest.fixture
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "answers.csv")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("dogs-vs-cats-redux-kernels-edition")


def test_names_follow_the_split(trial: Trial, answers: pd.DataFrame) -> None:
    from sklearn.model_selection import train_test_split

    with zipfile.ZipFile(trial.raw / "train.zip") as archive:
        photographs = {Path(name).name: archive.read(name) for name in archive.namelist()}
    train, test = train_test_split(sorted(photographs), test_size=0.1, random_state=0)
    cats, dogs = ([name for name in train if kind in name] for kind in ("cat", "dog"))
    new = {name: f"cat.{i}.jpg" for i, name in enumerate(cats)} | {name: f"dog.{i}.jpg" for i, name in enumerate(dogs)}
    expected = {new[name]: name for name in train}
    numbered = {f"{i}.jpg": name for i, name in enumerate(test, 1)}
    for folder, names in (("train", expected), ("test", numbered)):
        unpacked = {path.name: path.read_bytes() for path in (trial.public / folder).iterdir()}
        assert unpacked == {new: photographs[old] for new, old in names.items()}
        with zipfile.ZipFile(trial.public / f"{folder}.zip") as archive:
            assert archive.namelist() == list(names)  # the raw archive's order, cats first, would tell the labels
            assert {name: archive.read(name) for name in archive.namelist()} == unpacked
    assert answers["label"].tolist() == [int("dog" in name) for name in test]
    assert set(answers["label"]) == {0, 1}
    assert answers["id"].tolist() == list(range(1, len(test) + 1))


def test_kaggles_own_test_set_must_be_there(trial: Trial, tmp_path: Path) -> None:
    (tmp_path / "train.zip").write_bytes((trial.raw / "train.zip").read_bytes())
    with pytest.raises(DataError, match=r"test\.zip is missing"):
        PETS.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_only_the_folder_train_counts(tmp_path: Path) -> None:
    from mlecore.prepare import ZipWriter

    raw = tmp_path / "raw"
    raw.mkdir()
    with ZipWriter(raw / "train.zip") as archive:
        for number in range(10):
            archive.add(f"train/cat.{number}.jpg", b"cat")
            archive.add(f"train/dog.{number}.jpg", b"dog")
        for other in ("__MACOSX/train/._cat.0.jpg", "train/more/cat.10.jpg", "train/dog.10.JPG", "cat.11.jpg"):
            archive.add(other, b"not one of them")
    with ZipWriter(raw / "test.zip") as archive:
        archive.add("test/1.jpg", b"cat")
    PETS.prepare(raw, tmp_path / "public", tmp_path / "private")
    kept = [path.read_bytes() for folder in ("train", "test") for path in (tmp_path / "public" / folder).iterdir()]
    assert sorted(kept) == [b"cat"] * 10 + [b"dog"] * 10


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) < 1e-15
    assert math.isclose(trial.grade(answers.assign(label=0.5)), math.log(2))
    wrong = answers.assign(label=1 - answers["label"])
    assert math.isclose(trial.grade(wrong), -math.log(2.220446049250313e-16), rel_tol=1e-9)
    same = answers.assign(id=answers["id"].astype(float), label=answers["label"] == 1, note="x")
    assert trial.grade(same.sample(frac=1, random_state=0)) < 1e-15


@pytest.mark.parametrize("value", [None, -0.1, 1.1, "inf", "dog", "True"])
def test_labels_are_numbers_from_0_to_1(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    bad = answers.assign(label=0.5).astype({"label": object})
    bad.loc[0, "label"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="'label' must hold numbers from 0 to 1"):
        trial.grade(bad)


def test_ids_are_those_of_the_sample(trial: Trial, answers: pd.DataFrame) -> None:
    names = answers.assign(id=[f"{i}.jpg" for i in answers["id"]])
    repeated = answers.assign(id=[2, *answers["id"][1:]])
    for bad in (names, repeated, answers.iloc[1:], pd.concat([answers, answers]), answers.drop(columns="id")):
        with pytest.raises(mlecore.InvalidSubmission):
            trial.grade(bad)
