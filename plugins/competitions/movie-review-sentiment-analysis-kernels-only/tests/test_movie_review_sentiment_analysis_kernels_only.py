"""Film reviews: phrases that read as missing, and labels of any whole number."""

from __future__ import annotations

import zipfile

import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.4)


def lines(trial: Trial, name: str) -> list[str]:
    with zipfile.ZipFile(trial.public / f"{name}.zip") as archive:
        assert archive.namelist() == [name]
        return archive.read(name).decode().split("\n")


def test_words_for_missing_values_are_lost(trial: Trial) -> None:
    rows = [line.split("\t") for line in [*lines(trial, "train.tsv")[1:-1], *lines(trial, "test.tsv")[1:-1]]]
    phrases = [row[2] for row in rows]
    assert phrases.count("") > 4 and "None" not in phrases and "n/a" not in phrases
    assert " " in phrases and '"say ""hi"" now"' in phrases and "it's, well, art" in phrases


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.iloc[::-1]) == 1
    assert trial.grade(answers.assign(Sentiment=answers["Sentiment"].astype(float), Phrase="x")) == 1
    assert trial.grade(answers.assign(PhraseId=answers["PhraseId"].astype(str).str.zfill(9))) == 1
    assert trial.grade(answers.assign(Sentiment=True)) == (answers["Sentiment"] == 1).mean()
    for far in (7, -1, 2**64 - 1):
        assert trial.grade(answers.assign(Sentiment=far)) == 0
