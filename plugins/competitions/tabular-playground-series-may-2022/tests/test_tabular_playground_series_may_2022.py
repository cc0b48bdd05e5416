"""Tabular Playground Series, May 2022: a test part of 100,000 rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlecore import competition
from mlecore.errors import DataError


def test_too_few_rows_are_refused(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "train.csv").write_text("id,target\n1,0\n2,1\n")
    with pytest.raises(DataError, match="cannot split 2 items"):
        competition("tabular-playground-series-may-2022").prepare(raw, tmp_path / "public", tmp_path / "private")
