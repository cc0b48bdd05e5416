"""Tabular Playground Series, May 2022: a test part of 100,000 rows, and new numbers for both parts."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from mlecore_testing import Trial

from mlecore import competition
from mlecore.errors import DataError


@pytest.mark.slow
def test_both_parts_are_numbered_through(trial: Trial, answers: pd.DataFrame) -> None:
    train, test = pd.read_csv(trial.public / "train.csv"), pd.read_csv(trial.public / "test.csv")
    assert train["id"].tolist() == list(range(len(train)))
    assert test["id"].tolist() == answers["id"].tolist() == list(range(len(train), len(train) + 100_000))
    gold = pd.read_csv(trial.private / "gold_submission.csv")
    assert gold.equals(answers[["id", "target"]])


def test_too_few_rows_are_refused(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "train.csv").write_text("id,target\n1,0\n2,1\n")
    with pytest.raises(DataError, match="cannot split 2 items"):
        competition("tabular-playground-series-may-2022").prepare(raw, tmp_path / "public", tmp_path / "private")
