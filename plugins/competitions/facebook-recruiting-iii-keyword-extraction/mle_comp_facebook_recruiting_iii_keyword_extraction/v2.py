"""Edition v2: repeated questions are on one side of the split, F1 is the mean over questions, and text is text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mle_comp_facebook_recruiting_iii_keyword_extraction as v1
from mlecore.hookspecs import hookimpl
from mlecore.metrics import mean_f1
from mlecore.prepare import read_pieces, split_positions, write_csv
from mlecore.submissions import Format, Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    """Questions keep the order of the download, in which their sites are mixed at random."""

    def questions(**options: Any) -> Iterator[DataFrame]:
        return read_pieces(raw / "Train.zip", member="Train.csv", dtype=str, na_filter=False, **options)

    in_test = _in_test(questions(usecols=["Title", "Body"]))
    write_csv((piece.loc[~in_test[piece.index], v1.COLUMNS] for piece in questions()), public / "train.csv")
    test = [piece.loc[in_test[piece.index], v1.COLUMNS] for piece in questions()]
    write_csv(iter(test), private / "test.csv")
    write_csv((piece[v1.COLUMNS[:3]] for piece in test), public / "test.csv")
    write_csv((piece[["Id"]].assign(Tags=v1.GUESS) for piece in test), public / "sample_submission.csv")


def _in_test(questions: Iterator[DataFrame]) -> NDArray[np.bool_]:
    """Whether each question is for testing; those with the same title and body go together, a tenth of the groups."""
    import numpy as np
    import pandas as pd

    texts = ((piece["Title"] + "\n" + piece["Body"]).to_numpy() for piece in questions)
    hashes = [pd.util.hash_array(some, categorize=False) for some in texts]  # categories of texts end at a NUL
    groups, distinct = pd.factorize(np.concatenate(hashes))
    chosen = np.zeros(len(distinct), dtype=bool)
    chosen[split_positions(len(distinct), test_size=0.1)[1]] = True
    return np.asarray(chosen[groups])


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return mean_f1(*(table["Tags"].tolist() for table in (truth, predictions)))
