"""iWildCam 2019, edition v2: each test picture once, under a new name."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial
from mlecore_toolkit import open_zip

pytestmark = pytest.mark.trial(edition="v2", size=0.2)


def test_each_picture_has_one_row(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    published = pd.read_csv(trial_v1.private / "answers.csv")
    assert published["Id"].duplicated().any()
    kinds = published.groupby("Id")["Category"].agg(set)
    names = dict(pd.read_csv(trial.private / "names.csv").to_numpy().tolist())
    assert set(names) == set(kinds.index[kinds.map(len) == 1])
    assert dict(answers.to_numpy().tolist()) == {new: min(kinds[old]) for old, new in names.items()}
    assert answers["Id"].is_unique


def test_nothing_leads_to_the_published_table(trial: Trial, trial_v1: Trial) -> None:
    raw = pd.read_csv(trial.raw / "train.csv")
    test = pd.read_csv(trial.public / "test.csv")
    for column in ("id", "file_name", "seq_id"):
        assert pd.read_csv(trial_v1.public / "test.csv")[column].isin(raw[column]).all()
        assert not test[column].isin(raw[column]).any()
    assert (test["file_name"] == test["id"] + ".jpg").all()
    assert test["id"].is_monotonic_increasing
    assert list(pd.read_csv(trial.public / "sample_submission.csv")) == ["Id", "Category"]


def test_pictures_and_sequences_stay_together(trial: Trial) -> None:
    names = dict(pd.read_csv(trial.private / "names.csv").to_numpy().tolist())
    raw = pd.read_csv(trial.raw / "train.csv").drop_duplicates("id").set_index("id")
    test = pd.read_csv(trial.public / "test.csv", index_col="id")
    with open_zip(trial.raw / "train_images.zip") as old, open_zip(trial.public / "test_images.zip") as new:
        assert new.namelist() == [f"{name}.jpg" for name in test.index]
        assert all(old.read(f"{before}.jpg") == new.read(f"{now}.jpg") for before, now in names.items())
    pairs = {(raw["seq_id"][before], test["seq_id"][now]) for before, now in names.items()}
    assert len(pairs) == len({old for old, _ in pairs}) == len({new for _, new in pairs})
    assert all(raw["location"][before] == test["location"][now] for before, now in names.items())
