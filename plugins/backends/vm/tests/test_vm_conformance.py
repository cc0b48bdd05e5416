"""The backend goes through the kit that every backend does."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlecore_testing.backends import check_backend


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o755)  # the agents' users must get in
    monkeypatch.setenv("MLECORE_VM_STATE", str(tmp_path / "state"))


@pytest.mark.slow
@pytest.mark.sandbox
def test_in_a_sandbox() -> None:
    assert check_backend("vm") == []


@pytest.mark.slow
def test_without_one() -> None:
    skipped = check_backend("vm", {"isolation": "none"})
    assert {skip.rule for skip in skipped} == {
        *("init-kept", "apart", "read-only", "network", "uncounted", "relay", "gateway")
    }
