"""Tests of a package of this repository in an environment of their own, as it needs what the others cannot have."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from mlecore.util.child_environment import PIP, PROXIES, child_environment

_PASSED_ON = (*PIP, *PROXIES, "DOCKER_*", "MLECORE_*")


def environment(venv: Path, root: Path, members: Iterable[str]) -> Path:
    """The interpreter of a new environment with mlecore and ``members``, such as "extensions/inspect", of ``root``."""
    uv, python, env = Path(sys.executable).parent / "uv", venv / "bin" / "python", child_environment(*_PASSED_ON)
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, venv], check=True, env=env)
    parts = [part for name in ("", *(f"plugins/{member}" for member in members)) for part in ("-e", str(root / name))]
    subprocess.run(
        [uv, "pip", "install", "-q", "--python", python, *parts, "pytest>=8.3,<9.2"], check=True, cwd=root, env=env
    )
    return python


def run_tests(python: Path, tests: Iterable[Path], root: Path, folder: Path) -> None:
    """Run files of tests, which must pass and skip nothing, in ``folder``."""
    files = list(tests)
    command: list[str | Path] = [
        python,
        "-m",
        "pytest",
        "-q",
        "-c",
        root / "pyproject.toml",
        f"--confcutdir={files[0].parent}",
    ]
    command += ["-p", "no:cacheprovider", *files]
    env = child_environment(*_PASSED_ON)
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "skipped" not in done.stdout
