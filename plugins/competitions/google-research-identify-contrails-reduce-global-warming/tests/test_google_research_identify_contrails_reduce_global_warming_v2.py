"""Identify Contrails, edition v2: masks are pairs of numbers within the image."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")
PIXELS = "encoded_pixels"


def with_first(answers: pd.DataFrame, cell: str) -> pd.DataFrame:
    return answers.assign(**{PIXELS: [cell, *answers[PIXELS][1:]]})


@pytest.mark.parametrize("cell", ["5", "1 3 10", "1 3 121 2", "119 3", "1 2 3 4 5"])  # of 12 x 10 pixels
def test_masks_are_pairs_within_the_image(trial: Trial, answers: pd.DataFrame, cell: str) -> None:
    trial.refuses(with_first(answers, cell), "mask|run")


def test_v1_takes_odd_masks(trial_v1: Trial, answers: pd.DataFrame) -> None:
    assert math.isfinite(trial_v1.grade(with_first(answers, "1 3 10")))
    assert math.isfinite(trial_v1.grade(with_first(answers, "119 3")))


def test_two_empty_sides_agree(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    empty = answers.assign(**{PIXELS: "-"})
    assert math.isnan(trial_v1.grade(empty, truth=empty))
    assert trial.grade(empty, truth=empty) == 1
    assert trial.grade(empty) == 0


def test_the_sample_has_the_columns_of_a_submission(trial: Trial, trial_v1: Trial) -> None:
    assert list(pd.read_csv(trial_v1.public / "sample_submission.csv")) == ["record_id", PIXELS, "height", "width"]
    assert list(pd.read_csv(trial.public / "sample_submission.csv")) == ["record_id", PIXELS]
