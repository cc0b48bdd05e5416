"""Spooky Author Identification: who wrote a sentence, Poe, Lovecraft or Shelley?"""

from __future__ import annotations

from pathlib import Path

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, log_loss, one_hot, read_csv, split, write_csv

SHARES = {"EAP": 0.403493538995863, "HPL": 0.287808366106543, "MWS": 0.308698094897594}
AUTHORS = list(SHARES)


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split(read_csv(raw / "train.zip", member="train.csv"), test_size=0.1)
    write_csv(train, public / "train.csv")
    write_csv(test[["id", "text"]], public / "test.csv")
    write_csv(test[["id"]].join(one_hot(test["author"], AUTHORS)), private / "test.csv")
    write_csv(test[["id"]].assign(**SHARES), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    examine(submission)
    return log_loss(truth[AUTHORS], predictions[AUTHORS])


@hookimpl
def examine(submission: Table) -> None:
    """The published grader adds up all columns but the first."""
    if (first := submission.frame().columns[0]) != "id":
        raise InvalidSubmission(f"the first column must be id; found {first}")
