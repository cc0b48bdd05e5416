"""Optical Digits: read handwritten digits of 8x8 pixels. For practice: real data, no account, no network."""

from __future__ import annotations

import gzip
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, accuracy, read_csv, split, write_csv


@hookimpl
def fetch(raw: Path) -> None:
    packed = Path(__file__).parent / "digits.csv.gz"
    (raw / "digits.csv").write_bytes(gzip.decompress(packed.read_bytes()))


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    digits = read_csv(raw / "digits.csv")
    train, test = split(digits, test_size=0.2)
    # numbered after the shuffle: in the file's own order, its first hundred digits repeat 0 to 9
    train.insert(0, "id", range(len(train)))
    test.insert(0, "id", range(len(train), len(digits)))
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="digit"), public / "test.csv")
    write_csv(test[["id", "digit"]], private / "test.csv")
    write_csv(test[["id"]].assign(digit=0), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return accuracy(truth["digit"], predictions["digit"])
