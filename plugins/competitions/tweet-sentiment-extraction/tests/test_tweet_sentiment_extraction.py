"""Tweet Sentiment Extraction: sets of words, what counts as text, and two empty texts."""

from __future__ import annotations

import math

import pandas as pd
from mlecore_testing import Trial


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


def test_numbers_count_as_python_prints_them(trial: Trial) -> None:
    truth = pd.DataFrame({"textID": ["a", "b"], "selected_text": ["1.0 x", "2"]})
    for cells, score in ((["1", "2"], 0.5), (["1", ""], 0.25), (["True", "False"], 0.0)):
        assert trial.grade(truth.assign(selected_text=cells), truth) == score


def test_two_empty_texts_are_undefined(trial: Trial) -> None:
    truth = "textID,selected_text\na,\nb,word\n"
    trial.refuses("textID,selected_text\na,NA\nb,word\n", "textID 'a': selected_text is empty", truth)
    assert trial.grade("textID,selected_text\na,any\nb,\n", truth) == 0
