"""Aerial Cactus Identification: which photograph goes into which archive."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pandas as pd
import pytest
from mlecore_testing import Trial

from mlecore.prepare import ZipWriter

pytestmark = pytest.mark.trial(size=0.2)


@pytest.mark.parametrize(("archive", "table"), [("train.zip", "public/train.csv"), ("test.zip", "private/test.csv")])
def test_each_archive_holds_the_photographs_of_its_part(trial: Trial, archive: str, table: str) -> None:
    with zipfile.ZipFile(trial.raw / "train.zip") as raw, zipfile.ZipFile(trial.public / archive) as part:
        assert sorted(part.namelist()) == sorted(pd.read_csv(trial.prepared / table)["id"])
        assert all(part.read(image) == raw.read(f"train/{image}") for image in part.namelist())


def test_a_missing_photograph_is_named(trial: Trial, tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("id,has_cactus\n" + "".join(f"{i}.jpg,{i % 2}\n" for i in range(10)))
    with ZipWriter(tmp_path / "train.zip") as images:
        for i in range(9):
            images.add(f"train/{i}.jpg", b"")
    trial.refuses_raw(tmp_path, r"train/9\.jpg")
