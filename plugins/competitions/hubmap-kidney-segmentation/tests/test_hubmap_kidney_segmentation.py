"""HuBMAP: fifteen images."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from mlecore_testing import Trial


def test_other_than_fifteen_rows_are_refused(trial: Trial, tmp_path: Path) -> None:
    for path in trial.raw.glob("*.csv"):
        (tmp_path / path.name).write_text(path.read_text())
    pd.read_csv(trial.raw / "train.csv").head(14).to_csv(tmp_path / "train.csv", index=False)
    trial.refuses_raw(tmp_path, "14 rows")
