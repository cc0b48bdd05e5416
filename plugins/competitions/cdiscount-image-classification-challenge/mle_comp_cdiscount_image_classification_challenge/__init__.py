"""Cdiscount's Image Classification Challenge: which of 5,000 categories does a product belong to?"""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_cdiscount_image_classification_challenge.documents import products, write_parts
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, accuracy, ensure_disjoint, link_file, split_positions, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table, in_test = read_parts(raw)
    write(raw, public, private, table, in_test)


def read_parts(raw: Path) -> tuple[DataFrame, NDArray[np.bool_]]:
    """The products, ``_id`` and ``category_id`` in file order, and which of them are for testing."""
    import numpy as np
    import pandas as pd

    ids, categories = array("q"), array("q")
    for document in products(raw / "train.bson"):
        ids.append(document["_id"])
        categories.append(document["category_id"])
    table = pd.DataFrame({"_id": np.asarray(ids), "category_id": np.asarray(categories)})
    train, test = split_positions(len(table), test_size=0.1)
    if not table["_id"].is_unique:
        ensure_disjoint(table["_id"].iloc[train], table["_id"].iloc[test], "products of train.bson")
    in_test = np.zeros(len(table), dtype=bool)
    in_test[test] = True
    return table, in_test


def write(raw: Path, public: Path, private: Path, table: DataFrame, in_test: NDArray[np.bool_]) -> None:
    """Both parts, answers and sample submission."""
    answers = table[in_test].sort_values("_id")
    write_csv(answers, private / "answers.csv")
    write_csv(answers.assign(category_id=1000010653), public / "sample_submission.csv")
    link_file(raw / "category_names.csv", public / "category_names.csv")
    write_parts(raw / "train.bson", in_test, public)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return accuracy(truth["category_id"], predictions["category_id"])
