"""Text Normalization Challenge, Russian: odd tokens.

How tables are prepared is tested in mle-lib-text-normalization, what scores are with the English tokens.
"""

from __future__ import annotations

import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.5)


def test_synthetic_data_have_odd_tokens_and_gaps_between_sentences(trial: Trial) -> None:
    rows = pd.read_csv(trial.raw / "ru_train.csv.zip", keep_default_na=False)
    assert {"NA", "NULL", "None", "nan", "", '"', "a,b", " да", "0_0", "0.10", "1999", "True"} < set(rows["before"])
    numbers = rows["sentence_id"].unique()
    assert numbers[0] > 0 and (numbers[1:] - numbers[:-1]).max() > 1


def test_looking_tokens_up_beats_the_sample(trial: Trial, answers: pd.DataFrame) -> None:
    train = pd.read_csv(trial.public / "ru_train.csv.zip", keep_default_na=False)
    test = pd.read_csv(trial.public / "ru_test_2.csv.zip", keep_default_na=False)
    known = train.drop_duplicates("before").set_index("before")["after"]
    assert trial.grade(answers.assign(after=test["before"].map(known).fillna(test["before"]))) > 0.95
