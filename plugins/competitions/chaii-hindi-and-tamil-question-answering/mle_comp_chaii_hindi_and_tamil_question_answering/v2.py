"""Edition v2: questions about one article are on one side of the split; texts are text, and two empty ones alike."""

from __future__ import annotations

from pathlib import Path

import mle_comp_chaii_hindi_and_tamil_question_answering as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, read_table, split_whole_groups, word_jaccard


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_table(raw / "train.csv", na_filter=False)
    train, test = (table[part] for part in split_whole_groups(table["context"].to_list(), test_size=0.1))
    v1.write(public, private, train, test)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """The mean Jaccard index of the words, 1 where both texts have none."""
    truth, predictions = format.read(submission, private / "test.csv")
    scores = word_jaccard(*(table["PredictionString"].tolist() for table in (truth, predictions)))
    return sum(1.0 if score != score else score for score in scores) / len(scores)
