"""Invasive Species Monitoring, edition v2: new numbers of test photographs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from mlecore_testing import Trial
from mlecore_toolkit import extract, members, read_csv

pytestmark = pytest.mark.trial(edition="v2")


def test_numbers_do_not_lead_to_published_labels(
    trial: Trial, trial_v1: Trial, answers: pd.DataFrame, tmp_path: Path
) -> None:
    published = read_csv(trial.raw / "train_labels.csv.zip", member="train_labels.csv").set_index("name")["invasive"]
    now, before = answers.set_index("name")["invasive"], pd.read_csv(trial_v1.private / "answers.csv", index_col="name")
    assert (before["invasive"] == published[before.index]).all()
    assert set(now.index) == set(before.index)
    assert (now != published[now.index]).any()
    names = dict(pd.read_csv(trial.private / "names.csv").to_numpy().tolist())
    assert members(trial.public / "test.7z") == [f"test/{new}.jpg" for new in now.index]
    extract(trial.raw / "train.7z", tmp_path / "raw")
    extract(trial.public / "test.7z", tmp_path)
    for old, new in names.items():
        assert (tmp_path / "raw/train" / f"{old}.jpg").read_bytes() == (tmp_path / "test" / f"{new}.jpg").read_bytes()
        assert now[new] == published[old]
