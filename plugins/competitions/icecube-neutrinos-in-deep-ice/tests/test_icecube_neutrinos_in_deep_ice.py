"""IceCube: whole batches, stored types, row groups, and what counts as a number."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlecore import InvalidSubmission
from mlecore.errors import DataError
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.3)

META = "train_meta.parquet"


def raw_with(trial: Trial, folder: Path, meta: pd.DataFrame, **options: object) -> Path:
    shutil.copytree(trial.raw, folder)
    meta.to_parquet(folder / META, index=False, engine="fastparquet", **options)  # type: ignore[call-overload]
    return folder


def test_large_tables_are_written_as_fastparquet_does(
    trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meta = pd.read_parquet(trial.raw / META)
    raw = raw_with(trial, tmp_path / "raw", meta.astype({"azimuth": "float32"}), row_group_offsets=13)
    monkeypatch.setattr("mle_comp_icecube_neutrinos_in_deep_ice.meta.ROWS", 31)
    trial.competition.prepare(raw, tmp_path / "public", tmp_path / "private")
    written = pd.read_parquet(tmp_path / "public" / META)
    assert written["azimuth"].dtype == np.float32
    written.to_parquet(tmp_path / "whole.parquet", index=False, engine="fastparquet", row_group_offsets=31)
    assert (tmp_path / "public" / META).read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    cells = pd.read_csv(tmp_path / "private" / "test.csv", dtype=str)["azimuth"]
    assert max(map(len, cells)) < 12  # shortest form of float32


def test_odd_raw_data_are_refused(trial: Trial, tmp_path: Path) -> None:
    meta = pd.read_parquet(trial.raw / META)
    one = raw_with(trial, tmp_path / "one", meta.assign(event_id=meta["event_id"] % 50))
    with pytest.raises(DataError, match="an event is in a batch of train and in one of test"):
        trial.competition.prepare(one, tmp_path / "public1", tmp_path / "private1")
    two = raw_with(trial, tmp_path / "two", meta)
    (two / "train" / "batch_7.parquet").rename(two / "train" / "batch_70.parquet")  # of no batch
    with pytest.raises(DataError, match="batches and"):
        trial.competition.prepare(two, tmp_path / "public2", tmp_path / "private2")


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) < 1e-7
    turned = answers.assign(azimuth=answers["azimuth"] + 6 * math.pi)
    assert trial.grade(turned.astype({"event_id": float})) < 1e-6
    opposite = answers.assign(azimuth=answers["azimuth"] + math.pi, zenith=math.pi - answers["zenith"])
    assert trial.grade(opposite) == pytest.approx(math.pi, abs=1e-6)
    assert trial.grade(answers.assign(zenith=answers["zenith"] + 0.1)) == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize("value", ["True", "1_0", "1e400", "inf", "", "x", "18446744073709551616"])
def test_what_is_no_number(trial: Trial, answers: pd.DataFrame, value: str) -> None:
    with pytest.raises(InvalidSubmission, match="zenith"):
        trial.grade(answers.assign(zenith=value))
    with pytest.raises(InvalidSubmission, match="more"):
        trial.grade(answers.assign(more=1))
