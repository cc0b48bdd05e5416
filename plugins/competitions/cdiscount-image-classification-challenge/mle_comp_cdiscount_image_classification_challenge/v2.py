"""Edition v2: every category can be learnt, and only those of `category_names.csv` are accepted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_cdiscount_image_classification_challenge as v1
from mlecore.hookspecs import hookimpl
from mlecore.metrics import accuracy
from mlecore.prepare import link_file, read_csv
from mlecore.submissions import Format, Table, generic_check, refuse

if TYPE_CHECKING:
    from pandas import DataFrame

NAMES = "category_names.csv"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table, in_test = v1.read_parts(raw)
    only_in_test = in_test & ~table["category_id"].isin(table.loc[~in_test, "category_id"].unique()).to_numpy()
    lone = table[only_in_test].drop_duplicates("category_id")
    in_test[lone.index] = False  # the first product of each such category is for training
    v1.write(raw, public, private, table, in_test)
    link_file(raw / NAMES, private / NAMES)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    _refuse_unknown(predictions, private)
    return accuracy(truth["category_id"], predictions["category_id"])


@hookimpl
def check(submission: Table, sample: Table, public: Path, format: Format) -> Sequence[str]:
    warnings = generic_check(format, submission, sample)
    _refuse_unknown(format.read(submission, sample.frame())[1], public)
    return warnings


def _refuse_unknown(predictions: DataFrame, folder: Path) -> None:
    """Raises InvalidSubmission for a category that ``folder``/category_names.csv does not list."""
    known = read_csv(folder / NAMES, usecols=["category_id"])["category_id"]
    unknown = ~predictions["category_id"].isin(known).to_numpy()
    refuse(predictions, "category_id", f"categories of {NAMES}", unknown)
