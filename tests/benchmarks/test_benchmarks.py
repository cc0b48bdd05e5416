"""Each benchmark runs at its smallest size, and prints its figures."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
SMALLEST = {
    "archives.py": ["--mb", "2", "--rounds", "1"],
    "audit.py": ["--rows", "600", "--images", "100"],
    "audit_flaws.py": ["seti-breakthrough-listen", "--checks", "twins"],
    "competitions.py": ["spaceship-titanic", "--mb", "0.1", "--rounds", "1"],
    "faults.py": ["operations", "--rounds", "2", "--runs", "6"],
    "gateway.py": ["--calls", "5", "--streams", "4", "--seconds", "1"],
    "grading.py": ["spaceship-titanic", "--rows", "1000", "--rounds", "1"],
    "hostile_submissions.py": ["--mb", "1", "spaceship-titanic"],
    "leaderboard.py": ["--entries", "3", "--split", "high"],
    "listing.py": ["--rounds", "1"],
    "many_runs.py": ["--runs", "4", "--planned", "10"],
    "obfuscation.py": ["optical-digits", "leaf-classification"],
    "prepare.py": ["spaceship-titanic", "--size", "0.1", "--rounds", "1"],
    "probes.py": ["--backend", "vm", "--only", "processes"],
    "slurm_array.py": ["--jobs", "3", "-B", "poll=1"],
    "slurm_faults.py": ["--only", "killed-after-sbatch", "--runs", "2", "--seconds", "2"],
    "small_files.py": ["--mb", "2", "--rounds", "1"],
    "startup.py": ["--rounds", "1", "--runs", "20"],
    "view.py": ["--runs", "20", "--groups", "2"],
}


def test_all_are_tried() -> None:
    assert set(SMALLEST) == {path.name for path in FOLDER.glob("[!_]*.py")}


@pytest.mark.slow
@pytest.mark.in_turn
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slurm, pytest.mark.xdist_group("slurm")] if "slurm" in name else [])
        for name in SMALLEST
    ],
)
def test_it_runs(name: str, tmp_path: Path) -> None:
    if "slurm" in name and shutil.which("sbatch") is None:
        pytest.skip("no Slurm cluster here")
    command = [sys.executable, str(FOLDER / name), *SMALLEST[name]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert any(character.isdigit() for character in done.stdout)
