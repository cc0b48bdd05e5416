"""The tests beside this one, in an environment of their own: verifiers brings 90 packages that nothing else needs."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

from mlecore_testing.own_environment import environment, run_tests

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
    return environment(tmp_path_factory.mktemp("verifiers") / "venv", ROOT, MEMBERS)


def run(python: Path, folder: Path, *tests: str) -> None:
    run_tests(python, [HERE / test for test in tests], ROOT, folder)


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
