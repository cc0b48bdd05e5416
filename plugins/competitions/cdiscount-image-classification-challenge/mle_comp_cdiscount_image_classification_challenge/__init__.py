"""Cdiscount's Image Classification Challenge: which of 5,000 categories does a product belong to?"""

from __future__ import annotations

from array import array
from pathlib import Path

from mle_comp_cdiscount_image_classification_challenge.documents import products, write_parts
from mlecore.hookspecs import hookimpl
from mlecore.metrics import accuracy
from mlecore.prepare import ensure_disjoint, link_file, split_positions, write_csv
from mlecore.submissions import Format, Table


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import numpy as np
    import pandas as pd

    source = raw / "train.bson"
    ids, categories = array("q"), array("q")
    for document in products(source):
        ids.append(document["_id"])
        categories.append(document["category_id"])
    table = pd.DataFrame({"_id": np.asarray(ids), "category_id": np.asarray(categories)})
    train, test = split_positions(len(table), test_size=0.1)
    if not table["_id"].is_unique:
        ensure_disjoint(table["_id"].iloc[train], table["_id"].iloc[test], "products of train.bson")

    answers = table.iloc[test].sort_values("_id")
    write_csv(answers, private / "answers.csv")
    write_csv(answers.assign(category_id=1000010653), public / "sample_submission.csv")
    link_file(raw / "category_names.csv", public / "category_names.csv")

    in_test = np.zeros(len(table), dtype=bool)
    in_test[test] = True
    write_parts(source, in_test, public)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return accuracy(truth["category_id"], predictions["category_id"])
