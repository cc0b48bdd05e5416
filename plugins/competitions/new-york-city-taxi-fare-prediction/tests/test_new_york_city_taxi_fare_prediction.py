"""New York taxi: odd tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from mlecore_testing import Trial


@pytest.mark.parametrize(("columns", "words"), [(8, "cannot split"), (7, "expected 8")])
def test_odd_tables_are_refused(trial: Trial, tmp_path: Path, columns: int, words: str) -> None:
    lines = [["key", "fare_amount", *"abcdef"][:columns], *([f"k{i}", *"1" * (columns - 1)] for i in range(100))]
    (tmp_path / "train.csv").write_text("\n".join(map(",".join, lines)) + "\n")
    trial.refuses_raw(tmp_path, words)
