"""SIIM-FISABIO-RSNA COVID-19 Detection: signs of COVID-19 in chest radiographs, by study and by box."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, link_tree, read_answers, read_csv, split, write_csv
from mlecore_toolkit.submissions.records import flatten

if TYPE_CHECKING:
    from pandas import DataFrame

STUDIES = {
    "Negative for Pneumonia": "negative",
    "Typical Appearance": "typical",
    "Indeterminate Appearance": "indeterminate",
    "Atypical Appearance": "atypical",
}
LABELS = (*STUDIES.values(), "none", "opacity")
FULL = "1 0 0 1 1"  # confidence, and a box of one pixel


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    studies, images = read_csv(raw / "train_study_level.csv"), read_csv(raw / "train_image_level.csv")
    parts = [part.sort_values("id") for part in split(studies, test_size=0.1)]
    home = images["StudyInstanceUID"] + "_study"
    lost = images[~home.isin(studies["id"])]
    ensure(lost.empty, f"train_image_level.csv: {len(lost)} images have no study in train_study_level.csv")
    train, test = (images[home.isin(part["id"])].sort_values("id") for part in parts)
    write_csv(parts[0], public / "train_study_level.csv")
    write_csv(train, public / "train_image_level.csv")
    words = pd.Series(list(STUDIES.values()))[parts[1][list(STUDIES)].to_numpy().argmax(axis=1)]
    write_csv(_rows(parts[1], test, [f"{word} {FULL}" for word in words], list(test["label"])), private / "test.csv")
    sample = _rows(parts[1], test, [f"negative {FULL}"] * len(parts[1]), [f"none {FULL}"] * len(test))
    write_csv(sample, public / "sample_submission.csv")
    for part, folder in zip(parts, ("train", "test"), strict=True):
        for study in part["id"].str.removesuffix("_study"):
            link_tree(raw / "train" / study, public / folder / study)


def _rows(studies: DataFrame, images: DataFrame, of_studies: Sequence[str], of_images: Sequence[str]) -> DataFrame:
    import pandas as pd

    ids = [*studies["id"], *images["id"]]
    return pd.DataFrame({"id": ids, "PredictionString": [*of_studies, *of_images]})


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    from mle_comp_siim_covid19_detection.matching import mean_average_precision

    answers = read_answers(private / "test.csv", ["id", "PredictionString"])
    truth, predictions = format.read(submission, answers)
    asked = format.columns["PredictionString"].read(truth, "PredictionString", truth)
    return mean_average_precision(asked, predictions)


@hookimpl
def examine(predictions: DataFrame) -> Sequence[str]:
    """Warns of labels that nothing can match, and of confidences that most labels may not have."""
    import numpy as np

    warnings = []
    labels, confidence, *_ = flatten(predictions["PredictionString"])[1].words
    if unknown := sorted(set(labels.tolist()) - set(LABELS)):
        warnings.append(f"labels that no answer has are ignored, such as {unknown[0]!r}; known are {', '.join(LABELS)}")
    if not np.isfinite(confidence).all():
        warnings.append("a confidence is nan or infinite, which is invalid with a label that occurs in the answers")
    return warnings
