"""Does systemd end jobs when their controller's login ends? Its answers are those of a fake busctl."""

from __future__ import annotations

from pathlib import Path

import pytest
from mle_backend_ssh.remote.survey import ends_at_logout


@pytest.fixture
def busctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path / "busctl"


@pytest.mark.parametrize(
    ("kill", "excluded", "only", "ends"),
    [
        ("b true", 'as 1 "root"', "as 0", True),
        ("b false", 'as 1 "root"', "as 0", False),
        ("b true", 'as 2 "root" "ann"', "as 0", False),
        ("b true", "as 0", 'as 1 "ann"', True),
        ("b true", "as 0", 'as 1 "bob"', False),
    ],
)
def test_as_logind_says(busctl: Path, kill: str, excluded: str, only: str, ends: bool) -> None:
    answers = f"KillUserProcesses) echo '{kill}';; KillExcludeUsers) echo '{excluded}';; KillOnlyUsers) echo '{only}';;"
    busctl.write_text(f'#!/bin/sh\ncase "$5" in {answers} esac\n')
    busctl.chmod(0o755)
    assert ends_at_logout("ann") is ends
