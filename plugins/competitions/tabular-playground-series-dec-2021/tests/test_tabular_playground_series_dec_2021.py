"""Tabular Playground Series, December 2021: long decimals."""

from __future__ import annotations

from pathlib import Path

from mlecore_testing import Trial


def test_long_decimals_are_read_exactly(trial: Trial, tmp_path: Path) -> None:
    long = "0.1234567890123456789"
    (tmp_path / "train.csv").write_text("Id,x,Cover_Type\n" + "".join(f"{row},{long},1\n" for row in range(20)))
    public, _ = trial.prepare(tmp_path)
    assert f",{float(long)!r},1\n" in (public / "train.csv").read_text()
