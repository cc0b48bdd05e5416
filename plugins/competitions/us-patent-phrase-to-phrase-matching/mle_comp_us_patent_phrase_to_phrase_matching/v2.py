"""Edition v2: split by anchor; the sample has a score, and what has none is invalid."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_us_patent_phrase_to_phrase_matching as v1
from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, read_csv, split_whole_groups, write_csv

if TYPE_CHECKING:
    from pandas import DataFrame


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import numpy as np

    table = read_csv(raw / "train.csv", na_filter=False)
    train, test = (table.iloc[part] for part in split_whole_groups(table["anchor"].tolist(), test_size=0.1))
    ensure(test["score"].nunique() > 1, "the pairs for testing have one score only")
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.drop(columns="score"), public / "test.csv")
    write_csv(test[["id"]].assign(score=np.linspace(0, 1, len(test))), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    import numpy as np

    truth, predictions = format.read(submission, private / "test.csv")
    examine(predictions)
    scores = predictions["score"].to_numpy(dtype=np.float64)
    scores = np.ldexp(scores, -np.frexp(abs(scores).max())[1])  # exact; the sum of huge numbers would be infinite
    return v1.pearson(truth["score"], scores - scores[0])  # exact near a constant, whose mean would be rounded


@hookimpl
def examine(predictions: DataFrame) -> None:
    scores = predictions["score"]
    if (scores == scores[0]).all():
        raise InvalidSubmission(f"column 'score' holds {scores[0]:g} in every row: the correlation is undefined")
