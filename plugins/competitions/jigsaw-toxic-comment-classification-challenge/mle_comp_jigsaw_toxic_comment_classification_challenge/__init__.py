"""Toxic Comment Classification Challenge: how likely is each of six kinds of toxicity in a comment?"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore.metrics import mean_roc_auc
from mlecore.prepare import ZipWriter, ensure, ensure_disjoint, hex_ids, read_csv, write_csv
from mlecore.submissions import columns_of, generic_check, known_ids, numbers, read_answers, same_count
from mlecore.submissions.format import Format
from mlecore.submissions.messages import ID
from mlecore.submissions.table import Table

if TYPE_CHECKING:
    from numpy.random import RandomState
    from pandas import DataFrame

CLASSES = ["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    # no split: Kaggle's own test set was labelled later
    train, test, labels, sample = (
        read_csv(raw / f"{name}.csv.zip", member=f"{name}.csv")
        for name in ("train", "test", "test_labels", "sample_submission")
    )
    write_csv(train, public / "train.csv")
    write_csv(test, public / "test.csv")
    write_csv(labels, private / "test.csv")
    write_csv(sample.assign(**dict.fromkeys(CLASSES, 0.5)), public / "sample_submission.csv")
    ensure(len(labels) == len(sample), "test_labels.csv and sample_submission.csv differ in length")
    for name, table in (("test.csv", test), ("sample_submission.csv", sample)):
        ensure(sorted(table["id"]) == sorted(labels["id"]), f"{name} and test_labels.csv differ in their ids")
    ensure_disjoint(train["id"], test["id"], "ids of train and test")


@hookimpl
def grade(submission: Table, private: Path) -> float:
    answers = read_answers(private / "test.csv", ["id", *CLASSES])
    frame = columns_of(submission, ["id", *CLASSES], only=True)
    same_count(frame, answers)
    known_ids(frame, answers, "id")
    truth = answers.set_index("id").sort_index()
    truth = truth[truth.sum(axis=1) >= 0]  # -1 throughout: not scored
    if not truth.isin([0, 1]).all(axis=None):
        raise InvalidSubmission("the answers hold a row that is scored in some classes only: every submission fails")
    guess = frame.set_index("id").sort_index()
    guess = guess[guess.index.isin(truth.index)]
    if len(guess) != len(truth):  # with repeated ids
        raise InvalidSubmission(f"ids are repeated: {len(guess):,} rows are scored, expected {len(truth):,}")
    scored = guess.reset_index()
    scored.attrs[ID] = "id"  # names the rows in messages
    # by place, not by name, as published
    return mean_roc_auc(truth, numbers(scored, list(guess.columns), from_text=True))


@hookimpl
def check(submission: Table, sample: Table) -> Sequence[str]:
    warnings = list(generic_check(Format.read(Path(__file__).parent), submission, sample))
    same_count(submission.frame(), sample.frame())
    found = [column for column in submission.frame().columns if column != "id"]
    if found != CLASSES:
        warnings.append(f"columns are scored by their place: {', '.join(found)} count as {', '.join(CLASSES)}")
    if submission.frame()["id"].duplicated().any():
        warnings.append("ids are repeated: rows may be compared with the wrong ones, or refused")
    return warnings


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    from numpy.random import RandomState

    rng = RandomState(seed)
    rows = max(300, round(1500 * size))
    table = _comments(2 * rows, rng, seed)
    train, test = table[:rows], table[rows:]
    labels = test[["id", *CLASSES]].copy()
    labels.loc[np.arange(rows) % 2 == 1, CLASSES] = -1  # half of them are not scored
    sample = test[["id"]].assign(**dict.fromkeys(CLASSES, 0.5))
    tables = {"train": train, "test": test[["id", "comment_text"]], "test_labels": labels, "sample_submission": sample}
    for name, content in tables.items():
        with ZipWriter(raw / f"{name}.csv.zip") as archive, archive.open(f"{name}.csv") as member:
            write_csv(content, member, quoting=csv.QUOTE_NONNUMERIC)


def _comments(count: int, rng: RandomState, seed: int) -> DataFrame:
    """Each class has a word that gives it away, most of the time."""
    import pandas as pd

    telling = ["stupid", "die", "filth", "kill", "idiot", "tribe"]
    plain = "the article section please revert talk page source edit thanks user history link café naïve".split()
    starts = ["", '"Quoted", he said: ', "  Indented. ", "Two\nlines. ", "Well, "]
    rows = []
    for number in range(count):
        words = [plain[i] for i in rng.randint(0, len(plain), rng.randint(4, 20))]
        classes = [int(rng.rand() < 0.15) for _ in CLASSES]
        words += [word for word, there in zip(telling, classes, strict=True) if there and rng.rand() < 0.9]
        text = "NA" if number % 100 == 50 else starts[rng.randint(len(starts))] + " ".join(words)
        rows.append((text, *classes))
    table = pd.DataFrame(rows, columns=["comment_text", *CLASSES])
    table.insert(0, "id", hex_ids(count, 16, seed=seed))
    return table
