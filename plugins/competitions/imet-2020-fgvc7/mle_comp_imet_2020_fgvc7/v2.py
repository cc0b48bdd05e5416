"""Edition v2: all attributes of labels.csv count, and no others are valid."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_imet_2020_fgvc7 as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, link_file, micro_f1, read_answers, refuse_other_labels

if TYPE_CHECKING:
    from pandas import DataFrame

EXPECTED = "attributes of labels.csv, separated by blanks"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    link_file(raw / "labels.csv", private / "labels.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    known = _known(predictions, private)
    return micro_f1(truth["attribute_ids"].tolist(), predictions["attribute_ids"].tolist(), known)


@hookimpl
def examine(predictions: DataFrame, folder: Path) -> None:
    _known(predictions, folder)


def _known(predictions: DataFrame, folder: Path) -> frozenset[str]:
    """All attributes that there are. Raises InvalidSubmission for others."""
    known = frozenset(read_answers(folder / "labels.csv", verbatim=["attribute_id"])["attribute_id"])
    refuse_other_labels(predictions, "attribute_ids", known, EXPECTED)
    return known
