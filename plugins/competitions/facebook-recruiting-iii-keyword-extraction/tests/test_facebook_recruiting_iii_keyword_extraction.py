"""Keyword extraction: pieces put in order, missing words, and the vocabulary of the answers."""

from __future__ import annotations

import math
import zipfile

import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.4)


def test_tables_are_those_of_pandas(trial: Trial) -> None:
    from sklearn.model_selection import train_test_split

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


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    tags = answers["Tags"]
    twice = "\u00a0 " + tags + "\t" + tags + " "  # any white space; repeats count once
    assert trial.grade(answers.assign(Tags=twice)) == 1
    assert trial.grade(answers.assign(Tags=tags + " Never-Seen")) == 1  # dropped, as no answer has it
    assert trial.grade(answers.assign(Tags=tags.str.upper())) == trial.grade(answers.assign(Tags="")) == 0


def test_counts_are_summed_over_questions(trial: Trial, answers: pd.DataFrame) -> None:
    pairs = sum(len(tags.split()) for tags in answers["Tags"].dropna())
    php = answers["Tags"].str.split().apply(lambda tags: isinstance(tags, list) and "php" in tags).sum()
    assert php
    assert math.isclose(trial.grade(answers.assign(Tags="php")), 2 * php / (pairs + len(answers)))


def test_answers_without_tags(trial: Trial, answers: pd.DataFrame) -> None:
    trial.refuses(answers, "no tags at all", answers.assign(Tags=None))
