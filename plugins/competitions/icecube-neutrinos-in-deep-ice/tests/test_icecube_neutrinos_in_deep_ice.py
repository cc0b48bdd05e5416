"""IceCube: whole batches, stored types and row groups."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.3)

META = "train_meta.parquet"


def raw_with(trial: Trial, meta: pd.DataFrame, **options: object) -> Path:
    raw = trial.raw_copy()
    meta.to_parquet(raw / META, index=False, engine="fastparquet", **options)  # type: ignore[call-overload]
    return raw


def test_large_tables_are_written_as_fastparquet_does(
    trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meta = pd.read_parquet(trial.raw / META)
    raw = raw_with(trial, meta.astype({"azimuth": "float32"}), row_group_offsets=13)
    monkeypatch.setattr("mle_comp_icecube_neutrinos_in_deep_ice.meta.ROWS", 31)
    public, private = trial.prepare(raw)
    written = pd.read_parquet(public / META)
    assert written["azimuth"].dtype == np.float32
    written.to_parquet(tmp_path / "whole.parquet", index=False, engine="fastparquet", row_group_offsets=31)
    assert (public / META).read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    cells = pd.read_csv(private / "test.csv", dtype=str)["azimuth"]
    assert max(map(len, cells)) < 12  # shortest form of float32


def test_odd_raw_data_are_refused(trial: Trial) -> None:
    meta = pd.read_parquet(trial.raw / META)
    one = raw_with(trial, meta.assign(event_id=meta["event_id"] % 50))
    trial.refuses_raw(one, "an event is in a batch of train and in one of test")
    two = raw_with(trial, meta)
    (two / "train" / "batch_7.parquet").rename(two / "train" / "batch_70.parquet")  # of no batch
    trial.refuses_raw(two, "batches and")
