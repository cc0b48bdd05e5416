"""Edition v2: the table of the test sentences is a sample submission; sentences are text, with single blanks."""

from __future__ import annotations

from pathlib import Path

import mle_comp_billion_word_imputation as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, edit_distance


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    (public / "test_v2.txt.zip").unlink()
    (private / "sample_submission.csv").rename(public / "test.csv")
    spaced = (private / "test.csv").rename(private / "spaced.csv")
    with (
        spaced.open(encoding="utf-8", newline="\n") as lines,
        (private / "test.csv").open("x", encoding="utf-8", newline="") as answers,
    ):
        for line in lines:
            answers.write(" ".join(line.split()) + "\n")
    spaced.unlink()


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return sum(map(edit_distance, truth["sentence"], predictions["sentence"])) / len(truth)
