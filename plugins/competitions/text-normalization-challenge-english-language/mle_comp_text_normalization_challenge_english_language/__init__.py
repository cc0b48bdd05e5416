"""Text Normalization Challenge, English: from written tokens to the words that are spoken."""

from __future__ import annotations

from pathlib import Path

from mle_lib_text_normalization import split_sentences

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, accuracy


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    split_sentences(raw, public, private, "en")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return accuracy(truth["after"].astype(str), predictions["after"].astype(str))
