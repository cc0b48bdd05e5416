"""Spooky Author Identification: who wrote a sentence, Poe, Lovecraft or Shelley?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore.metrics import log_loss
from mlecore.prepare import ZipWriter, one_hot, read_csv, split, write_csv
from mlecore.submissions import aligned, generic_check, numbers, read_answers, rows_sum_to_one
from mlecore.submissions.format import Format
from mlecore.submissions.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame

SHARES = {"EAP": 0.403493538995863, "HPL": 0.287808366106543, "MWS": 0.308698094897594}
AUTHORS = list(SHARES)


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split(read_csv(raw / "train.zip", member="train.csv"), test_size=0.1)
    write_csv(train, public / "train.csv")
    write_csv(test[["id", "text"]], public / "test.csv")
    write_csv(test[["id"]].join(one_hot(test["author"], AUTHORS)), private / "test.csv")
    write_csv(test[["id"]].assign(**SHARES), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path) -> float:
    answers = read_answers(private / "test.csv", ["id", *AUTHORS])
    truth, guess = aligned(submission, answers, on="id", columns=AUTHORS, only=True)
    _id_comes_first(submission)
    shares = rows_sum_to_one(guess, numbers(guess, AUTHORS, low=0, high=1))
    return log_loss(truth[AUTHORS], shares)


@hookimpl
def check(submission: Table, sample: Table) -> Sequence[str]:
    warnings = generic_check(Format.read(Path(__file__).parent), submission, sample)
    _id_comes_first(submission)
    return warnings


def _id_comes_first(submission: Table) -> None:
    """The published grader adds up all columns but the first."""
    if (first := submission.frame().columns[0]) != "id":
        raise InvalidSubmission(f"the first column must be id; found {first}")


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    table = _sentences(max(40, round(2000 * size)), seed)
    for name, rows in (("train", table), ("test", table.head(5).drop(columns="author"))):
        with ZipWriter(raw / f"{name}.zip") as archive, archive.open(f"{name}.csv") as member:
            write_csv(rows, member, quoting=1)  # every cell quoted, as on Kaggle
    with ZipWriter(raw / "sample_submission.zip") as archive, archive.open("sample_submission.csv") as member:
        write_csv(table[["id"]].head(5).assign(**SHARES), member)


def _sentences(count: int, seed: int) -> DataFrame:
    """Each author has words of his or her own, and shares others; some sentences have quotes, commas, accents."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    own = {
        "EAP": "raven bosom vault Dupin",
        "HPL": "cyclopean fhtagn gambrel eldritch",
        "MWS": "glacier Elizabeth misery feelings",
    }
    shared = ["night", "the", "of", "and", "fear", "door", "upon", "shadow", "silence", "I"]
    starts = ["", 'He said ""no"", and ', "Méséglise, it seemed, ", "At last; ", '"Stay!" '.replace('"', "'")]
    rows = []
    for number in rng.permutation(count):
        author = AUTHORS[rng.choice(3, p=[0.4, 0.29, 0.31])]
        words = [*rng.choice(shared, 6), *rng.choice(own[author].split(), 2)]
        text = (
            starts[rng.randint(len(starts))].replace('""', '"') + " ".join(words[i] for i in rng.permutation(8)) + "."
        )
        rows.append((f"id{number + 10000:05d}", text, author))
    return pd.DataFrame(rows, columns=["id", "text", "author"])
