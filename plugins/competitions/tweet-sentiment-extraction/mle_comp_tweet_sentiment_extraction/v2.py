"""Edition v2: two empty texts are the same."""

from __future__ import annotations

from pathlib import Path

import mle_comp_tweet_sentiment_extraction as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, read_answers, word_jaccard


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """The mean Jaccard index of the words, 1 where both texts have none."""
    truth, predictions = format.read(submission, read_answers(private / "test.csv", ["textID", "selected_text"]))
    scores = word_jaccard(*(v1._texts(table["selected_text"]) for table in (truth, predictions)))
    return sum(1.0 if score != score else score for score in scores) / len(scores)
