"""Text Normalization Challenge, English: how a column of words is typed."""

from __future__ import annotations

import csv

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.2)


def test_words_for_missing_values_match_blanks(trial: Trial, answers: pd.DataFrame) -> None:
    blank = answers["after"].isna()
    assert blank.sum() > 1
    for word in ("NA", "null", "None", "#N/A N/A", "-1.#IND"):
        assert trial.grade(answers.assign(after=answers["after"].where(~blank, word))) == 1
    for word in ("NAN", "missing", " NA"):
        score = trial.grade(answers.assign(after=answers["after"].where(~blank, word)))
        assert score == pytest.approx(1 - blank.mean(), abs=1e-12)


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        (["1999"], "1999"),
        (["007"], "7"),
        (["007", "x"], "007"),  # one word, and all stay as they are
        (["0.10"], "0.1"),
        (["007", ""], "7.0"),
        (["TRUE", ""], "True"),
        (["true", "x"], "true"),
        (["Infinity"], "inf"),
    ],
)
def test_a_column_without_words_is_compared_as_it_is_read(
    trial: Trial, answers: pd.DataFrame, cells: list[str], wanted: str
) -> None:
    truth = answers.assign(after=["big", *[wanted] * (len(answers) - 1)])
    given = answers.assign(after=[*cells[1:], *[cells[0]] * (len(answers) - len(cells) + 1)])
    assert trial.check(given) == []
    score = trial.grade(given, truth.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC))
    assert score == pytest.approx((len(answers) - 1) / len(answers), abs=1e-12)
