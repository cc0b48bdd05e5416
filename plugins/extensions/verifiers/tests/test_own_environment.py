"""The tests beside this one, in an environment of their own: verifiers brings 90 packages that nothing else needs."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
MEMBERS = (
    "agents/baseline",
    "backends/vm",
    "competitions/spaceship-titanic",
    "extensions/harbor",
    "extensions/report",
    "extensions/setup",
    "extensions/sharing",
    "extensions/verifiers",
    "libraries/agents",
    "libraries/audit",
    "libraries/gateway",
    "libraries/jobs",
    "libraries/sandboxes",
    "libraries/testing",
    "libraries/toolkit",
)
IMAGE = "python:3.11-slim-bookworm"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.network,
    pytest.mark.skipif(importlib.util.find_spec("verifiers") is not None, reason="verifiers is installed here"),
]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with verifiers."""
    uv = Path(sys.executable).parent / "uv"
    venv = tmp_path_factory.mktemp("verifiers") / "venv"
    python = venv / "bin" / "python"
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, venv], check=True)
    members = [part for name in ("", *(f"plugins/{member}" for member in MEMBERS)) for part in ("-e", str(ROOT / name))]
    subprocess.run([uv, "pip", "install", "-q", "--python", python, *members, "pytest>=8.3,<9.2"], check=True, cwd=ROOT)
    return python


def run(python: Path, folder: Path, *tests: str) -> None:
    command = [python, "-m", "pytest", "-q", "-c", ROOT / "pyproject.toml", f"--confcutdir={HERE}"]
    command += ["-p", "no:cacheprovider", *(HERE / test for test in tests)]
    env = {**os.environ, "PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "skipped" not in done.stdout


def test_tasks_and_grading(python: Path, tmp_path: Path) -> None:
    run(python, tmp_path, "test_tasks.py", "test_collecting.py")


@pytest.mark.docker
def test_rollouts(python: Path, tmp_path: Path) -> None:
    if (
        shutil.which("docker") is None
        or subprocess.run(["docker", "image", "inspect", IMAGE], capture_output=True).returncode
    ):
        pytest.skip(f"docker image inspect {IMAGE} fails")
    run(python, tmp_path, "test_rollouts_docker.py")
