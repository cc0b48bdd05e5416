"""What these tests share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mlecore.model.detectors import Detection, Finding

sys.path.insert(0, str(Path(__file__).parent))  # for scripted_judge and runs_to_judge

from scripted_judge import Court


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Answers of one test are no answers of another."""
    monkeypatch.setenv("MLECORE_RULES", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def court(tmp_path: Path) -> Court:
    return Court(tmp_path)


@pytest.fixture
def by_rule() -> Callable[[Detection], dict[str, Finding]]:
    return lambda detection: {finding.rule: finding for finding in detection.findings}
