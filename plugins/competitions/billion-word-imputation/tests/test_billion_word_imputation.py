"""Billion Word Imputation: odd lines."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.5)


def member(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == [path.name.removesuffix(".zip")]
        return archive.read(path.name.removesuffix(".zip")).decode()


def test_odd_lines(trial: Trial, tmp_path: Path) -> None:
    lines = ["x y z .\r\n"] * 400
    tested = np.flatnonzero(np.random.RandomState(0).uniform(size=400) <= 0.01)
    lines[tested[0]] = " one\u00a0word? \r"
    with zipfile.ZipFile(tmp_path / "train_v2.txt.zip", "w") as archive:
        archive.writestr("train_v2.txt", "".join(lines) + "end")
    public, _ = trial.prepare(tmp_path)
    train = member(public / "train_v2.txt.zip")
    assert train.endswith("x y z .\nend") and "\r" not in train
    assert " one\u00a0word? \n" in train  # two words: not for the test, and no second draw
