"""Kuzushiji, edition v2: new names for test pages, and a limit of predictions."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial
from mlecore_toolkit import open_zip

pytestmark = pytest.mark.trial(edition="v2")


def test_test_pages_have_new_names(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    old = pd.read_csv(trial.raw / "train.csv", index_col="image_id")["labels"]
    assert set(pd.read_csv(trial_v1.public / "sample_submission.csv")["image_id"]) <= set(old.index)
    assert not set(answers["image_id"]) & set(old.index)
    names = dict(pd.read_csv(trial.private / "names.csv").to_numpy().tolist())
    labels = answers.set_index("image_id")["labels"]
    with open_zip(trial.raw / "train_images.zip") as raw, open_zip(trial.public / "test_images.zip") as test:
        assert test.namelist() == [f"{new}.jpg" for new in labels.index]
        for before, new in names.items():
            assert raw.read(f"{before}.jpg") == test.read(f"{new}.jpg")
            assert labels[new] == old[before]


def test_a_test_page_may_be_empty(trial: Trial) -> None:
    raw = trial.raw_copy()
    pd.read_csv(raw / "train.csv").assign(labels=None).to_csv(raw / "train.csv", index=False)
    _, private = trial.prepare(raw)
    assert trial.competition.perfect(private)["labels"].eq("").all()


def test_the_limit_of_predictions(trial: Trial, trial_v1: Trial, perfect: pd.DataFrame) -> None:
    full = " ".join(["U+306E 1 1"] * 1200)
    assert trial.grade(perfect.assign(labels=full)) < 1
    more = [f"{full} U+306E 1 1", *perfect["labels"][1:]]
    trial.refuses(perfect.assign(labels=more), "at most 1,200 predictions a page; found 1,201")
    old = pd.read_csv(trial_v1.private / "gold_submission.csv")
    assert trial_v1.grade(old.assign(labels=[more[0], *old["labels"][1:]])) < 1


def test_points_are_finite(trial: Trial, perfect: pd.DataFrame) -> None:
    for cell in ("A nan 1", "A 1 1 B 1 -inf"):
        trial.refuses(perfect.assign(labels=[cell, *perfect["labels"][1:]]), "finite")
