"""Keyword extraction: pieces put in order, missing words, and the vocabulary of the answers."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from mlecore import InvalidSubmission
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.4)


def test_tables_are_those_of_pandas(trial: Trial) -> None:
    with zipfile.ZipFile(trial.raw / "Train.zip") as archive, archive.open("Train.csv") as member:
        rows = pd.read_csv(member, dtype={"Id": str, "Tags": str})
    train, test = train_test_split(rows, test_size=0.1, random_state=0)
    assert (trial.public / "train.csv").read_bytes() == train.to_csv(index=False).encode()
    assert (trial.private / "test.csv").read_bytes() == test.to_csv(index=False).encode()
    assert (trial.public / "test.csv").read_bytes() == test.drop(columns="Tags").to_csv(index=False).encode()
    sample = test.assign(Tags="javascript c# python php java")
    assert (trial.public / "sample_submission.csv").read_bytes() == sample.to_csv(index=False).encode()
    assert rows[["Title", "Body", "Tags"]].isna().any().all()  # NA, an empty body, the tag null
    assert [path.name for path in trial.private.iterdir()] == ["test.csv"]


@pytest.mark.parametrize(
    ("change", "missed", "wrong"),
    [
        (lambda tags: f"\u00a0 {tags}\t{tags} ", 0, 0),  # any white space; repeats count once
        (lambda tags: f"{tags} Never-Seen", 0, 0),  # dropped, as no answer has it
        (lambda tags: tags.upper(), 1, 0),
        (lambda tags: "", 1, 0),
    ],
)
def test_scores(trial: Trial, answers: pd.DataFrame, change: object, missed: int, wrong: int) -> None:
    changed = [change(tags) if isinstance(tags, str) else "" for tags in answers["Tags"]]  # type: ignore[operator]
    assert trial.grade(answers[["Id"]].assign(Tags=changed)) == 1 - missed


def test_counts_are_summed_over_questions(trial: Trial, answers: pd.DataFrame) -> None:
    pairs = sum(len(tags.split()) for tags in answers["Tags"].dropna())
    php = answers["Tags"].str.split().apply(lambda tags: isinstance(tags, list) and "php" in tags).sum()
    assert php
    assert math.isclose(trial.grade(answers.assign(Tags="php")), 2 * php / (pairs + len(answers)))


@pytest.mark.parametrize("tags", ["7", "True"])
def test_a_column_without_words_is_refused(trial: Trial, answers: pd.DataFrame, tags: str) -> None:
    for cells in ([tags] * len(answers), ["", *[tags] * (len(answers) - 1)]):
        with pytest.raises(InvalidSubmission, match="must hold text"):
            trial.grade(answers.assign(Tags=cells))
    assert trial.grade(answers.assign(Tags=["php", *[tags] * (len(answers) - 1)])) < 1


def test_answers_without_tags(trial: Trial, answers: pd.DataFrame, tmp_path: Path) -> None:
    answers.assign(Tags=None).to_csv(tmp_path / "test.csv", index=False)
    with pytest.raises(InvalidSubmission, match="no tags at all"):
        trial.competition.grade(tmp_path / "test.csv", tmp_path)
