"""The backend goes through the kit that every backend does."""

from __future__ import annotations

from pathlib import Path

import pytest
from mlecore_testing.backends import check_backend


@pytest.mark.slow
@pytest.mark.sandbox
def test_in_a_sandbox(state: Path) -> None:
    assert check_backend("vm") == []


@pytest.mark.slow
def test_without_one(state: Path) -> None:
    skipped = check_backend("vm", {"isolation": "none"})
    assert {skip.rule for skip in skipped} == {
        *("init-kept", "apart", "read-only", "network", "uncounted", "relay", "gateway")
    }
