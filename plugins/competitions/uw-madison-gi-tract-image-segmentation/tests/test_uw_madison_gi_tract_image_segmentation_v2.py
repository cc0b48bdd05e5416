"""UW-Madison, edition v2: rows are paired by slice and organ, and an organ is a volume."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

from mlecore.metrics import encode_mask

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


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial, answers: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    first = answers["id"].str.split("_slice_").str[0]
    answers = answers[first.isin(first.unique()[:4])].reset_index(drop=True)  # four scans: brute force takes long
    masks = [_decoded(row) for row in answers.itertuples()]
    for _ in range(200):
        noise, lost = rng.choice([0, 0.02, 0.5]), rng.random(len(masks)) < 0.1
        given = [
            mask ^ (rng.random(mask.shape) < noise) if not gone else mask & False
            for mask, gone in zip(masks, lost, strict=True)
        ]
        frame = answers[["id", "class"]].assign(predicted=[encode_mask(mask, "columns") for mask in given])
        score = trial.grade(frame.sample(frac=1, random_state=1), answers)
        assert abs(score - _by_definition(answers, masks, given)) < 1e-9


def _decoded(row: object) -> np.ndarray:
    flat = np.zeros(int(row.image_height * row.image_width), dtype=bool)
    numbers = list(map(int, row.predicted.split())) if isinstance(row.predicted, str) else []
    for start, length in zip(numbers[::2], numbers[1::2], strict=True):
        flat[start - 1 : start - 1 + length] = True
    return flat.reshape(int(row.image_width), int(row.image_height)).T


def _by_definition(answers: pd.DataFrame, masks: list[np.ndarray], given: list[np.ndarray]) -> float:
    from scipy.spatial.distance import directed_hausdorff

    dice, far = [], []
    for a, b in zip(masks, given, strict=True):
        if a.any() or b.any():
            dice.append(2 * (a & b).sum() / (a.sum() + b.sum()))
    day = answers["id"].str.split("_slice_").str[0]
    for places in answers.sort_values("id").groupby([day, "class"]).groups.values():
        a, b = (np.stack([each[place] for place in places]) for each in (masks, given))
        if not a.any() and not b.any():
            continue
        if not a.any() or not b.any() or b.sum() > 10 * a.sum():
            far.append(1.0)
            continue
        points = [np.argwhere(each) / a.shape for each in (a, b)]
        far.append(max(directed_hausdorff(*points)[0], directed_hausdorff(*points[::-1])[0]) / 3**0.5)
    return 0.4 * float(np.mean(dice)) + 0.6 * (1 - float(np.mean(far)))
