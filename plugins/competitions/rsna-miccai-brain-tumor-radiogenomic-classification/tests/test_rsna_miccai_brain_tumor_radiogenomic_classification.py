"""RSNA-MICCAI: leading zeros of ids."""

from __future__ import annotations

import pandas as pd

from mlecore_testing import Trial


def test_leading_zeros_stay_in_tables_and_do_not_count_in_submissions(trial: Trial, answers: pd.DataFrame) -> None:
    lines = (trial.private / "test.csv").read_text().splitlines()
    assert all(len(line) == 7 for line in lines[1:])
    assert trial.grade("\n".join(lines).encode()) == 1
    assert trial.grade(answers) == 1  # without them
    trial.refuses(answers.assign(BraTS21ID=[f"c{case}" for case in answers["BraTS21ID"]]), "unexpected")
