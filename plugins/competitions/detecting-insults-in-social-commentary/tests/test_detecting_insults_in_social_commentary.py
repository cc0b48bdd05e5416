"""Detecting Insults: the text is the id, and tables are passed on as they are."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from mlecore_testing import Trial


def test_tables_are_passed_on(trial: Trial, answers: pd.DataFrame) -> None:
    assert (trial.public / "train.csv").read_bytes() == (trial.raw / "train.csv").read_bytes()
    assert (trial.private / "test.csv").read_bytes() == (trial.raw / "test_with_solutions.csv").read_bytes()
    gold = answers[["Insult", "Date", "Comment"]].to_csv(index=False)
    assert (trial.private / "gold_submission.csv").read_text() == gold


def test_synthetic_data_have_a_comment_twice_with_both_labels(answers: pd.DataFrame) -> None:
    twice = answers[answers["Comment"].duplicated(keep=False)]
    assert sorted(twice["Insult"]) == [0, 1]
    assert answers["Comment"].str.startswith('"').all() and answers["Date"].isna().any()


def test_a_comment_in_both_tables_is_refused(trial: Trial, tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text('Insult,Date,Comment\n0,,"""same"""\n')
    (tmp_path / "test_with_solutions.csv").write_text('Insult,Date,Comment,Usage\n1,,"""same""",PublicTest\n')
    trial.refuses_raw(tmp_path, "comments of train and test")


def test_comments_keep_their_quotes(trial: Trial, answers: pd.DataFrame) -> None:
    trial.refuses(answers.assign(Comment=answers["Comment"].str.strip('"')), "unexpected")
