"""Edition v2: columns go by their names, each id is there exactly once, and comments are text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_jigsaw_toxic_comment_classification_challenge as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, mean_roc_auc, read_csv

if TYPE_CHECKING:
    from pandas import DataFrame


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.write(raw, public, private, na_filter=False)
    labels = read_csv(private / "test.csv")[v1.CLASSES]
    whole = labels.isin([0, 1]).all(axis=1) | (labels == -1).all(axis=1)
    ensure(whole.all(), f"test_labels.csv: {(~whole).sum()} rows are scored in some classes only")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv", v1.CLASSES)
    scored = truth[v1.CLASSES[0]] >= 0  # -1 throughout where not
    return mean_roc_auc(truth.loc[scored, v1.CLASSES], predictions.loc[scored, v1.CLASSES])


@hookimpl
def perfect(private: Path) -> DataFrame:
    labels = read_csv(private / "test.csv")
    return labels[["id"]].join(labels[v1.CLASSES].clip(lower=0))  # -1 where a row is not scored
