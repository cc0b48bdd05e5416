"""Text Normalization Challenge, Russian, edition v2: tokens are text."""

from __future__ import annotations

import csv

import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.2)


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
