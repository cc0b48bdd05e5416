"""Plant Pathology 2020: leaves that get new names, and a mean of four curves."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import Trial, check_competition

LEAVES = mlecore.competition("plant-pathology-2020-fgvc7")
CLASSES = ["healthy", "multiple_diseases", "rust", "scab"]


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("plant-pathology-2020-fgvc7", tmp_path_factory.mktemp("leaves"), size=0.1)


@pytest.fixture
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "test.csv")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("plant-pathology-2020-fgvc7")


def test_names_are_exchanged_at_once(trial: Trial) -> None:
    from sklearn.model_selection import train_test_split

    raw = pd.read_csv(trial.raw / "train.csv")
    parts = train_test_split(raw, test_size=0.1, random_state=0)
    for part, prefix, table in zip(parts, ("Train_", "Test_"), ("public/train.csv", "private/test.csv"), strict=True):
        new = [f"{prefix}{k}" for k in range(len(part))]
        assert (trial.folder / table).read_text() == part.assign(image_id=new).to_csv(index=False)
        for before, after in zip(part["image_id"], new, strict=True):
            image = trial.public / "images" / f"{after}.jpg"
            assert image.read_bytes() == (trial.raw / "images" / f"{before}.jpg").read_bytes()
    assert len(list((trial.public / "images").iterdir())) == len(raw)


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


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 1
    assert trial.grade(answers[[*CLASSES, "image_id"]].sample(frac=1, random_state=0)) == 1
    assert trial.grade(answers.assign(rust=0.25)) == 0.875
    scaled = answers.assign(**{name: 100 * answers[name] - 7 for name in CLASSES})
    assert trial.grade(scaled) == 1
    assert trial.grade(answers.assign(scab=answers["scab"] == 1)) == 1
    text = answers.astype({"rust": object})
    text.loc[0, "rust"] = "1_0"
    assert math.isfinite(trial.grade(text))


@pytest.mark.parametrize("value", [None, "inf", "-inf", "red", "1e400"])
def test_values_are_finite_numbers(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    bad = answers.astype({"scab": object})
    bad.loc[1, "scab"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="scab"):
        trial.grade(bad)


def test_columns_and_ids(trial: Trial, answers: pd.DataFrame) -> None:
    repeated = answers.assign(image_id=[answers["image_id"][1], *answers["image_id"][1:]])
    for bad in (answers.assign(note=1), answers.drop(columns="rust"), answers.iloc[1:], repeated, answers.iloc[:0]):
        with pytest.raises(mlecore.InvalidSubmission):
            trial.grade(bad)
