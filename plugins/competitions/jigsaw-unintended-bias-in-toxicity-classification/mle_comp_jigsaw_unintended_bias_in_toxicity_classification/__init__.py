"""Jigsaw Unintended Bias in Toxicity Classification: toxic comments, fairly told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Table,
    columns_of,
    ensure,
    link_file,
    numbers,
    read_answers,
    read_csv,
    require_same_count,
    roc_auc,
    sorted_alike,
    write_csv,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

IDENTITIES = [
    "male",
    "female",
    "homosexual_gay_or_lesbian",
    "christian",
    "jewish",
    "muslim",
    "black",
    "white",
    "psychiatric_or_mental_illness",
]
POWER = -5
COLUMNS = 45


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    # no split: Kaggle's own test set was labelled later
    test = read_csv(raw / "test_private_expanded.csv")
    ensure(test.shape[1] == COLUMNS, f"test_private_expanded.csv has {test.shape[1]} columns, expected {COLUMNS}")
    link_file(raw / "train.csv", public / "train.csv")
    link_file(raw / "test_private_expanded.csv", private / "test.csv")
    write_csv(test[["id", "comment_text"]], public / "test.csv")
    write_csv(test[["id"]].assign(prediction=0.0), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path) -> float:
    answers = read_answers(private / "test.csv", ["id", "toxicity", *IDENTITIES])
    truth, scores = _paired(submission, answers)
    overall, biases = aucs(truth, scores >= 0.5)  # cut before any AUC is taken, as published; False if missing
    return 0.25 * overall + 0.25 * sum(_power_mean(kind, values) for kind, values in biases.items())


def aucs(truth: DataFrame, predictions: NDArray[Any]) -> tuple[float, dict[str, list[float]]]:
    """The AUC over all rows, and those of each kind of bias, one for each identity."""
    toxic = (truth["toxicity"] >= 0.5).to_numpy()

    def auc(rows: NDArray[np.bool_], what: str) -> float:
        if not rows.any():
            raise InvalidSubmission(f"the answers have no rows for the {what}: every submission fails")
        return roc_auc(toxic[rows], predictions[rows])

    subgroup, positive, negative = [], [], []
    for name in IDENTITIES:
        about = (truth[name] >= 0.5).to_numpy()
        subgroup.append(auc(about, f"subgroup AUC of {name}"))
        positive.append(auc(toxic != about, f"BPSN AUC of {name}"))
        negative.append(auc(toxic == about, f"BNSP AUC of {name}"))
    return roc_auc(toxic, predictions), {"subgroup": subgroup, "BPSN": positive, "BNSP": negative}


def _power_mean(kind: str, aucs: Sequence[float]) -> float:
    if 0 in aucs:
        name = IDENTITIES[aucs.index(0)]
        raise InvalidSubmission(f"the {kind} AUC of {name} is 0, of which there is not a power {POWER}")
    return power_mean(aucs)


def power_mean(aucs: Sequence[float]) -> float:
    return float((sum(auc**POWER for auc in aucs) / len(aucs)) ** (1 / POWER))


@hookimpl
def examine(submission: Table, asked: DataFrame) -> Sequence[str]:
    _, scores = _paired(submission, asked)
    gaps = int((scores != scores).sum())
    return [f"missing predictions count as 0; there are {gaps:,}"] if gaps else []


@hookimpl
def perfect(private: Path) -> DataFrame:
    return read_answers(private / "test.csv", ["id", "toxicity"]).rename(columns={"toxicity": "prediction"})


def _paired(submission: Table, answers: DataFrame) -> tuple[DataFrame, NDArray[np.float64]]:
    """The answers, and what was predicted for each row."""
    frame = columns_of(submission, ["id"])
    named = [name for name in ("prediction", "toxicity") if name in frame.columns]
    if len(named) != 1:
        found = "both" if named else "neither"
        raise InvalidSubmission(f"the submission needs a column prediction, or one called toxicity; it has {found}")
    require_same_count(frame, answers)
    truth, predictions = sorted_alike(frame, answers, "id")
    return truth, numbers(predictions, named[0], missing=True, infinite=True)
