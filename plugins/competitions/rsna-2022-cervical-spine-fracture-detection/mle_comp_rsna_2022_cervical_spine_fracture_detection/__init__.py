"""RSNA 2022 Cervical Spine: which vertebrae of the neck are fractured in a CT scan?"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure_columns,
    ensure_unique,
    link_files,
    link_tree,
    read_answers,
    read_csv,
    write_csv,
)

if TYPE_CHECKING:
    from pandas import DataFrame

STUDY = "StudyInstanceUID"
VERTEBRAE = [f"C{number}" for number in range(1, 8)]
BOX = ["x", "y", "width", "height", "slice_number"]
SHARE = 0.1  # of studies that stay in the train part, also of those with boxes, with a segmentation, and with both
WEIGHT = {"patient_overall": 7} | dict.fromkeys(VERTEBRAE, 1)  # doubled where there is a fracture


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table, boxes = read_csv(raw / "train.csv"), read_csv(raw / "train_bounding_boxes.csv")
    ensure_columns(table, [STUDY, "patient_overall", *VERTEBRAE], "train.csv")
    ensure_columns(boxes, [STUDY, *BOX], "train_bounding_boxes.csv")
    ensure_unique(table[STUDY], "studies of train.csv")
    segmented = sorted(path.name.removesuffix(".nii") for path in (raw / "segmentations").glob("*.nii"))
    train, with_boxes, with_segmentation = _draw(list(table[STUDY]), sorted(boxes[STUDY].unique()), segmented)
    in_train = table[STUDY].isin(train)
    write_csv(table[in_train], public / "train.csv")
    write_csv(boxes[boxes[STUDY].isin(with_boxes)], public / "train_bounding_boxes.csv")
    answers = table[~in_train].melt(id_vars=STUDY, var_name="prediction_type", value_name="fractured")
    answers["row_id"] = answers[STUDY] + "_" + answers["prediction_type"]
    write_csv(answers, private / "answers.csv")
    write_csv(answers[["row_id"]].assign(fractured=0.5), public / "sample_submission.csv")
    write_csv(answers.drop(columns="fractured"), public / "test.csv")
    names = [f"{study}.nii" for study in with_segmentation]
    link_files(raw / "segmentations", public / "segmentations", names)
    for part, folder in ((table[in_train], "train_images"), (table[~in_train], "test_images")):
        for study in part[STUDY]:
            link_tree(raw / "train_images" / study, public / folder / study)


def _draw(studies: Sequence[str], boxed: Sequence[str], segmented: Sequence[str]) -> tuple[list[str], ...]:
    """Studies for training, and of these those that keep their boxes and those that keep their segmentation.

    What the last draw adds has neither, annotated or not.
    """
    rng = random.Random(0)
    both = [study for study in boxed if study in set(segmented)]
    n_boxed, n_segmented, n_both = (round(SHARE * len(group)) for group in (boxed, segmented, both))
    drawn = rng.sample(both, n_both)
    only_segmented = rng.sample([study for study in segmented if study not in set(both)], n_segmented - n_both)
    only_boxed = rng.sample([study for study in boxed if study not in set(both)], n_boxed - n_both)
    train = [*drawn, *only_segmented, *only_boxed]
    others = [study for study in studies if study not in set(train)]
    train += rng.sample(others, round(SHARE * len(studies)) - len(train))
    return train, [*drawn, *only_boxed], [*drawn, *only_segmented]


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, read_answers(private / "answers.csv", ["row_id", "fractured"]))
    return weighted_loss(truth, predictions)


def weighted_loss(truth: DataFrame, predictions: DataFrame) -> float:
    """The mean over studies of the weighted mean log loss of a study's rows; ``row_id`` is ``<study>_<type>``."""
    import numpy as np

    names = truth["row_id"].str.split("_", n=1, expand=True)
    fractured = truth["fractured"].to_numpy()
    weight = names[1].map(WEIGHT).to_numpy() * (1 + fractured)
    p = predictions["fractured"].clip(1e-15, 1 - 1e-15).to_numpy()
    loss = -(fractured * np.log(p) + (1 - fractured) * np.log(1 - p))
    study = names[0].factorize()[0]
    return float((np.bincount(study, weight * loss) / np.bincount(study, weight)).mean())
