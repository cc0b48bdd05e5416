"""HMS, Harmful Brain Activity: how do experts vote on a window of an EEG?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure,
    ensure_disjoint,
    link_files,
    link_tree,
    numbers,
    read_answers,
    read_csv,
    refuse,
    split_groups,
    write_csv,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

ID = "eeg_id"
VOTES = ["seizure_vote", "lpd_vote", "gpd_vote", "lrda_vote", "grda_vote", "other_vote"]
COLUMNS = 15
LEAST = 1e-15  # predictions are clipped to it, and to one minus it


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_groups(read_rows(raw), "spectrogram_id", test_size=0.1)
    write_parts(raw, public, private, train, test)
    write_csv(test[["spectrogram_id", ID, "patient_id"]], public / "test.csv")
    shares = test[VOTES].div(test[VOTES].sum(axis=1), axis=0)
    write_csv(test[[ID]].join(shares), private / "gold_submission.csv")
    write_csv(test[[ID]].assign(**dict.fromkeys(VOTES, 1 / len(VOTES))), public / "sample_submission.csv")


def read_rows(raw: Path) -> DataFrame:
    table = read_csv(raw / "train.csv")
    ensure(table.shape[1] == COLUMNS, f"train.csv has {table.shape[1]} columns; expected {COLUMNS}")
    return table


def write_parts(raw: Path, public: Path, private: Path, train: DataFrame, test: DataFrame) -> None:
    """The table of training rows, the answers, and the recordings of both."""
    ensure_disjoint(train[ID].unique(), test[ID].unique(), "eeg_ids of train and test")
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    link_tree(raw / "example_figures", public / "example_figures")
    for part, rows in (("train", train), ("test", test)):
        for kind, key in (("eegs", ID), ("spectrograms", "spectrogram_id")):
            names = [f"{number}.parquet" for number in rows[key].unique()]
            link_files(raw / f"train_{kind}", public / f"{part}_{kind}", names)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """The mean over rows of Kullback and Leibler's divergence of the predicted from the true shares of votes.

    As published, a term without a prediction counts 0, and a column of whole numbers is not clipped, so that 0 votes
    predicted where there are some cost infinity.
    """
    import numpy as np

    truth, predictions = format.read(submission, read_answers(private / "test.csv", [ID, *VOTES]))
    examine(submission)
    votes, divergence = _row_sums(truth), np.zeros(len(truth))
    with np.errstate(divide="ignore", invalid="ignore"):
        for name in VOTES:
            asked, given = truth[name].to_numpy() / votes, predictions[name].to_numpy()
            if submission.frame()[name].dtype.kind == "f":
                given = given.clip(LEAST, 1 - LEAST)
            terms = np.where(asked == 0, 0, asked * np.log(asked / given))
            divergence += np.where(np.isnan(terms), 0, terms)
    return float(divergence.mean())


def _row_sums(frame: DataFrame) -> NDArray[Any]:
    """Each row's votes; missing ones count 0."""
    import numpy as np

    return np.asarray(sum(frame[name].fillna(0).to_numpy() for name in VOTES))


@hookimpl
def examine(submission: Table) -> None:
    """Every column but the id, further ones too, must hold shares of votes that add up to 1.

    True and False are no numbers here. Missing cells pass, and count 0 in a sum.
    """
    import numpy as np

    frame = submission.frame()
    names = [name for name in frame.columns if name != ID]
    for name in names:
        numbers(frame, name, low=0, high=1, missing=True)
        if frame[name].dtype.kind not in "iuf":
            raise InvalidSubmission(f"column {name!r} must hold numbers; it holds True and False")
    votes = _row_sums(frame)
    bad = ~(np.abs(votes - 1) < 4e-6)  # certainly 1 if rounded to five digits
    bad[bad] = [round(total, 5) != 1 for total in votes[bad].tolist()]
    _refuse_sums(frame, "the votes", votes, bad)
    every = votes if names == VOTES else frame[names].sum(axis=1).to_numpy()
    _refuse_sums(frame, f"all columns but {ID}", every, ~np.isclose(every, 1))


def _refuse_sums(frame: DataFrame, what: str, sums: NDArray[Any], bad: NDArray[np.bool_]) -> None:
    if bad.any():
        refuse(frame.assign(sum=sums), "sum", f"1 in every row, the sum of {what}", bad)
