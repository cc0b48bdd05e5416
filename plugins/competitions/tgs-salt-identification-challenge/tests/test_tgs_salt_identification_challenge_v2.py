"""TGS Salt, edition v2: depths of all images, and strict masks."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mle_comp_tgs_salt_identification_challenge import PIXELS
from mle_comp_tgs_salt_identification_challenge.v2 import thresholds_hit
from mlecore_testing import Trial

from mlecore.metrics import encode_mask

pytestmark = pytest.mark.trial(size=0.2, edition="v2")


def test_test_images_have_depths(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    assert not set(answers["id"]) & set(pd.read_csv(trial_v1.public / "depths.csv")["id"])
    depths = pd.read_csv(trial.public / "depths.csv")
    assert set(depths["id"]) == set(answers["id"]) | set(pd.read_csv(trial.public / "train.csv")["id"])
    for name in ("train.csv", "sample_submission.csv"):
        assert (trial.public / name).read_bytes() == (trial_v1.public / name).read_bytes()


def test_an_image_without_depth_is_named(trial: Trial, answers: pd.DataFrame, tmp_path: Path) -> None:
    raw = trial.raw_copy()
    depths = pd.read_csv(raw / "depths.csv")
    depths[depths["id"] != answers["id"][0]].to_csv(raw / "depths.csv", index=False)
    trial.refuses_raw(raw, "lacks 1 of the")


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


def test_it_agrees_with_the_definition() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        truth, given = (_mask(rng) for _ in range(2))
        if rng.random() < 0.5:  # nearly right
            given = truth ^ (rng.random(truth.shape) < rng.choice([0, 0.01, 0.1]))
        assert thresholds_hit([_runs(truth)], [_runs(given)]).tolist() == [_hits(truth, given)]


def _hits(truth: np.ndarray, given: np.ndarray) -> int:
    """By Kaggle's definition: TP / (TP + FP + FN) of one object at each threshold."""
    if not truth.any():
        return 0 if given.any() else 10
    overlap = int((truth & given).sum()) / int((truth | given).sum())
    return sum(overlap > place / 100 for place in range(50, 100, 5))


def _mask(rng: np.random.Generator) -> np.ndarray:
    mask = np.zeros((101, 101), dtype=bool)
    top, left = rng.integers(0, 60, 2)
    mask[top : top + rng.integers(0, 60), left : left + rng.integers(0, 60)] = True
    return mask


def _runs(mask: np.ndarray) -> np.ndarray:
    numbers = np.array(encode_mask(mask, "columns").split(), dtype=np.int64).reshape(-1, 2)
    assert mask.size == PIXELS
    return np.column_stack([numbers[:, 0] - 1, numbers.sum(axis=1) - 1])
