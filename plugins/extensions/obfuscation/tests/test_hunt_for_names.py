"""Hunted from inside, an obfuscated run does not tell which competition it works on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mlecore import competition
from mlecore_testing.hunt import SCRIPT, complete, given_away

ID = "optical-digits"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "how"),
    [
        pytest.param("vm", "description", marks=pytest.mark.sandbox),
        pytest.param("vm", "full", marks=pytest.mark.sandbox),
        pytest.param("docker", "full", marks=[pytest.mark.docker, pytest.mark.xdist_group("docker")]),
    ],
)
def test_an_obfuscated_run_does_not_tell_its_competition(tmp_path: Path, backend: str, how: str) -> None:
    (tmp_path / "hunt.sh").write_text(SCRIPT)
    argv = [sys.executable, "-c", "from mlecore.cli import main; main()", "run", "--agent", "command"]
    argv += ["-A", "argv=sh hunt.sh", "--competition", ID, "--backend", backend, "--obfuscate", how, "--group", "g"]
    environment = {**os.environ, "MLECORE_DATA": str(tmp_path / "data")}
    done = subprocess.run([*argv, "--time-limit", "5m"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (hunted,) = tmp_path.glob("runs/g/*/logs/hunt.txt")
    text = hunted.read_text(errors="replace")
    public = tmp_path / "data" / ID / "prepared" / "public"
    assert complete(text) and "task-" in text
    assert list(given_away(text, competition(ID).facts, public)) == []
    assert list(given_away(text.replace("## host\n", f"## host\n{ID}\n"), competition(ID).facts, public))
