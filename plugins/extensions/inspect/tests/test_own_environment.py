"""The tests beside this one, in an environment of their own: inspect-ai cannot be locked together with kubernetes."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
MEMBERS = (
    "agents/baseline",
    "agents/command",
    "backends/vm",
    "competitions/optical-digits",
    "competitions/spaceship-titanic",
    "extensions/inspect",
    "libraries/agents",
    "libraries/gateway",
    "libraries/testing",
)


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.sandbox
@pytest.mark.skipif(importlib.util.find_spec("inspect_ai") is not None, reason="inspect-ai is installed here")
def test_all_of_it_with_inspect(tmp_path: Path) -> None:
    uv = Path(sys.executable).parent / "uv"
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, tmp_path / "venv"], check=True)
    members = [part for name in ("", *(f"plugins/{member}" for member in MEMBERS)) for part in ("-e", str(ROOT / name))]
    subprocess.run([uv, "pip", "install", "-q", "--python", python, *members, "pytest>=8.3,<9.2"], check=True, cwd=ROOT)
    command = [
        python,
        "-m",
        "pytest",
        "-q",
        "-c",
        ROOT / "pyproject.toml",
        f"--confcutdir={HERE}",
        "-p",
        "no:cacheprovider",
    ]
    env = {**os.environ, "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        [*command, HERE / "test_inspect_tasks.py"], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "skipped" not in done.stdout
