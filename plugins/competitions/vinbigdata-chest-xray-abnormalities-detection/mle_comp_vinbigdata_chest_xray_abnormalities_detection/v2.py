"""Edition v2: average precision as VOC 2010 has it; every class, confidence and corner is a possible one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_vinbigdata_chest_xray_abnormalities_detection as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, read_answers
from mlecore_toolkit.submissions.records import Records, flatten, refuse_records

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

IOU = 0.4  # that an overlap must exceed


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    answers = read_answers(private / "answers.csv", ["image_id", "class_id", *v1.BOX])
    truth, predictions = format.read(submission, answers[["image_id"]].drop_duplicates())
    examine(predictions)
    return mean_average_precision(answers, truth["image_id"].tolist(), predictions["PredictionString"])


def mean_average_precision(answers: DataFrame, images: Sequence[str], cells: Iterable[Records]) -> float:
    """The mean over the classes of the answers of VOC 2010's average precision.

    ``cells`` are the records (class, confidence, corners) of each image.
    """
    import numpy as np

    from mlecore_toolkit import average_precision, right_boxes

    places = {image: place for place, image in enumerate(images)}
    rows, found = flatten(cells)
    kinds, confidence, *words = found.words
    corners = np.column_stack(words)
    scores = []
    for kind, truths in answers.groupby("class_id"):
        mine = np.flatnonzero(kinds == kind)
        truth_rows = truths["image_id"].map(places).to_numpy(dtype=np.intp)
        truth_corners = truths[v1.BOX].to_numpy(dtype=np.float64)
        right = right_boxes(rows[mine], confidence[mine], corners[mine], truth_rows, truth_corners, iou=IOU)
        scores.append(average_precision(right, len(truths)))
    return float(np.mean(scores))


@hookimpl
def perfect(private: Path) -> DataFrame:
    return read_answers(private / "gold_submission.csv")


@hookimpl
def examine(predictions: DataFrame) -> None:
    expected = f"classes must be whole numbers from 0 to {v1.NO_FINDING}, confidences and corners finite"
    refuse_records(predictions, "PredictionString", expected, _impossible)


def _impossible(cell: Records) -> NDArray[np.bool_]:
    import numpy as np

    kinds, *numbers = cell.words
    possible = (kinds >= 0) & (kinds <= v1.NO_FINDING) & (kinds == np.floor(kinds))
    return np.asarray(~(possible & np.isfinite(numbers).all(axis=0)))
