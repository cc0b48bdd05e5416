"""RSNA Screening Mammography: which breasts have cancer?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, ensure_columns, link_files, read_csv, split_groups, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

ASKED = ["site_id", "patient_id", "image_id", "laterality", "view", "age", "implant", "machine_id"]
COLUMNS = [*ASKED[:6], "cancer", "biopsy", "invasive", "BIRADS", "implant", "density"]
COLUMNS += ["machine_id", "difficult_negative_case"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.csv")
    ensure_columns(table, COLUMNS, "train.csv")
    train, test = split_groups(table, "patient_id", test_size=0.1, seed=42)
    test = test.assign(prediction_id=test["patient_id"].astype(str) + "_" + test["laterality"])
    answers = test.groupby("prediction_id")["cancer"].first().reset_index()
    ensure(len(answers) < len(test), "train.csv: no breast of the test part has a second image")
    write_csv(train, public / "train.csv")
    write_csv(test[[*ASKED, "prediction_id"]], public / "test.csv")
    write_csv(answers, private / "answers.csv")
    write_csv(answers.assign(cancer=train["cancer"].mean()), public / "sample_submission.csv")
    for part, folder in ((train, "train_images"), (test, "test_images")):
        names = [f"{patient}/{image}.dcm" for patient, image in zip(part["patient_id"], part["image_id"], strict=True)]
        count = link_files(raw / "train_images", public / folder, names)
        ensure(count == len(part), f"train.csv: an image has two rows ({len(part)} rows, {count} images)")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    examine(predictions)
    return probabilistic_f1(truth["cancer"].to_numpy(), predictions["cancer"].to_numpy())


def probabilistic_f1(truth: NDArray[np.int64], predictions: NDArray[np.float64]) -> float:
    """F1 with sums of predicted probabilities for counts; predictions are clipped to 0 and 1.

    0 where a prediction is missing. Raises InvalidSubmission where truth has no positive, so that no recall is defined.
    """
    if not (truth == 1).any():
        raise InvalidSubmission("no submission can be graded: the answers have no breast with cancer")
    p = predictions.clip(0, 1)
    hits, false = p[truth == 1].sum(), p[truth != 1].sum()
    if not hits > 0:
        return 0.0
    precision, recall = hits / (hits + false), hits / (truth == 1).sum()
    return float(2 * precision * recall / (precision + recall)) if precision > 0 and recall > 0 else 0.0


@hookimpl
def examine(predictions: DataFrame) -> Sequence[str]:
    chances = predictions["cancer"]
    if len(chances) and (chances < 0).all():
        raise InvalidSubmission("column 'cancer' has only values below 0; expected probabilities from 0 to 1")
    cut = ((chances < 0) | (chances > 1)).any()
    return ["column 'cancer' has values outside of 0 to 1: they are cut off"] if cut else []
