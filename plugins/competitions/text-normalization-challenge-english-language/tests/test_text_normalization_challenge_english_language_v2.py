"""Text Normalization Challenge, English, edition v2: tokens are text.

How tables are prepared is tested in mle-lib-text-normalization.
"""

from __future__ import annotations

import csv

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.5)


def test_words_for_missing_values_are_words(trial: Trial, trial_v1: Trial) -> None:
    right, published = (
        pd.read_csv(each.private / "answers.csv", dtype=str, na_filter=False) for each in (trial, trial_v1)
    )
    words = {"NA", "None", "nan"}
    assert words & set(right["after"]) and not words & set(published["after"])
    said = right.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)
    assert trial.grade(said) == 1
    other = right["after"].isin({*words, "null", "NULL"})
    assert trial.grade(right.assign(after=right["after"].where(~other, ""))) == 1 - other.mean()


def test_numbers_are_text(trial: Trial, trial_v1: Trial) -> None:
    truth = pd.DataFrame({"id": ["0_0", "0_1"], "after": ["7", "007"]})
    given = truth.assign(after="007")
    assert trial_v1.grade(given, truth) == 1
    assert trial.grade(given, truth) == 0.5
