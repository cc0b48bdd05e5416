"""Contrails: columns of pixels, and odd masks."""

from __future__ import annotations

import math
import random

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.25)


def test_answers_count_down_the_columns(trial: Trial, answers: pd.DataFrame) -> None:
    assert "-" in answers["encoded_pixels"].tolist()
    assert answers[["height", "width"]].drop_duplicates().to_numpy().tolist() == [[12, 10]]
    for row in answers.itertuples():
        mask = np.load(trial.raw / "train" / str(row.record_id) / "human_pixel_masks.npy")[..., 0]
        drawn = np.zeros(120, dtype=int)
        numbers = [int(word) for word in str(row.encoded_pixels).split() if word != "-"]
        for start, length in zip(numbers[::2], numbers[1::2], strict=True):
            drawn[start - 1 : start - 1 + length] = 1
        assert (mask == drawn.reshape(10, 12).T).all()
    random.seed(0)
    sample = pd.read_csv(trial.public / "sample_submission.csv")
    assert list(sample.columns) == list(answers.columns)
    assert sample["encoded_pixels"].tolist() == [random.choice(["1 3 10 5", "-"]) for _ in range(4)]


def test_pixels_of_all_records_count_together(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers[["encoded_pixels", "record_id"]].iloc[::-1]) == 1
    assert trial.grade(answers.assign(encoded_pixels="-")) == 0
    whole = answers.assign(encoded_pixels=[*["1 120"], *answers["encoded_pixels"][1:]])
    true = [sum(map(int, text.split()[1::2])) if text != "-" else 0 for text in answers["encoded_pixels"]]
    assert math.isclose(trial.grade(whole), 2 * sum(true) / (sum(true) + sum(true[1:]) + 120))
    odd = [f"{text} 121 9 7777 1" if text != "-" else " 7 " for text in answers["encoded_pixels"]]
    assert trial.grade(answers.assign(encoded_pixels=odd)) == 1  # beyond the image, and a single number


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("", "text in every row"),
        ("1 3 3 2", "overlap"),
        ("9 1 2 1", "ascend"),
        ("0 2", "1 or more"),
        ("1 3 10 5 20", "odd"),
        ("- -", "whole"),
        ("1.5 2", "whole"),
    ],
)
def test_refused(trial: Trial, answers: pd.DataFrame, cell: str, reason: str) -> None:
    answers.loc[1, "encoded_pixels"] = cell
    trial.refuses(answers, reason)
    trial.refuses(answers.assign(encoded_pixels=5), "read as numbers")
