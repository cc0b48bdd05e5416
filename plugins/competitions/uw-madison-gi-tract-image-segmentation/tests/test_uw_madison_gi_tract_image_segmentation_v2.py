"""UW-Madison, edition v2: rows are paired by slice and organ, and an organ is a volume."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.5, edition="v2")


@pytest.fixture
def sent(answers: pd.DataFrame) -> pd.DataFrame:
    return answers[["id", "class", "predicted"]]


def test_the_order_of_rows_does_not_matter(trial: Trial, trial_v1: Trial, sent: pd.DataFrame) -> None:
    order = np.arange(len(sent)).reshape(-1, 3)[:, [1, 2, 0]].ravel()  # each slice's organs
    assert trial_v1.grade(sent.iloc[order]) < 1
    assert trial.grade(sent.iloc[order]) == 1
    assert trial.grade(sent.sample(frac=1, random_state=0)) == 1


def test_each_pair_exactly_once(trial: Trial, trial_v1: Trial, sent: pd.DataFrame) -> None:
    assert trial_v1.grade(sent.head(9)) > 0
    trial.refuses(sent.head(9), "expected")
    trial.refuses(sent.assign(**{"class": "stomach"}), "missing|lacks|too often")
    trial.refuses(sent.assign(**{"class": "liver"}), "unexpected")
    trial.refuses(sent.assign(**{"class": None}), "text in every row")


@pytest.mark.parametrize("mask", ["1 3 5", "9", "1 99999"])
def test_masks_are_pairs_of_numbers_within_the_slice(
    trial: Trial, trial_v1: Trial, sent: pd.DataFrame, mask: str
) -> None:
    odd = sent.assign(predicted=["1 1", *[mask] * (len(sent) - 1)])
    assert trial_v1.grade(odd) < 1
    trial.refuses(odd, "odd number|within")


def test_mixing_organs_up_costs_distance(trial: Trial, trial_v1: Trial, sent: pd.DataFrame) -> None:
    other = {"stomach": "large_bowel", "large_bowel": "stomach"}
    mixed = sent.assign(**{"class": sent["class"].replace(other)}).set_index(["id", "class"])
    mixed = mixed.loc[pd.MultiIndex.from_frame(sent[["id", "class"]])].reset_index()
    assert trial_v1.grade(mixed) > 0.6
    assert trial.grade(mixed) < trial_v1.grade(mixed) - 0.05
