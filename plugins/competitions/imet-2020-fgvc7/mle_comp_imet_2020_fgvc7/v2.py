"""Edition v2: all attributes of labels.csv count, and no others are valid."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_imet_2020_fgvc7 as v1
from mlecore.hookspecs import hookimpl
from mlecore.metrics import micro_f1
from mlecore.prepare import link_file
from mlecore.submissions import Format, Table, generic_check, label_sets, read_answers, words

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
    return micro_f1(map(words, truth["attribute_ids"]), *_read(predictions, private))


@hookimpl
def check(submission: Table, sample: Table, public: Path, format: Format) -> Sequence[str]:
    warnings = generic_check(format, submission, sample)
    _, predictions = format.read(submission, sample.frame())
    _read(predictions, public)
    return warnings


def _read(predictions: DataFrame, folder: Path) -> tuple[list[frozenset[str]], frozenset[str]]:
    """The attributes of each row, and all that there are."""
    known = frozenset(read_answers(folder / "labels.csv", verbatim=["attribute_id"])["attribute_id"])
    return label_sets(predictions, "attribute_ids", known, EXPECTED), known
