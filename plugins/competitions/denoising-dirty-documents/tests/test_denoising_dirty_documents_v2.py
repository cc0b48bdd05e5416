"""Denoising Dirty Documents, edition v2: a clean page is on one side of the split."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mlecore_testing import Trial
from mlecore_toolkit import ZipWriter, encode

pytestmark = pytest.mark.trial(edition="v2")
TEXTS, COPIES = 10, 4


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """Each clean page four times."""
    with ZipWriter(tmp_path / "train.zip") as noisy, ZipWriter(tmp_path / "train_cleaned.zip") as clean:
        for number in range(TEXTS * COPIES):
            noisy.add(f"train/{number}.png", encode(np.full((2, 3), number, dtype=np.uint8), "PNG"))
            page = np.full((2, 3), 10 * (number % TEXTS), dtype=np.uint8)
            clean.add(f"train_cleaned/{number}.png", encode(page, "PNG"))
    return tmp_path


def with_a_clean_copy(trial: Trial, raw: Path) -> int:
    """Test pages whose clean page is public under another number."""
    public, _ = trial.prepare(raw)
    known = {int(path.stem) % TEXTS for path in (public / "train_cleaned").iterdir()}
    return sum(int(path.stem) % TEXTS in known for path in (public / "test").iterdir())


def test_no_clean_test_page_is_public(trial: Trial, trial_v1: Trial, raw: Path) -> None:
    assert with_a_clean_copy(trial_v1, raw) > 0
    assert with_a_clean_copy(trial, raw) == 0
    public, _ = trial.prepare(raw)
    assert len(list((public / "test").iterdir())) == TEXTS * COPIES * 0.2
