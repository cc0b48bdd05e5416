"""RSNA-MICCAI: whole folders follow their case, and leading zeros of ids."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from mlecore_testing import Trial


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_whole_folders_follow_their_case(trial: Trial) -> None:
    for folder, table in (("train", trial.public / "train_labels.csv"), ("test", trial.private / "test.csv")):
        cases = pd.read_csv(table, dtype=str)["BraTS21ID"]
        assert {path.name for path in (trial.public / folder).iterdir()} == set(cases)
        for case in cases[:3]:
            found = files(trial.public / folder / case)
            assert found == files(trial.raw / "train" / case)
            assert {name.split("/")[0] for name in found} == {"FLAIR", "T1w", "T1wCE", "T2w"}


def test_leading_zeros_stay_in_tables_and_do_not_count_in_submissions(trial: Trial, answers: pd.DataFrame) -> None:
    lines = (trial.private / "test.csv").read_text().splitlines()
    assert all(len(line) == 7 for line in lines[1:])
    assert trial.grade("\n".join(lines).encode()) == 1
    assert trial.grade(answers) == 1  # without them
    trial.refuses(answers.assign(BraTS21ID=[f"c{case}" for case in answers["BraTS21ID"]]), "unexpected")
