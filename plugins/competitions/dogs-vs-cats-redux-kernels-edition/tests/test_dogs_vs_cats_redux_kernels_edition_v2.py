"""Dogs vs. Cats Redux, edition v2: new numbers, and nothing twice."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from mlecore_testing import Trial
from mlecore_toolkit import open_zip

pytestmark = pytest.mark.trial(edition="v2")


def test_test_photographs_have_new_numbers(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    names = dict(pd.read_csv(trial.private / "names.csv").to_numpy().tolist())
    with open_zip(trial.raw / "train.zip") as archive:
        assert all((trial.public / "test" / new).read_bytes() == archive.read(old) for old, new in names.items())
    dogs = {int(Path(new).stem): int("dog" in old) for old, new in names.items()}
    assert dict(answers.to_numpy().tolist()) == dogs
    before = {path.read_bytes(): path.name for path in (trial_v1.public / "test").iterdir()}
    now = {path.read_bytes(): path.name for path in (trial.public / "test").iterdir()}
    assert before.keys() == now.keys()
    assert before != now


def test_certain_and_wrong_is_clipped_as_on_kaggle(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(label=1 - answers["label"])) == pytest.approx(34.538776)
    assert trial_v1.competition.grade(answers.assign(label=1 - answers["label"]), trial.private) > 36


def test_nothing_is_public_twice(trial: Trial, trial_v1: Trial) -> None:
    assert (trial_v1.public / "test.zip").exists()
    names = {"train", "test", "sample_submission.csv", "description.md"}
    assert {path.name for path in trial.public.iterdir()} == names
