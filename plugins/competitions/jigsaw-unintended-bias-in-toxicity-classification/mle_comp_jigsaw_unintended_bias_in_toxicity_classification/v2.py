"""Edition v2: AUCs of the predictions as they are; comments are text."""

from __future__ import annotations

from pathlib import Path

import mle_comp_jigsaw_unintended_bias_in_toxicity_classification as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, read_answers, read_csv, write_csv


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    (public / "test.csv").unlink()
    comments = read_csv(raw / "test_private_expanded.csv", usecols=["id", "comment_text"], na_filter=False)
    write_csv(comments[["id", "comment_text"]], public / "test.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    answers = read_answers(private / "test.csv", ["id", "toxicity", *v1.IDENTITIES])
    truth, predictions = format.read(submission, answers)
    overall, biases = v1.aucs(truth, predictions["prediction"].to_numpy())
    return 0.25 * overall + 0.25 * sum(0.0 if 0 in values else v1.power_mean(values) for values in biases.values())
