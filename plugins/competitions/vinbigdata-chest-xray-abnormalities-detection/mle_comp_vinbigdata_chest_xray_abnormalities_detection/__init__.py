"""VinBigData Chest X-ray: which abnormalities does a radiograph show, and where?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure_columns, link_files, read_answers, read_csv, split, write_csv

if TYPE_CHECKING:
    from pandas import DataFrame

BOX = ["x_min", "y_min", "x_max", "y_max"]
NO_FINDING = 14


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    table = read_csv(raw / "train.csv")
    ensure_columns(table, ["image_id", "class_name", "class_id", "rad_id", *BOX], "train.csv")
    train, test = split(table["image_id"].unique(), test_size=0.1)
    write_csv(table[table["image_id"].isin(train)], public / "train.csv")
    sample = pd.DataFrame({"image_id": test, "PredictionString": f"{NO_FINDING} 1 0 0 1 1"})
    write_csv(sample, public / "sample_submission.csv")
    answers = _first_of_each(table[table["image_id"].isin(test)])
    write_csv(answers, private / "answers.csv")
    write_csv(_as_submission(answers), private / "gold_submission.csv")
    for images, folder in ((train, "train"), (test, "test")):
        link_files(raw / "train", public / folder, [f"{image}.dicom" for image in images])


def _first_of_each(rows: DataFrame) -> DataFrame:
    """One annotation an image and class: the first one."""
    answers = rows.groupby(["image_id", "class_id"]).first().reset_index().fillna(0)
    answers.loc[answers["class_id"] == NO_FINDING, ["x_max", "y_max"]] = 1.0
    return answers


def _as_submission(answers: DataFrame) -> DataFrame:
    boxes = zip(answers["class_id"].tolist(), *(answers[name].tolist() for name in BOX), strict=True)
    texts = [f"{kind} 1.0 {x_min} {y_min} {x_max} {y_max}" for kind, x_min, y_min, x_max, y_max in boxes]
    cells = answers.assign(PredictionString=texts).groupby("image_id")["PredictionString"].agg(" ".join)
    return cells.reset_index()


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    from mle_comp_vinbigdata_chest_xray_abnormalities_detection.coco import mean_average_precision

    answers = read_answers(private / "answers.csv", ["image_id", "class_id", *BOX])
    _, predictions = format.read(submission, answers[["image_id"]].drop_duplicates())
    return mean_average_precision(answers, predictions)
