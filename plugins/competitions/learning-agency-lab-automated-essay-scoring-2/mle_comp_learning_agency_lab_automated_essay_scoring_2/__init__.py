"""Automated Essay Scoring 2.0: which score from 1 to 6 does a student's essay get?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure_columns,
    ensure_disjoint,
    quadratic_weighted_kappa,
    read_table,
    split,
    write_csv,
)


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    from numpy.random import RandomState

    table = read_table(raw / "train.csv")
    ensure_columns(table, ["essay_id", "full_text", "score"], "train.csv")
    train, test = split(table, test_size=0.1)
    ensure_disjoint(train["essay_id"], test["essay_id"], "ids of train.csv")
    write_csv(train, public / "train.csv")
    write_csv(test, private / "answers.csv")
    write_csv(test.select("essay_id", "full_text"), public / "test.csv")
    scores = RandomState(42).randint(1, 7, size=len(test))
    write_csv(test.select("essay_id", score=scores), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return quadratic_weighted_kappa(truth["score"], predictions["score"])
