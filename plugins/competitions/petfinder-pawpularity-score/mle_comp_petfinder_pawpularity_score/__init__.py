"""PetFinder.my - Pawpularity Contest: how popular will a pet's profile photograph be?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, ensure_disjoint, link_files, read_csv, rmse, split, write_csv

TARGET = "Pawpularity"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import numpy as np

    table = read_csv(raw / "train.csv")
    ensure(table.columns[-1] == TARGET, f"the last column of train.csv is {table.columns[-1]!r}, not {TARGET!r}")
    train, test = split(table, test_size=0.1)
    ensure_disjoint(train["Id"], test["Id"], "ids of train.csv")
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.drop(columns=TARGET), public / "test.csv")
    guesses = np.random.default_rng(0).uniform(1, 100, len(test)).round(2)
    write_csv(test[["Id"]].assign(**{TARGET: guesses}), public / "sample_submission.csv")
    for folder, part in (("train", train), ("test", test)):
        count = link_files(raw / "train", public / folder, (f"{id}.jpg" for id in part["Id"]))
        ensure(count == len(part), f"{len(part)} {folder} rows, but {count} photographs")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return rmse(truth[TARGET], predictions[TARGET])
