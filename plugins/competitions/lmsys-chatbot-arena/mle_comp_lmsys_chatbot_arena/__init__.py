"""LMSYS, Chatbot Arena Human Preference Predictions: which answer do people like better?"""

from __future__ import annotations

from pathlib import Path

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure_columns, ensure_disjoint, log_loss, read_table, split, write_csv
from mlecore_toolkit.submissions.messages import offending

SHOWN = ["id", "prompt", "response_a", "response_b"]
CHANCES = ["winner_model_a", "winner_model_b", "winner_tie"]
COLUMNS = ["id", "model_a", "model_b", "prompt", "response_a", "response_b", *CHANCES]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    battles = read_table(raw / "train.csv")
    ensure_columns(battles, COLUMNS, "train.csv")
    train, test = split(battles, test_size=0.1)
    ensure_disjoint(train["id"], test["id"], "ids of train and test")
    write_csv(train, public / "train.csv")
    write_csv(test, private / "answers.csv")
    write_csv(test.select(SHOWN), public / "test.csv")
    write_csv(test.select("id", **dict.fromkeys(CHANCES, 1 / 3)), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    examine(submission)
    return log_loss(truth[CHANCES], predictions[CHANCES])


@hookimpl
def examine(submission: Table) -> None:
    """The published tests, on the columns as pandas typed them: True and False only in all three, and sums of 1."""
    frame = submission.frame()
    kinds = {frame[name].dtype.kind for name in CHANCES}
    if "b" in kinds and len(kinds) > 1:
        raise InvalidSubmission("a column of True and False stands beside one of numbers: write numbers in all three")
    sums = frame[CHANCES].sum(axis=1).round(6)
    bad = (sums != 1).to_numpy().nonzero()[0].tolist()
    if bad:
        found = offending(frame, bad, sums.array)
        raise InvalidSubmission(f"each row's chances must add up to 1, rounded to 6 decimals; sums found: {found}")
