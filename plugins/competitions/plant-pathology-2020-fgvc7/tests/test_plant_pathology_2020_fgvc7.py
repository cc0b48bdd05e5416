"""Plant Pathology 2020: leaves that get new names, and a mean of four curves."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import check_competition

LEAVES = mlecore.competition("plant-pathology-2020-fgvc7")
CLASSES = ["healthy", "multiple_diseases", "rust", "scab"]


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
    check_competition("plant-pathology-2020-fgvc7")


def test_names_are_exchanged_at_once(data: Path) -> None:
    from sklearn.model_selection import train_test_split

    raw = pd.read_csv(data / "raw" / "train.csv")
    parts = train_test_split(raw, test_size=0.1, random_state=0)
    for part, prefix, table in zip(parts, ("Train_", "Test_"), ("public/train.csv", "private/test.csv"), strict=True):
        new = [f"{prefix}{k}" for k in range(len(part))]
        assert (data / table).read_text() == part.assign(image_id=new).to_csv(index=False)
        for before, after in zip(part["image_id"], new, strict=True):
            image = data / "public" / "images" / f"{after}.jpg"
            assert image.read_bytes() == (data / "raw" / "images" / f"{before}.jpg").read_bytes()
    assert len(list((data / "public" / "images").iterdir())) == len(raw)


@pytest.mark.parametrize("seed", range(1, 5))
def test_every_class_is_in_the_test_part(tmp_path: Path, seed: int) -> None:
    LEAVES.make_raw(tmp_path / "raw", seed=seed, size=0.1)
    LEAVES.prepare(tmp_path / "raw", tmp_path / "public", tmp_path / "private")
    counts = pd.read_csv(tmp_path / "private" / "test.csv")[CLASSES].sum()
    assert len(counts) == 4 and counts.between(2, 3).all()


@pytest.mark.parametrize(
    "header_and_first",
    [
        "image_id,healthy,multiple_diseases,scab,rust\nTrain_0,1,0,0,0",
        "image_id,healthy,multiple_diseases,rust,scab\nX0,1,0,0,0",
    ],
)
def test_odd_tables_are_said(tmp_path: Path, header_and_first: str) -> None:
    rows = "".join(f"\nTrain_{i},0,0,1,0" for i in range(1, 12))
    (tmp_path / "train.csv").write_text(f"{header_and_first}{rows}\n")
    with pytest.raises(DataError):
        LEAVES.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_scores(data: Path, answers: pd.DataFrame, tmp_path: Path) -> None:
    assert grade(answers, data, tmp_path) == 1
    assert grade(answers[[*CLASSES, "image_id"]].sample(frac=1, random_state=0), data, tmp_path) == 1
    assert grade(answers.assign(rust=0.25), data, tmp_path) == 0.875
    scaled = answers.assign(**{name: 100 * answers[name] - 7 for name in CLASSES})
    assert grade(scaled, data, tmp_path) == 1
    assert grade(answers.assign(scab=answers["scab"] == 1), data, tmp_path) == 1
    text = answers.astype({"rust": object})
    text.loc[0, "rust"] = "1_0"
    assert math.isfinite(grade(text, data, tmp_path))


@pytest.mark.parametrize("value", [None, "inf", "-inf", "red", "1e400"])
def test_values_are_finite_numbers(data: Path, answers: pd.DataFrame, tmp_path: Path, value: object) -> None:
    bad = answers.astype({"scab": object})
    bad.loc[1, "scab"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="scab"):
        grade(bad, data, tmp_path)


def test_columns_and_ids(data: Path, answers: pd.DataFrame, tmp_path: Path) -> None:
    repeated = answers.assign(image_id=[answers["image_id"][1], *answers["image_id"][1:]])
    for bad in (answers.assign(note=1), answers.drop(columns="rust"), answers.iloc[1:], repeated, answers.iloc[:0]):
        with pytest.raises(mlecore.InvalidSubmission):
            grade(bad, data, tmp_path)
