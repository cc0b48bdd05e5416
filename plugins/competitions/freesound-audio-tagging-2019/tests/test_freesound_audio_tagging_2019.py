"""Freesound 2019: answers from an archive that the agent does not get, and label-weighted precision."""

from __future__ import annotations

import math
import zipfile

import numpy as np
import pandas as pd
import pytest
from mle_comp_freesound_audio_tagging_2019 import CLASSES

from mlecore.errors import InvalidSubmission
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.1)


def test_private_clips_are_the_answers(trial: Trial, answers: pd.DataFrame) -> None:
    with zipfile.ZipFile(trial.raw / "FSDKaggle2019.meta.zip") as archive:
        table = pd.read_csv(archive.open("FSDKaggle2019.meta/test_post_competition.csv"))
    table = table[table["usage"] == "Private"]
    assert answers["fname"].tolist() == table["fname"].tolist()  # in its order, which is not the sample's
    for (_, row), labels in zip(answers.iterrows(), table["labels"], strict=True):
        assert {name for name in CLASSES if row[name]} == set(labels.split(",")) - {"Unknown_sound"}
    raw = {path.name: path.read_bytes() for path in trial.raw.iterdir() if "meta" not in path.name}
    public = {path.name: path.read_bytes() for path in trial.public.iterdir() if path.name != "description.md"}
    assert public == raw


def test_ties_count_against_the_submission(trial: Trial, answers: pd.DataFrame) -> None:
    counts = answers[CLASSES].sum(axis=1).to_numpy()
    tied = (counts * counts / 80).sum() / counts.sum()
    assert trial.grade(answers.assign(**dict.fromkeys(CLASSES, 0.5))) == pytest.approx(tied, abs=1e-12)
    from sklearn.metrics import label_ranking_average_precision_score

    scores = np.random.RandomState(0).randint(-9, 9, (len(answers), 80)) / 4
    guess = answers.copy().astype(dict.fromkeys(CLASSES, float))
    guess[CLASSES] = scores
    expected = label_ranking_average_precision_score(answers[CLASSES], scores, sample_weight=counts)
    assert trial.grade(guess.iloc[::-1]) == pytest.approx(expected, abs=1e-12)


def test_booleans(trial: Trial, answers: pd.DataFrame) -> None:
    some = answers.astype(dict.fromkeys(CLASSES[1:], bool))
    assert trial.grade(some) == 1
    with pytest.raises(InvalidSubmission, match="True and False"):
        trial.grade(answers.astype(dict.fromkeys(CLASSES, bool)))


def test_only_clips_with_labels_need_scores(trial: Trial, answers: pd.DataFrame) -> None:
    blank = answers[CLASSES].sum(axis=1) == 0
    assert blank.sum() == 1
    for value in (None, math.inf):
        assert trial.grade(answers.assign(Bark=answers["Bark"].astype(float).mask(blank, value))) == 1
        with pytest.raises(InvalidSubmission, match="Bark"):
            trial.grade(answers.assign(Bark=answers["Bark"].astype(float).mask(~blank, value)))


def test_columns_stand_in_order(trial: Trial, answers: pd.DataFrame) -> None:
    with pytest.raises(InvalidSubmission, match="order"):
        trial.grade(answers[[*CLASSES, "fname"]])
    with pytest.raises(InvalidSubmission, match="that are not allowed"):
        trial.grade(answers.assign(more=1))
