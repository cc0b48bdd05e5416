"""Edition v2: masks are pairs of numbers within the image; nothing marked on both sides is a score of 1."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_google_research_identify_contrails_reduce_global_warming as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, areas, overlaps, read_answers, read_csv, write_csv

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = ["record_id", "encoded_pixels"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    sample = read_csv(public / "sample_submission.csv")
    (public / "sample_submission.csv").unlink()
    write_csv(sample[COLUMNS], public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """Dice over the pixels of all records together; 1 where neither side marks any, as they agree."""
    answers = read_answers(private / "answers.csv", [*COLUMNS, *v1.SIZE])
    truth, predictions = format.read(submission, answers)
    asked, given = v1.masks(truth, truth), v1.masks(predictions, truth, exact=True)
    both = int(areas(asked).sum() + areas(given).sum())
    return 2 * int(overlaps(asked, given).sum()) / both if both else 1.0


@hookimpl
def asked(sample: DataFrame, public: Path) -> DataFrame:
    """The bands have the size of the image."""
    shapes = [v1.array_of(public / "test" / str(id) / v1.BANDS[0]).shape for id in sample["record_id"]]
    return sample.assign(height=[shape[0] for shape in shapes], width=[shape[1] for shape in shapes])


@hookimpl
def examine(asked: DataFrame, predictions: DataFrame) -> None:
    v1.masks(predictions, asked, exact=True)
