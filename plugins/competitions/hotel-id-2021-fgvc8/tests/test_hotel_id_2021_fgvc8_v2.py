"""Hotel-ID 2021, edition v2: new names of test photographs, and cells that are lists of hotels."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_test_photographs_have_new_names(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    raw = pd.read_csv(trial.raw / "train.csv").set_index("image")
    assert pd.read_csv(trial_v1.public / "sample_submission.csv")["image"].isin(raw.index).all()
    assert not answers["image"].isin(raw.index).any()
    names = dict(pd.read_csv(trial.private / "names.csv").to_numpy().tolist())
    hotels = answers.set_index("image")["hotel_id"]
    assert {path.name for path in (trial.public / "test_images").iterdir()} == set(hotels.index)
    for old, new in names.items():
        picture = (trial.raw / "train_images" / str(raw["chain"][old]) / old).read_bytes()
        assert picture == (trial.public / "test_images" / new).read_bytes()
        assert hotels[new] == raw["hotel_id"][old]
    assert (trial.public / "train.csv").read_bytes() == (trial_v1.public / "train.csv").read_bytes()


def test_cells_are_lists_of_hotels(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    old = pd.read_csv(trial_v1.private / "test.csv")
    assert trial_v1.grade(old[["image"]].assign(hotel_id=old["hotel_id"] + 0.0)) == 0
    for wrong in (answers["hotel_id"] + 0.0, "cat", " ", [None, *answers["hotel_id"][1:]], "1,2", -5):
        trial.refuses(answers[["image"]].assign(hotel_id=wrong), "hotel ids")
