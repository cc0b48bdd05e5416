"""Detecting Insults in Social Commentary: does a comment insult somebody in the conversation?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure,
    ensure_columns,
    ensure_disjoint,
    link_file,
    read_csv,
    read_table,
    roc_auc,
    write_csv,
)

COLUMNS = ["Insult", "Date", "Comment"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    # no split: Kaggle published the labels of its test set
    link_file(raw / "train.csv", public / "train.csv")
    link_file(raw / "test_with_solutions.csv", private / "test.csv")
    train, answers = read_table(public / "train.csv"), read_table(private / "test.csv")
    ensure_columns(train, COLUMNS, "train.csv")
    ensure_columns(answers, [*COLUMNS, "Usage"], "test_with_solutions.csv")
    ensure_disjoint(train["Comment"], answers["Comment"], "comments of train and test")
    write_csv(answers.select(COLUMNS), private / "gold_submission.csv")
    write_csv(answers.select(COLUMNS[1:]), public / "test.csv")
    write_csv(answers.select(COLUMNS).with_columns(Insult=0), public / "sample_submission_null.csv")
    # by pandas, which tells the number 1 from the text "1" in a column of both
    same = read_csv(public / "test.csv").equals(read_csv(private / "test.csv")[COLUMNS[1:]])
    ensure(same, "test.csv, written and read again, differs from the answers")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return roc_auc(truth["Insult"], predictions["Insult"])
