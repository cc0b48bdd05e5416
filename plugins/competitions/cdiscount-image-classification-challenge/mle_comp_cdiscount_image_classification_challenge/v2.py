"""Edition v2: every category can be learnt, and only those of `category_names.csv` are accepted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_cdiscount_image_classification_challenge as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, accuracy, link_file, read_csv, refuse

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
    examine(predictions, private)
    return accuracy(truth["category_id"], predictions["category_id"])


@hookimpl
def examine(predictions: DataFrame, folder: Path) -> None:
    known = read_csv(folder / NAMES, usecols=["category_id"])["category_id"]
    unknown = ~predictions["category_id"].isin(known).to_numpy()
    refuse(predictions, "category_id", f"categories of {NAMES}", unknown)
