"""Detecting Insults: text as id, tables passed on as they are, and what its grader takes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import Trial, check_competition

INSULTS = mlecore.competition("detecting-insults-in-social-commentary")


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("detecting-insults-in-social-commentary", tmp_path_factory.mktemp("insults"), size=0.1)


@pytest.fixture
def gold(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "gold_submission.csv")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("detecting-insults-in-social-commentary")


def test_tables(trial: Trial) -> None:
    assert (trial.public / "train.csv").read_bytes() == (trial.raw / "train.csv").read_bytes()
    assert (trial.private / "test.csv").read_bytes() == (trial.raw / "test_with_solutions.csv").read_bytes()
    answers = pd.read_csv(trial.private / "test.csv")
    expected = answers[["Insult", "Date", "Comment"]]
    assert (trial.private / "gold_submission.csv").read_text() == expected.to_csv(index=False)
    assert (trial.public / "test.csv").read_text() == answers[["Date", "Comment"]].to_csv(index=False)
    sample = (trial.public / "sample_submission_null.csv").read_text()
    assert sample == expected.assign(Insult=0).to_csv(index=False)


def test_synthetic_data_has_the_corner_cases(trial: Trial) -> None:
    answers = pd.read_csv(trial.private / "test.csv")
    assert answers["Comment"].str.startswith('"').all() and answers["Date"].isna().any()
    assert set(answers["Usage"]) == {"PublicTest", "PrivateTest"}
    repeated = answers[answers["Comment"].duplicated(keep=False)]
    assert sorted(repeated["Insult"]) == [0, 1]


def test_a_comment_in_both_tables_is_said(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "train.csv").write_text('Insult,Date,Comment\n0,,"""same"""\n')
    (raw / "test_with_solutions.csv").write_text('Insult,Date,Comment,Usage\n1,,"""same""",PublicTest\n')
    (tmp_path / "public").mkdir()
    (tmp_path / "private").mkdir()
    with pytest.raises(DataError, match="comments of train and test"):
        INSULTS.prepare(raw, tmp_path / "public", tmp_path / "private")


def test_scores(trial: Trial, gold: pd.DataFrame) -> None:
    assert trial.grade(gold) == 1
    assert trial.grade(gold.assign(Insult=1 - gold["Insult"])) == 0
    assert trial.grade(pd.read_csv(trial.private / "test.csv")) == 1
    assert trial.grade(gold[["Comment", "Insult"]].assign(note="x")) == 1
    assert trial.grade(gold.assign(Insult=gold["Insult"] == 1)) == 1
    assert trial.grade(pd.read_csv(trial.public / "sample_submission_null.csv")) == 0.5


@pytest.mark.parametrize("value", [None, "rude", -0.1, 1.5, "inf", "1_0"])
def test_predictions_are_numbers_from_0_to_1(trial: Trial, gold: pd.DataFrame, value: object) -> None:
    bad = gold.astype({"Insult": object})
    bad.loc[0, "Insult"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="Insult"):
        trial.grade(bad)


def test_comments_are_exactly_those_of_the_test_set(trial: Trial, gold: pd.DataFrame) -> None:
    trimmed = gold.assign(Comment=gold["Comment"].str.strip('"'))
    numbers = gold.assign(Comment=range(len(gold)))
    mixed = gold.assign(Comment=[None, *gold["Comment"][1:]])
    for bad in (trimmed, numbers, mixed, gold.iloc[1:], gold.drop(columns="Comment"), gold.drop(columns="Insult")):
        with pytest.raises(mlecore.InvalidSubmission):
            trial.grade(bad)
