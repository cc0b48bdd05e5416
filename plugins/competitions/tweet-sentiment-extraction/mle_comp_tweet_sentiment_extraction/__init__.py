"""Tweet Sentiment Extraction: which words of a tweet carry its sentiment?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, read_answers, read_table, split, word_jaccard, write_csv

if TYPE_CHECKING:
    from pandas import Series


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import polars as pl

    train, test = split(read_table(raw / "train.csv"), test_size=0.1)
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.drop("selected_text"), public / "test.csv")
    write_csv(test.select("textID", selected_text=pl.lit("")), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, read_answers(private / "test.csv", ["textID", "selected_text"]))
    asked, given = _texts(truth["selected_text"]), _texts(predictions["selected_text"])
    scores = word_jaccard(asked, given)
    blank = [id for id, score in zip(truth["textID"], scores, strict=True) if score != score]
    if blank:
        raise InvalidSubmission(
            f"textID {blank[0]!r}: selected_text is empty, as the answer is, and the score of two empty texts "
            f"is undefined ({len(blank)} such rows); write any word there"
        )
    return sum(scores) / len(scores)


def _texts(cells: Series) -> list[str]:
    from pandas.api.types import infer_dtype

    """As Python prints them; empty if missing."""
    if infer_dtype(cells, skipna=False) == "string":
        return list(cells.tolist())
    return ["" if gap else str(cell) for cell, gap in zip(cells.tolist(), cells.isna().tolist(), strict=True)]
