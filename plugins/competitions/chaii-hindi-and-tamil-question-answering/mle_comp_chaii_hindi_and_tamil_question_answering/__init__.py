"""Hindi and Tamil Question Answering: find the answer to a question in a Wikipedia article."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, read_table, split, texts, word_jaccard, words, write_csv

if TYPE_CHECKING:
    import polars as pl


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    write(public, private, *split(read_table(raw / "train.csv"), test_size=0.1))


def write(public: Path, private: Path, train: pl.DataFrame, test: pl.DataFrame) -> None:
    import polars as pl

    answers = test.select("id", PredictionString="answer_text")
    write_csv(train, public / "train.csv")
    write_csv(test.select("id", "context", "question", "language"), public / "test.csv")
    write_csv(answers, private / "test.csv")
    write_csv(answers.with_columns(PredictionString=pl.lit("dummy text")), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    asked, given = texts(truth, "PredictionString", missing=""), predictions["PredictionString"].tolist()
    if not _two_words([*asked, *given]):
        raise InvalidSubmission("answers and predictions hold fewer than two words in all, which cannot be scored")
    scores = word_jaccard(asked, given)
    return sum(score for score in scores if score == score) / len(scores)  # two empty texts score 0


def _two_words(texts: Sequence[str]) -> bool:
    """Are there two that differ, case ignored?"""
    found: set[str] = set()
    for word in (word for text in texts for word in words(text.lower())):
        found.add(word)
        if len(found) == 2:
            return True
    return False
