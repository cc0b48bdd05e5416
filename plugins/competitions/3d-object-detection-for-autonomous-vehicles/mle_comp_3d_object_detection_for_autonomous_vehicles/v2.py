"""Edition v2: every predicted box counts, as on Kaggle's page, and is a possible one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_3d_object_detection_for_autonomous_vehicles as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, read_answers, read_json, write_json
from mlecore_toolkit.submissions.records import Records, refuse_records

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

    from mle_comp_3d_object_detection_for_autonomous_vehicles.boxes import Boxes

CLASSES = (
    "animal",
    "bicycle",
    "bus",
    "car",
    "emergency_vehicle",
    "motorcycle",
    "other_vehicle",
    "pedestrian",
    "truck",
)


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    for part in v1.PARTS:
        folder = public / f"{part}_data"
        (record,) = read_json(folder / "map.json")
        (folder / "map.json").unlink()
        logs = [log["token"] for log in read_json(folder / "log.json")]
        write_json([record | {"log_tokens": logs}], folder / "map.json")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """The mean over samples and thresholds of TP / (TP + FP + FN).

    Kaggle's page does not mention classes: here a box is right only for a truth of its own class.
    """
    from mle_comp_3d_object_detection_for_autonomous_vehicles.boxes import Boxes, mean_precision

    truth, predictions = format.read(submission, read_answers(private / "test.csv", ["Id", "PredictionString"]))
    given = _possible(predictions)
    truths = Boxes(format.columns["PredictionString"].read(truth, "PredictionString", truth))
    return mean_precision(truths, given, len(truth))


@hookimpl
def examine(predictions: DataFrame) -> None:
    _possible(predictions)


def _possible(predictions: DataFrame) -> Boxes:
    """All boxes of a submission. Raises InvalidSubmission for an unknown class, and a box that cannot be built."""
    import numpy as np

    from mle_comp_3d_object_detection_for_autonomous_vehicles.boxes import Boxes, refuse_impossible

    expected = f"numbers must be finite, classes {', '.join(CLASSES)}"
    refuse_records(predictions, "PredictionString", expected, _impossible)
    given = Boxes(predictions["PredictionString"])
    refuse_impossible(given, np.arange(len(given.rows)), predictions)
    return given


def _impossible(cell: Records) -> NDArray[np.bool_]:
    import numpy as np

    *numbers, classes = cell.words
    return np.asarray(~(np.isin(classes, CLASSES) & np.isfinite(numbers).all(axis=0)))
