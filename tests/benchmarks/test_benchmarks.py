"""Each benchmark runs at its smallest size, and prints its figures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
SMALLEST = {
    "archives.py": ["--mb", "2", "--rounds", "1"],
    "competitions.py": ["spaceship-titanic", "--mb", "0.1", "--rounds", "1"],
    "gateway.py": ["--calls", "5", "--streams", "4", "--seconds", "1"],
    "many_runs.py": ["--runs", "4", "--planned", "10"],
    "startup.py": ["--rounds", "1", "--runs", "20", "--plugins", "20"],
}

ELSEWHERE = {"rollouts.py"}  # by the tests of mle-ext-verifiers, in an environment with verifiers


def test_all_are_tried() -> None:
    assert set(SMALLEST) | ELSEWHERE == {path.name for path in FOLDER.glob("[!_]*.py")}


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALLEST)
def test_it_runs(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(FOLDER / name), *SMALLEST[name]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert any(character.isdigit() for character in done.stdout)
