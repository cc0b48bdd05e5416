"""Edition v2: split by patient; rows have their own key and say where their windows lie; every vote is clipped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_hms_harmful_brain_activity_classification as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure_unique, read_answers, read_csv, split_whole_groups, write_csv

if TYPE_CHECKING:
    from pandas import DataFrame

ID = "label_id"
KNOWN = [
    ID,
    "eeg_id",
    "eeg_sub_id",
    "eeg_label_offset_seconds",
    "spectrogram_id",
    "spectrogram_sub_id",
    "spectrogram_label_offset_seconds",
    "patient_id",
]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = v1.read_rows(raw)
    ensure_unique(table[ID], f"{ID} of train.csv")
    train, test = (table.iloc[part] for part in split_whole_groups(table["patient_id"].tolist(), test_size=0.1))
    v1.write_parts(raw, public, private, train, test)
    write_csv(test[KNOWN], public / "test.csv")
    write_csv(test[[ID]].assign(**dict.fromkeys(v1.VOTES, 1 / len(v1.VOTES))), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """The mean over rows of Kullback and Leibler's divergence of the predicted from the true shares of votes."""
    import numpy as np

    truth, predictions = format.read(submission, read_answers(private / "test.csv", [ID, *v1.VOTES]))
    asked = _shares(truth).to_numpy()
    given = predictions[v1.VOTES].to_numpy(dtype=float).clip(v1.LEAST, 1 - v1.LEAST)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(asked == 0, 0, asked * np.log(asked / given))
    return float(terms.sum(axis=1).mean())


@hookimpl
def perfect(private: Path) -> DataFrame:
    votes = read_csv(private / "test.csv")
    return votes[[ID]].join(_shares(votes))


def _shares(votes: DataFrame) -> DataFrame:
    return votes[v1.VOTES].div(votes[v1.VOTES].sum(axis=1), axis=0)
