"""Edition v2: the average precision of PASCAL VOC 2010, and no unknown labels."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_siim_covid19_detection import LABELS
from mle_comp_siim_covid19_detection.matching import IOU, Boxes, labels_of
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, read_answers
from mlecore_toolkit.submissions.records import Records, refuse_records

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    answers = read_answers(private / "test.csv", ["id", "PredictionString"])
    truth, predictions = format.read(submission, answers)
    examine(predictions)
    asked = format.columns["PredictionString"].read(truth, "PredictionString", truth)
    return mean_average_precision(asked, predictions["PredictionString"])


def mean_average_precision(asked: Iterable[Records], given: Iterable[Records]) -> float:
    """The plain mean over the labels of the answers of VOC's average precision, boxes of all rows together.

    Both are records (label, confidence, corners), row by row. A box that is missed lowers the recall, and nothing else.
    """
    from mlecore_toolkit import average_precision, right_boxes

    labels = labels_of(asked)
    truths, boxes = Boxes(asked, labels), Boxes(given, labels)
    scores = []
    for label in range(len(labels)):
        truth_rows, _, truth_corners = truths.only(label)
        right = right_boxes(*boxes.only(label), truth_rows, truth_corners, iou=IOU)
        scores.append(average_precision(right, len(truth_rows)))
    return sum(scores) / len(scores)


@hookimpl
def examine(predictions: DataFrame) -> None:
    expected = f"labels must be {', '.join(LABELS)}, confidences and corners finite"
    refuse_records(predictions, "PredictionString", expected, _impossible)


def _impossible(cell: Records) -> NDArray[np.bool_]:
    import numpy as np

    labels, *numbers = cell.words
    return np.asarray(~(np.isin(labels, LABELS) & np.isfinite(numbers).all(axis=0)))
