"""Vesuvius Challenge, edition v2: an empty cell is an empty mask, and masks are exact."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def submission(cell: str) -> str:
    return f"Id,Predicted\na,{cell}\n"


def test_an_empty_cell_is_an_empty_mask(trial: Trial, trial_v1: Trial) -> None:
    trial_v1.refuses(submission(""), "Predicted")
    assert trial.grade(submission("")) == 0
    assert trial.check(submission("")) == []


def test_masks_are_pairs_within_the_image(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    pixels = int(answers["width"][0] * answers["height"][0])
    for cell in ("1 3 10", f"1 3 {pixels} 2", f"1 3 {pixels + 1} 1"):
        assert math.isfinite(trial_v1.grade(submission(cell)))
        trial.refuses(submission(cell), "mask|run")
    assert trial.check(submission(f"1 3 {pixels} 1")) == []
