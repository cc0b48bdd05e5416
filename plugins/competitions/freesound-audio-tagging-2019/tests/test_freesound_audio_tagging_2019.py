"""Freesound 2019: which cells need a score."""

from __future__ import annotations

import math

import pandas as pd
from mle_comp_freesound_audio_tagging_2019 import CLASSES

from mlecore_testing import Trial


def test_booleans(trial: Trial, answers: pd.DataFrame) -> None:
    some = answers.astype(dict.fromkeys(CLASSES[1:], bool))
    assert trial.grade(some) == 1
    trial.refuses(answers.astype(dict.fromkeys(CLASSES, bool)), "True and False")


def test_only_clips_with_labels_need_scores(trial: Trial, answers: pd.DataFrame) -> None:
    blank = answers[CLASSES].sum(axis=1) == 0
    assert blank.sum() == 1
    for value in (None, math.inf):
        assert trial.grade(answers.assign(Bark=answers["Bark"].astype(float).mask(blank, value))) == 1
        trial.refuses(answers.assign(Bark=answers["Bark"].astype(float).mask(~blank, value)), "Bark")
