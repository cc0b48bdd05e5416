"""Right Whale Redux: days that make the parts."""

from __future__ import annotations

from pathlib import Path

from mlecore_testing import Trial
from mlecore_toolkit import ZipWriter


def test_there_are_four_dates(trial: Trial, tmp_path: Path) -> None:
    with ZipWriter(tmp_path / "train2.zip") as archive:
        archive.add("train2/20090328_0_1s_TRAIN0_0.aif", b"")
    trial.refuses_raw(tmp_path, "four dates, found 1")
