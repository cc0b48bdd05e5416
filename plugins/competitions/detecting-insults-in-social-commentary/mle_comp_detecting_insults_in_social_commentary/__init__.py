"""Detecting Insults in Social Commentary: does a comment insult somebody in the conversation?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore.metrics import roc_auc
from mlecore.prepare import ensure, ensure_columns, ensure_disjoint, link_file, read_csv, write_csv
from mlecore.submissions import aligned, numbers, read_answers
from mlecore.submissions.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = ["Insult", "Date", "Comment"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    # no split: Kaggle published the labels of its test set
    link_file(raw / "train.csv", public / "train.csv")
    link_file(raw / "test_with_solutions.csv", private / "test.csv")
    train, answers = read_csv(public / "train.csv"), read_csv(private / "test.csv")
    ensure_columns(train, COLUMNS, "train.csv")
    ensure_columns(answers, [*COLUMNS, "Usage"], "test_with_solutions.csv")
    ensure_disjoint(train["Comment"], answers["Comment"], "comments of train and test")
    write_csv(answers[COLUMNS], private / "gold_submission.csv")
    write_csv(answers[COLUMNS[1:]], public / "test.csv")
    write_csv(answers[COLUMNS].assign(Insult=0), public / "sample_submission_null.csv")
    same = read_csv(public / "test.csv").equals(answers[COLUMNS[1:]])
    ensure(same, "test.csv, written and read again, differs from the answers")


@hookimpl
def grade(submission: Table, private: Path) -> float:
    answers = read_answers(private / "test.csv", ["Comment", "Insult"])
    truth, guess = aligned(submission, answers, on="Comment", columns=["Insult"])
    return roc_auc(truth["Insult"], numbers(guess, "Insult", low=0, high=1))


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd

    table = _comments(max(80, round(2000 * size)), seed)
    cut = round(0.6 * len(table))
    train, test = table[:cut], table[cut:].assign(Usage="PublicTest")
    test.loc[test.index[len(test) // 2 :], "Usage"] = "PrivateTest"
    twice = test.tail(1)  # one comment occurs twice, with the other label
    test = pd.concat([test, twice.assign(Insult=1 - twice["Insult"], Usage="PublicTest")])
    write_csv(train, raw / "train.csv")
    write_csv(test, raw / "test_with_solutions.csv")


def _comments(count: int, seed: int) -> DataFrame:
    """Distinct comments, each in quotes of its own; what addresses the reader with a rude word is an insult."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    people, nouns = ["you", "you all", "the mayor", "my team"], ["fool", "clown", "genius", "legend"]
    tails = ["\\\\n\\\\nReally.", " they said ", ', said "Bob", and left', " caf\\\\xe9", "", "?!", " "]
    rows = []
    for number in range(count):
        person, noun = rng.randint(len(people)), rng.randint(len(nouns))
        insult = person < 2 and noun < 2
        comment = f"{people[person]}, what a {nouns[noun]} in thread {number}{tails[rng.randint(len(tails))]}"
        date = f"2012{rng.randint(1, 13):02d}{rng.randint(1, 29):02d}{rng.randint(24):02d}{rng.randint(60):02d}26Z"
        rows.append(
            (int(insult) if rng.rand() > 0.05 else rng.randint(2), date if rng.rand() > 0.2 else "", f'"{comment}"')
        )
    return pd.DataFrame(rows, columns=COLUMNS)
