"""Plant Pathology 2021, edition v2: F1 of each photograph, over six classes."""

from __future__ import annotations

import pandas as pd
import pytest
from mle_comp_plant_pathology_2021_fgvc8.v2 import CLASSES

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_the_six_classes_are_those_of_the_data(trial: Trial) -> None:
    assert set(CLASSES) == {word for cell in pd.read_csv(trial.raw / "train.csv")["labels"] for word in cell.split()}


@pytest.mark.parametrize("word", ["Scab", "7", "scab,rust"])
def test_words_that_are_no_class_are_invalid(trial: Trial, trial_v1: Trial, answers: pd.DataFrame, word: str) -> None:
    odd = answers.assign(labels=answers["labels"] + f" {word}")
    assert trial_v1.grade(odd) == 1
    trial.refuses(odd, "must hold classes out of complex")
    trial.refuses(answers.assign(labels=word), "must hold classes out of complex")


def test_a_photograph_counts_by_itself(trial: Trial, trial_v1: Trial) -> None:
    truth = pd.DataFrame({"image": ["a.jpg", "b.jpg"], "labels": ["scab", "scab rust complex"]})
    given = truth.assign(labels=["", "complex rust scab scab"])
    assert trial.grade(given, truth) == 0.5
    assert trial_v1.grade(given, truth) == 6 / 7
