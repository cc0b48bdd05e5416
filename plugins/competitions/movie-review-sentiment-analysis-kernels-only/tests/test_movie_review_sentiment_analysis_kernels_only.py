"""Film reviews: phrases that read as missing, tab-separated tables in archives, and labels of any whole number."""

from __future__ import annotations

import zipfile

import pandas as pd
import pytest

from mlecore import InvalidSubmission
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.4)


def lines(trial: Trial, name: str) -> list[str]:
    with zipfile.ZipFile(trial.public / f"{name}.zip") as archive:
        assert archive.namelist() == [name]
        return archive.read(name).decode().split("\n")


def test_parts(trial: Trial, answers: pd.DataFrame) -> None:
    train, test = lines(trial, "train.tsv"), lines(trial, "test.tsv")
    assert train[0].split("\t") == [*test[0].split("\t"), "Sentiment"] == list(answers.columns)
    assert [len(train), len(test)] == [170, 74]  # with the header and the end
    assert not list(trial.public.glob("*.tsv"))
    assert not answers["PhraseId"].is_monotonic_increasing
    assert [int(line.split("\t")[0]) for line in test[1:-1]] == answers["PhraseId"].tolist()


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


@pytest.mark.parametrize("cell", ["", "0.5", "inf", "1e19", "18446744073709551616", "good"])
def test_refused(trial: Trial, answers: pd.DataFrame, cell: str) -> None:
    answers["Sentiment"] = answers["Sentiment"].astype(object).where(answers.index > 0, cell)
    with pytest.raises(InvalidSubmission, match="must hold whole numbers"):
        trial.grade(answers)
