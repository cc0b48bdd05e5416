"""Plant Pathology 2020: odd tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlecore_testing import Trial


@pytest.mark.parametrize(
    ("header_and_first", "reason"),
    [
        ("image_id,healthy,multiple_diseases,scab,rust\nTrain_0,1,0,0,0", "has the columns"),
        ("image_id,healthy,multiple_diseases,rust,scab\nX0,1,0,0,0", "start with Train_"),
    ],
)
def test_odd_tables_are_refused(trial: Trial, tmp_path: Path, header_and_first: str, reason: str) -> None:
    rows = "".join(f"\nTrain_{i},0,0,1,0" for i in range(1, 12))
    (tmp_path / "train.csv").write_text(f"{header_and_first}{rows}\n")
    trial.refuses_raw(tmp_path, reason)
