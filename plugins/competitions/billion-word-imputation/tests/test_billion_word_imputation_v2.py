"""Billion Word Imputation, edition v2: single blanks on both sides, a public sample, and text that is text."""

from __future__ import annotations

import csv

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.5)


def one_word_apart(trial: Trial) -> list[bool]:
    """For each answer: is it the shown sentence with one more word?"""
    with (trial.private / "test.csv").open(newline="", encoding="utf-8") as file:
        right = {row["id"]: row["sentence"] for row in csv.DictReader(file)}
    with (trial.public / "test.csv").open(newline="", encoding="utf-8") as file:
        shown = {row["id"]: row["sentence"].split(" ") for row in csv.DictReader(file)}
    words = {id: sentence.split(" ") for id, sentence in right.items()}
    assert shown.keys() == words.keys()
    return [
        any(some[:place] + some[place + 1 :] == shown[id] for place in range(1, len(some) - 1))
        for id, some in words.items()
    ]


def test_answers_have_single_blanks(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    published = pd.read_csv(trial_v1.private / "test.csv", keep_default_na=False)["sentence"]
    assert published.str.contains("  |\u00a0").any()
    assert answers["sentence"].tolist() == [" ".join(sentence.split()) for sentence in published]
    assert all(one_word_apart(trial))


@pytest.mark.parametrize("word", ["", "NA", "007"])
def test_any_text_is_valid(trial: Trial, trial_v1: Trial, answers: pd.DataFrame, word: str) -> None:
    one = answers["sentence"].where(answers["id"] != 3, word)
    longest = max(len(answers["sentence"][3]), len(word))
    assert 0 < trial.grade(answers.assign(sentence=one)) <= longest / len(answers)
    if word != "007":
        published = pd.read_csv(trial_v1.private / "test.csv").assign(sentence=one)
        trial_v1.refuses(published, "sentence")
    assert trial.grade(answers.assign(sentence=word)) > 5
