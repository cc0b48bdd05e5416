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
from mlecore.testing import check_competition

LEAVES = mlecore.competition("leaf-classification")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """raw/ (the stand-in), public/ and private/."""
    folder = tmp_path_factory.mktemp("leaves")
    LEAVES.make_raw(folder / "raw", size=0.1)
    LEAVES.prepare(folder / "raw", folder / "public", folder / "private")
    return folder


@pytest.fixture
def answers(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "private" / "test.csv")


def grade(table: pd.DataFrame, data: Path, tmp_path: Path) -> float:
    table.to_csv(tmp_path / "submission.csv", index=False)
    return LEAVES.grade(tmp_path / "submission.csv", data / "private")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("leaf-classification")


def test_tables_and_pictures(data: Path, answers: pd.DataFrame) -> None:
    from sklearn.model_selection import train_test_split

    with zipfile.ZipFile(data / "raw" / "train.csv.zip") as archive, archive.open("train.csv") as member:
        raw = pd.read_csv(member, float_precision="round_trip")
    train, test = train_test_split(raw, test_size=0.1, random_state=0)
    assert (data / "public" / "train.csv").read_text() == train.to_csv(index=False)
    assert (data / "public" / "test.csv").read_text() == test.drop(columns="species").to_csv(index=False)
    species = list(answers.columns[1:])
    assert len(species) == 99 and species[-1].startswith("Zelkova")
    assert answers["id"].tolist() == test["id"].tolist()
    assert answers[species].idxmax(axis=1).tolist() == test["species"].tolist()
    sample = (data / "public" / "sample_submission.csv").read_text().splitlines()
    assert sample[1] == f"{test['id'].iloc[0]}" + ",0.010101010101010102" * 99
    with zipfile.ZipFile(data / "raw" / "images.zip") as archive:
        pictures = {path.name: path.read_bytes() for path in (data / "public" / "images").iterdir()}
        assert pictures == {f"{leaf}.jpg": archive.read(f"images/{leaf}.jpg") for leaf in raw["id"]}
        assert len(archive.namelist()) > len(pictures)
    assert list((data / "private" / "images").iterdir()) == []


def test_a_picture_that_is_missing_is_said(data: Path, tmp_path: Path) -> None:
    (tmp_path / "train.csv.zip").write_bytes((data / "raw" / "train.csv.zip").read_bytes())
    with ZipWriter(tmp_path / "images.zip") as archive:
        archive.add("images/1.jpg", b"")
    with pytest.raises(DataError, match=r"images/\d+\.jpg"):
        LEAVES.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_scores(data: Path, answers: pd.DataFrame, tmp_path: Path) -> None:
    sample = pd.read_csv(data / "public" / "sample_submission.csv")
    assert math.isclose(grade(sample, data, tmp_path), math.log(99))
    turned = answers[[*reversed(answers.columns)]].sample(frac=1, random_state=0)
    assert grade(turned.assign(id=turned["id"].astype(float)), data, tmp_path) < 1e-15
    wrong = answers.assign(**dict.fromkeys(answers.columns[1:], 0)).assign(Acer_Mono=1)  # not in the stand-in
    assert math.isclose(grade(wrong, data, tmp_path), -math.log(2.220446049250313e-16))
    assert grade(answers.assign(Acer_Mono=1e-5), data, tmp_path) < 1e-15  # within 1.1e-5


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
def test_refused(data: Path, answers: pd.DataFrame, tmp_path: Path, change: object, reason: str) -> None:
    with pytest.raises(mlecore.InvalidSubmission, match=reason):
        grade(change(answers), data, tmp_path)
    with pytest.raises(mlecore.InvalidSubmission):
        LEAVES.check(tmp_path / "submission.csv", data / "public")
