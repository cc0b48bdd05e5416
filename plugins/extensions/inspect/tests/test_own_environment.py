"""The tests beside this one, in an environment of their own: inspect-ai cannot be locked together with kubernetes."""

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
    "agents/command",
    "backends/vm",
    "competitions/optical-digits",
    "competitions/spaceship-titanic",
    "extensions/inspect",
    "extensions/report",
    "extensions/setup",
    "extensions/sharing",
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
    pytest.mark.skipif(importlib.util.find_spec("inspect_ai") is not None, reason="inspect-ai is installed here"),
]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with inspect-ai."""
    return environment(tmp_path_factory.mktemp("inspect") / "venv", ROOT, MEMBERS)


def run(python: Path, folder: Path, *tests: str) -> None:
    run_tests(python, [HERE / test for test in tests], ROOT, folder)


@pytest.mark.sandbox
def test_tasks_and_imports(python: Path, tmp_path: Path) -> None:
    run(python, tmp_path, "test_inspect_tasks.py", "test_inspect_imports.py")


@pytest.mark.docker
def test_containers(python: Path, tmp_path: Path) -> None:
    for command in (["compose", "version"], ["image", "inspect", IMAGE]):
        if shutil.which("docker") is None or subprocess.run(["docker", *command], capture_output=True).returncode:
            pytest.skip(f"docker {' '.join(command)} fails")
    run(python, tmp_path, "test_inspect_docker.py")
