"""Freesound 2019: label-weighted precision, and which cells need a score."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from mle_comp_freesound_audio_tagging_2019 import CLASSES
from mlecore_testing import Trial


@pytest.mark.parametrize("together", [7, 1 << 12])
def test_ties_count_against_the_submission(
    trial: Trial, answers: pd.DataFrame, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mle_comp_freesound_audio_tagging_2019._TOGETHER", together)
    counts = answers[CLASSES].sum(axis=1).to_numpy()
    tied = (counts * counts / 80).sum() / counts.sum()
    assert trial.grade(answers.assign(**dict.fromkeys(CLASSES, 0.5))) == pytest.approx(tied, abs=1e-12)
    from sklearn.metrics import label_ranking_average_precision_score

    scores = np.random.RandomState(0).randint(-9, 9, (len(answers), 80)) / 4
    predictions = answers.copy().astype(dict.fromkeys(CLASSES, float))
    predictions[CLASSES] = scores
    expected = label_ranking_average_precision_score(answers[CLASSES], scores, sample_weight=counts)
    assert trial.grade(predictions.iloc[::-1]) == pytest.approx(expected, abs=1e-12)


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


def test_columns_must_be_in_order(trial: Trial, answers: pd.DataFrame) -> None:
    trial.refuses(answers[[*CLASSES, "fname"]], "order")
