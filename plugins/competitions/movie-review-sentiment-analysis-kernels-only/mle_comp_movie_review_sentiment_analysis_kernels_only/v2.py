"""Edition v2: phrases of a sentence are on one side of the split, and each phrase is the text that it is."""

from __future__ import annotations

from pathlib import Path

import mle_comp_movie_review_sentiment_analysis_kernels_only as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ensure_columns, read_csv, split_whole_groups


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.tsv.zip", member="train.tsv", sep="\t", na_filter=False)
    ensure_columns(table, v1.COLUMNS, "train.tsv")
    train, test = (table.iloc[part] for part in split_whole_groups(table["SentenceId"].tolist(), test_size=0.3))
    v1.write(public, private, train, test)
