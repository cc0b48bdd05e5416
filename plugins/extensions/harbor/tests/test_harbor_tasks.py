"""Task folders for Harbor, and their verifier."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mlecore
from mlecore.data.prepared import Prepared

ID = "spaceship-titanic"


def services(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "docker-compose.yaml").read_text())["services"]["main"]


def test_the_task_mounts_what_each_side_may_see(task: Path, prepared: Prepared) -> None:
    config = tomllib.loads((task / "task.toml").read_text())
    assert config["task"]["name"] == f"mlecore/{ID}"
    assert config["verifier"]["environment_mode"] == "separate"
    assert config["environment"] == {"network_mode": "public", "memory_mb": 2048}
    assert config["agent"]["timeout_sec"] == 24 * 3600
    (mount,) = services(task / "environment")["volumes"]
    assert (mount["source"], mount["target"], mount["read_only"]) == (str(prepared.public), "/home/data", True)
    verifier = services(task / "tests")
    assert verifier["network_mode"] == "none"
    assert str(prepared.root) in {mount["source"] for mount in verifier["volumes"]}
    assert all(mount["read_only"] for mount in verifier["volumes"])
    programs = {path.name for path in task.rglob("*") if path.is_file() and path.stat().st_mode & 0o111}
    assert programs == {"validate_submission.sh", "validate", "init", "test.sh"}


def test_no_answer_is_in_the_folder(task: Path, prepared: Prepared) -> None:
    answers = next(prepared.private.glob("*.csv")).read_text().splitlines()
    files = [path for path in task.rglob("*") if path.is_file()]
    assert len(files) > 8
    text = "\n".join(path.read_text() for path in files)
    assert not [line for line in answers[1:] if f"\n{line}\n" in text and line not in sample(prepared)]


def sample(prepared: Any) -> list[str]:
    return (prepared.public / "sample_submission.csv").read_text().splitlines()


def test_the_verifier_grades_as_mlecore_does(
    prepared: Prepared, verify: Callable[[Path], dict[str, float]], tmp_path: Path
) -> None:
    best = tmp_path / "best.csv"
    mlecore.competition(ID).perfect(prepared.private).to_csv(best, index=False)
    expected = mlecore.grade(mlecore.competition(ID), best, prepared)
    assert verify(best) == {"reward": 1.0, "valid": 1.0, "score": expected.exact, "beats_sample": 1.0}
    link = tmp_path / "submission.csv"
    link.symlink_to(best)
    assert verify(link) == {"reward": 0.0, "valid": 0.0, "beats_sample": 0.0}


@pytest.mark.slow
@pytest.mark.network
def test_harbor_accepts_the_task(task: Path, tmp_path: Path) -> None:
    python = next(filter(None, map(shutil.which, ("python3.12", "python3.13"))), None)
    uv = Path(importlib.util.find_spec("mlecore").origin).parents[1] / ".venv/bin/uv"  # type: ignore[union-attr, arg-type]
    if python is None or subprocess.run([python, "-V"], capture_output=True).returncode or not uv.exists():
        pytest.skip("Harbor needs Python 3.12, and uv to be installed with")
    subprocess.run([uv, "venv", "-q", "--python", python, tmp_path / "venv"], check=True)
    inside = tmp_path / "venv" / "bin" / "python"
    subprocess.run([uv, "pip", "install", "-q", "--python", inside, "harbor>=0.26,<0.27"], check=True)
    program = (
        "import sys; from harbor.models.task.task import Task; t = Task(sys.argv[1]); print(t.name, t.config.verifier)"
    )
    done = subprocess.run([inside, "-c", program, task], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"mlecore/{ID} ")
    assert "SEPARATE" in done.stdout
