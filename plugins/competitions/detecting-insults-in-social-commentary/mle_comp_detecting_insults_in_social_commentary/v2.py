"""Edition v2: an id is the key of a comment."""

from __future__ import annotations

from pathlib import Path

import mle_comp_detecting_insults_in_social_commentary as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import read_csv, write_csv


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    sample = public / "sample_submission_null.csv"
    for path in (private / "test.csv", private / "gold_submission.csv", public / "test.csv", sample):
        path.unlink()
    answers = read_csv(raw / "test_with_solutions.csv", na_filter=False)
    answers.insert(0, "id", range(len(answers)))
    write_csv(answers, private / "test.csv")
    write_csv(answers[["id", "Date", "Comment"]], public / "test.csv")
    write_csv(answers[["id"]].assign(Insult=0), sample)
