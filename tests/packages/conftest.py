"""Building and installing packages as their authors and users do, but into a folder of the test."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]

collect_ignore = ["acme-mle-plugins"]  # its tests run where it is installed
_BUILD = "import sys, uv_build; print(uv_build.build_wheel(sys.argv[1]))"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder that stands for an environment's site-packages."""
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


@pytest.fixture
def run(site: Path, tmp_path: Path) -> Run:
    """``run("-m", "pytest", ...)``: Python in another process, with what is installed in ``site``."""

    def started(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(site), "HOME": str(tmp_path), **more}
        return subprocess.run(
            [sys.executable, *words], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    return started


@pytest.fixture
def build(tmp_path: Path) -> Callable[[Path], Path]:
    """Build a package's wheel, as `pip install` and `uv build` do."""

    def wheel(folder: Path) -> Path:
        wheels = tmp_path / "wheels"
        wheels.mkdir(exist_ok=True)
        environment = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
        built = subprocess.run(
            [sys.executable, "-c", _BUILD, str(wheels)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert built.returncode == 0, built.stderr
        return wheels / built.stdout.split()[-1]

    return wheel


@pytest.fixture
def install(site: Path, build: Callable[[Path], Path]) -> Callable[[Path], None]:
    """Build a package's wheel and unpack it into ``site``."""

    def put(folder: Path) -> None:
        with zipfile.ZipFile(build(folder)) as wheel:
            wheel.extractall(site)

    return put
