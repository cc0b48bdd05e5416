"""OSIC Pulmonary Fibrosis Progression: how will the lungs of a patient lose capacity?"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure,
    ensure_columns,
    link_tree,
    read_answers,
    read_csv,
    split_blocks,
    write_csv,
)

if TYPE_CHECKING:
    from pandas import DataFrame, Series

COLUMNS = ["Patient", "Weeks", "FVC", "Percent", "Age", "Sex", "SmokingStatus"]
LAST_VISITS = 3  # of each patient are graded
LEAST_SIGMA = 70  # ml
GREATEST_ERROR = 1000  # ml


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    table = read_csv(raw / "train.csv")
    ensure_columns(table, COLUMNS, "train.csv")
    train, test = split_blocks(table, "Patient", test_size=0.1)
    repeated = test.duplicated(["Patient", "Weeks"])
    ensure(not repeated.any(), f"train.csv: {int(repeated.sum())} visits in a week with another of the same patient")
    write_csv(train, public / "train.csv")
    first = test.sort_values("Weeks").groupby("Patient").first().reset_index()
    write_csv(first[COLUMNS], public / "test.csv")

    weeks = range(test["Weeks"].min(), test["Weeks"].max() + 1)
    pairs = pd.MultiIndex.from_product([test["Patient"].unique(), weeks], names=COLUMNS[:2]).to_frame(index=False)
    answers = pairs.merge(test, on=COLUMNS[:2], how="left")
    answers["Patient_Week"] = answers["Patient"] + "_" + answers["Weeks"].astype(str)
    answers["Confidence"] = 100
    write_csv(answers, private / "test.csv")
    write_csv(answers[["Patient_Week"]].assign(FVC=2000, Confidence=100), public / "sample_submission.csv")
    for part, folder in ((train, "train"), (test, "test")):
        for patient in sorted(part["Patient"].unique()):
            link_tree(raw / "train" / patient, public / folder / patient)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """The mean modified Laplace log likelihood of the graded visits that the submission has; NaN where it has none."""
    answers = read_answers(private / "test.csv", ["Patient", "Patient_Week", "FVC"])
    truth, predictions = format.read(submission, answers)
    examine(submission)
    graded = truth["Patient_Week"].isin(_graded(answers))
    truth, predictions = truth[graded], predictions[graded]
    repeated = truth["Patient_Week"].duplicated()
    if repeated.any() and truth["Patient_Week"].nunique() > 1:  # as published: one visit alone may be repeated
        raise InvalidSubmission(
            f"{int(repeated.sum())} of the graded rows repeat a Patient_Week, such as "
            f"{truth['Patient_Week'][repeated].iloc[0]}; each may be there once"
        )
    if not len(predictions):
        return math.nan
    return likelihood(truth["FVC"], predictions.fillna({"Confidence": 0}))


def likelihood(truth: Series, predictions: DataFrame) -> float:
    """The mean modified Laplace log likelihood of the true capacities (ml), row by row like ``predictions``."""
    import numpy as np

    sigma = math.sqrt(2) * np.maximum(predictions["Confidence"].to_numpy(), LEAST_SIGMA)
    error = np.minimum(np.abs(truth.to_numpy() - predictions["FVC"].to_numpy()), GREATEST_ERROR)
    return float(np.mean(-2 * error / sigma - np.log(sigma)))


def _graded(answers: DataFrame) -> set[str]:
    """The ``Patient_Week`` of the last three measured visits of each patient."""
    return set(visits(answers).groupby("Patient").tail(LAST_VISITS)["Patient_Week"])


def visits(answers: DataFrame) -> DataFrame:
    """The measured visits, by their week."""
    measured = answers.dropna(subset=["FVC"])
    week = [int(name.rpartition("_")[2]) for name in measured["Patient_Week"]]
    return measured.assign(week=week).sort_values("week")


@hookimpl
def examine(submission: Table) -> None:
    """Refuses what pandas does not type as numbers or booleans: also a header alone, and True beside empty cells."""
    frame = submission.frame()
    for name in ("FVC", "Confidence"):
        if frame[name].dtype == object:
            raise InvalidSubmission(f"column {name!r} must hold numbers in at least one row, and nothing but numbers")


@hookimpl
def perfect(private: Path) -> DataFrame:
    answers = read_answers(private / "test.csv", ["Patient_Week", "FVC"])
    return answers.assign(FVC=answers["FVC"].fillna(2000), Confidence=LEAST_SIGMA)
