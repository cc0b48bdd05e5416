"""TGS Salt, edition v2: depths of all images, and strict masks."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.2, edition="v2")


def test_test_images_have_depths(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    assert not set(answers["id"]) & set(pd.read_csv(trial_v1.public / "depths.csv")["id"])
    depths = pd.read_csv(trial.public / "depths.csv")
    assert set(depths["id"]) == set(answers["id"]) | set(pd.read_csv(trial.public / "train.csv")["id"])
    for name in ("train.csv", "sample_submission.csv"):
        assert (trial.public / name).read_bytes() == (trial_v1.public / name).read_bytes()


def test_an_empty_mask_on_salt_scores_0(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    missed = answers.assign(rle_mask=answers["rle_mask"].where(answers["rle_mask"] != "1 10201"))
    full = int((answers["rle_mask"] == "1 10201").sum())
    assert full and trial_v1.grade(missed) == 1
    assert math.isclose(trial.grade(missed), 1 - full / len(answers))


@pytest.mark.parametrize(("mask", "reason"), [("7", "read as numbers"), ("1 2 3", "odd number"), ("10201 2", "within")])
def test_odd_masks_are_invalid(trial: Trial, trial_v1: Trial, answers: pd.DataFrame, mask: str, reason: str) -> None:
    odd = answers.assign(rle_mask=mask)
    trial.refuses(odd, reason)
    mixed = answers.assign(rle_mask=["1 1", *[mask] * (len(answers) - 1)])
    assert trial_v1.grade(mixed) < 1
    trial.refuses(mixed, "odd number" if mask == "7" else reason)
