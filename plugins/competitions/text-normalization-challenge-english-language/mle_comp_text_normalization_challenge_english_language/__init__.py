"""Text Normalization Challenge, English: from written tokens to the words that are spoken."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

from mlecore.hookspecs import hookimpl
from mlecore.metrics import accuracy
from mlecore.prepare import ZipWriter, ensure_columns, members, read_csv, renumber, split_groups, write_csv
from mlecore.prepare.quoted import Unlike, quoted_rows
from mlecore.prepare.sentences import write_pieces
from mlecore.submissions import Format, Table

COLUMNS = ["sentence_id", "token_id", "class", "before", "after"]
TRAIN, TEST, SAMPLE = "en_train.csv", "en_test_2.csv", "en_sample_submission_2.csv"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    for unused in (TEST, SAMPLE):
        members(raw / f"{unused}.zip")  # never read, but they must be there
    with (
        _stored(public, TRAIN) as train,
        _stored(public, TEST) as test,
        (private / "answers.csv").open("xb") as answers,
        (private / "sample_submission.csv").open("xb") as sample,
    ):
        try:
            rows = quoted_rows(raw / f"{TRAIN}.zip", TRAIN, COLUMNS)
            write_pieces(rows, COLUMNS, train, test, answers, sample, private)
        except Unlike:
            _write_whole(raw, train, test, answers, sample)
    with ZipWriter(public / f"{SAMPLE}.zip", stored=True) as archive:
        archive.add_file(SAMPLE, private / "sample_submission.csv")


def _write_whole(raw: Path, train: IO[bytes], test: IO[bytes], answers: IO[bytes], sample: IO[bytes]) -> None:
    """The tables as pandas makes them of any rows."""
    write = partial(write_csv, quoting=csv.QUOTE_NONNUMERIC)
    rows = read_csv(raw / f"{TRAIN}.zip", member=TRAIN)
    ensure_columns(rows, COLUMNS, TRAIN)
    known, asked = (
        part.assign(sentence_id=renumber(part["sentence_id"]))
        for part in split_groups(rows, "sentence_id", test_size=0.1)
    )
    write(known, train)
    write(asked[["sentence_id", "token_id", "before"]], test)
    asked["id"] = asked["sentence_id"].astype(str) + "_" + asked["token_id"].astype(str)
    write(asked[["id", "after"]], answers)
    write(asked[["id", "before"]].rename(columns={"before": "after"}), sample)


@contextmanager
def _stored(public: Path, name: str) -> Iterator[IO[bytes]]:
    """A file alone in an archive, to be written to."""
    with ZipWriter(public / f"{name}.zip", stored=True) as archive, archive.open(name) as file:
        yield file


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, guess = format.read(submission, private / "answers.csv")
    return accuracy(truth["after"].astype(str), guess["after"].astype(str))
