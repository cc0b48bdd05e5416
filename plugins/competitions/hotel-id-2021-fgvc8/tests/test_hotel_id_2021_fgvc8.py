"""Hotel-ID 2021: photographs that leave their chain's folder, and what counts as a hotel."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.2)


def test_test_images_lie_in_no_folder_of_a_chain(trial: Trial, answers: pd.DataFrame) -> None:
    train = pd.read_csv(trial.public / "train.csv")
    assert list(train.columns) == list(answers.columns) == ["image", "chain", "hotel_id", "timestamp"]
    assert len(train) + len(answers) == len(pd.read_csv(trial.raw / "train.csv")) - 2
    for part, pattern in ((train, "train_images/{}/{}"), (answers, "test_images/{1}")):
        for chain, image in zip(part["chain"], part["image"], strict=True):
            public = trial.public / pattern.format(chain, image)
            assert public.read_bytes() == (trial.raw / "train_images" / str(chain) / image).read_bytes()
    assert all(path.is_file() for path in (trial.public / "test_images").iterdir())


@pytest.mark.parametrize(
    ("pattern", "score"),
    [
        ("1 {}", 1 / 2),
        ("1 1 1 1 {0} {0}", 1 / 5),
        ("1 2 3 4 5 {}", 0),
        ("{0} {0} {0}", 1),
        (" {} 1", 1 / 2),
        ("1  {}", 1 / 3),
        ("0{} 1", 0),
        ("{}", 1),
        ("{}.0", 0),
    ],
)
def test_scores(trial: Trial, answers: pd.DataFrame, pattern: str, score: float) -> None:
    guess = answers.assign(hotel_id=[pattern.format(hotel) for hotel in answers["hotel_id"]])
    assert trial.grade(guess) == pytest.approx(score, abs=1e-12)


def test_an_empty_cell_makes_numbers_of_single_hotels(trial: Trial, answers: pd.DataFrame) -> None:
    answers["hotel_id"] = answers["hotel_id"].astype(object)
    answers.loc[0, "hotel_id"] = None
    assert trial.grade(answers) == 0
    answers.loc[0, "hotel_id"] = "none"
    assert trial.grade(answers) == 1 - 1 / len(answers)
