"""Tweet Sentiment Extraction: sets of words, what counts as text, and two empty texts."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from mlecore import InvalidSubmission
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.1)


def test_the_sample_is_empty_without_quotes(trial: Trial, answers: pd.DataFrame) -> None:
    lines = (trial.public / "sample_submission.csv").read_text().splitlines()
    assert lines == ["textID,selected_text", *(f"{id}," for id in answers["textID"])]
    assert trial.grade("\n".join(lines)) == 0


def test_words_are_sets_and_case_does_not_matter(trial: Trial, answers: pd.DataFrame) -> None:
    shouted = answers.assign(selected_text=answers["selected_text"].str.upper() + "\t ")
    assert trial.grade(shouted) == 1
    twice = answers.assign(selected_text=answers["selected_text"] + " extra EXTRA")
    words = answers["selected_text"].str.lower().str.split().map(set).map(len)
    assert math.isclose(trial.grade(twice), (words / (words + 1)).mean())


def test_numbers_count_as_python_prints_them(trial: Trial, tmp_path: Path) -> None:
    truth = pd.DataFrame({"textID": ["a", "b"], "selected_text": ["1.0 x", "2"]})
    truth.to_csv(tmp_path / "test.csv", index=False)
    grade = trial.competition.grade
    for cells, score in ((["1", "2"], 0.5), (["1", ""], 0.25), (["True", "False"], 0.0)):
        submission = tmp_path / "submission.csv"
        truth.assign(selected_text=cells).to_csv(submission, index=False)
        assert grade(submission, tmp_path) == score


def test_two_empty_texts_are_undefined(trial: Trial, tmp_path: Path) -> None:
    (tmp_path / "test.csv").write_text("textID,selected_text\na,\nb,word\n")
    (tmp_path / "submission.csv").write_text("textID,selected_text\na,NA\nb,word\n")
    with pytest.raises(InvalidSubmission, match="textID 'a': selected_text is empty"):
        trial.competition.grade(tmp_path / "submission.csv", tmp_path)
    (tmp_path / "submission.csv").write_text("textID,selected_text\na,any\nb,\n")
    assert trial.competition.grade(tmp_path / "submission.csv", tmp_path) == 0
