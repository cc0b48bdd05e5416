"""Leaf Classification: leaves of both parts in one folder, rows that add up to 1."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.prepare import ZipWriter
from mlecore.testing import Trial, check_competition

LEAVES = mlecore.competition("leaf-classification")


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("leaf-classification", tmp_path_factory.mktemp("leaves"), size=0.1)


@pytest.fixture
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "test.csv")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("leaf-classification")


def test_tables_and_pictures(trial: Trial, answers: pd.DataFrame) -> None:
    from sklearn.model_selection import train_test_split

    with zipfile.ZipFile(trial.raw / "train.csv.zip") as archive, archive.open("train.csv") as member:
        raw = pd.read_csv(member, float_precision="round_trip")
    train, test = train_test_split(raw, test_size=0.1, random_state=0)
    assert (trial.public / "train.csv").read_text() == train.to_csv(index=False)
    assert (trial.public / "test.csv").read_text() == test.drop(columns="species").to_csv(index=False)
    species = list(answers.columns[1:])
    assert len(species) == 99 and species[-1].startswith("Zelkova")
    assert answers["id"].tolist() == test["id"].tolist()
    assert answers[species].idxmax(axis=1).tolist() == test["species"].tolist()
    sample = (trial.public / "sample_submission.csv").read_text().splitlines()
    assert sample[1] == f"{test['id'].iloc[0]}" + ",0.010101010101010102" * 99
    with zipfile.ZipFile(trial.raw / "images.zip") as archive:
        pictures = {path.name: path.read_bytes() for path in (trial.public / "images").iterdir()}
        assert pictures == {f"{leaf}.jpg": archive.read(f"images/{leaf}.jpg") for leaf in raw["id"]}
        assert len(archive.namelist()) > len(pictures)
    assert list((trial.private / "images").iterdir()) == []


def test_a_picture_that_is_missing_is_said(trial: Trial, tmp_path: Path) -> None:
    (tmp_path / "train.csv.zip").write_bytes((trial.raw / "train.csv.zip").read_bytes())
    with ZipWriter(tmp_path / "images.zip") as archive:
        archive.add("images/1.jpg", b"")
    with pytest.raises(DataError, match=r"images/\d+\.jpg"):
        LEAVES.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    sample = pd.read_csv(trial.public / "sample_submission.csv")
    assert math.isclose(trial.grade(sample), math.log(99))
    turned = answers[[*reversed(answers.columns)]].sample(frac=1, random_state=0)
    assert trial.grade(turned.assign(id=turned["id"].astype(float))) < 1e-15
    wrong = answers.assign(**dict.fromkeys(answers.columns[1:], 0)).assign(Acer_Mono=1)  # not in the synthetic data
    assert math.isclose(trial.grade(wrong), -math.log(2.220446049250313e-16))
    assert trial.grade(answers.assign(Acer_Mono=1e-5)) < 1e-15  # within 1.1e-5


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t.assign(Acer_Mono=1.2e-5), "add up to 1"),
        (lambda t: t.assign(Acer_Mono=[-0.5, *t["Acer_Mono"][1:]]), "from 0 to 1"),
        (lambda t: t.assign(Acer_Mono=[None, *t["Acer_Mono"][1:]]), "Acer_Mono"),
        (lambda t: t.assign(Acer_Mono="x"), "Acer_Mono"),
        (lambda t: t.assign(note=0), "may not be there"),
        (lambda t: t.drop(columns="Acer_Mono"), "Acer_Mono"),
        (lambda t: t.assign(id=[-1, *t["id"][1:]]), "not asked for"),
        (lambda t: t.iloc[1:], "rows"),
        (lambda t: t.iloc[:0], "rows"),
    ],
)
def test_refused(trial: Trial, answers: pd.DataFrame, change: object, reason: str) -> None:
    with pytest.raises(mlecore.InvalidSubmission, match=reason):
        trial.grade(change(answers))
