"""Google QUEST Q&A Labeling: how do people rate a question and its answer in thirty aspects?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, read_answers, read_table, split_positions, write_csv

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray
    from pandas import Series

TARGETS = [
    *(
        f"question_{name}"
        for name in (
            "asker_intent_understanding body_critical conversational expect_short_answer fact_seeking "
            "has_commonly_accepted_answer interestingness_others interestingness_self multi_intent "
            "not_really_a_question opinion_seeking type_choice type_compare type_consequence type_definition "
            "type_entity type_instructions type_procedure type_reason_explanation type_spelling well_written"
        ).split()
    ),
    *(
        f"answer_{name}"
        for name in (
            "helpful level_of_information plausible relevance satisfaction type_instructions type_procedure "
            "type_reason_explanation well_written"
        ).split()
    ),
]
RARE = "question_type_spelling"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_table(raw / "train.csv")
    ensure_all_columns(table)
    write(public, private, *_split(table))


def ensure_all_columns(table: pl.DataFrame) -> None:
    ensure(len(table.columns) == 41, f"train.csv has {len(table.columns)} columns; expected 41")


def write(public: Path, private: Path, train: pl.DataFrame, test: pl.DataFrame) -> None:
    import numpy as np
    import polars as pl

    answers = test.select("qa_id", *TARGETS)
    for target in TARGETS:
        ensure(_varies(answers[target]), f"the test part has one value only of {target}")
    write_csv(answers, private / "test.csv")
    write_csv(train, public / "train.csv")
    write_csv(test.drop(TARGETS), public / "test.csv")
    ramp = pl.Series(np.linspace(0, 1, len(test)))
    write_csv(test.select("qa_id", **dict.fromkeys(TARGETS, ramp)), public / "sample_submission.csv")


def _varies(column: pl.Series) -> bool:
    return column.drop_nulls().n_unique() > 1


def _split(table: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """At random; where the rare target is constant in the test part, two rows then change places."""
    train, test = split_positions(len(table), 0.1)
    if table[RARE][test].drop_nulls().n_unique() == 1:
        other = (table[RARE][train].fill_null(1) != 0).to_numpy()
        ensure(other.any(), f"{RARE} is 0 in every row of train.csv, or nearly")
        place = other.argmax()  # the first
        train[place], test[0] = test[0], train[place]
    return table[train], table[test]


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    import numpy as np

    truth, predictions = format.read(submission, read_answers(private / "test.csv", ["qa_id", *TARGETS]))
    return float(np.mean([spearman(truth[target], predictions[target]) for target in TARGETS]))


def spearman(truth: Series, predictions: Series) -> float:
    """Pearson's correlation of the ranks; NaN where a column is constant or has a missing value."""
    import numpy as np

    if truth.hasnans or predictions.hasnans:
        return float("nan")
    x, y = (ranks - ranks.mean() for ranks in (_ranks(truth), _ranks(predictions)))
    norms = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / norms) if norms else float("nan")


def _ranks(column: Series) -> NDArray[np.float64]:
    """From 1; equal values share the mean of theirs. Numbers are compared as doubles, a column with text as text."""
    import numpy as np

    values = column.map(str) if column.dtype == object else column.astype("float64")
    return np.asarray(values.rank())
