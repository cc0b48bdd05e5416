"""For all tests, of the core and of the plugins beside it: skip what this machine has no means for."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["mlecore_testing.browser"]


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("browser"):
        from mlecore_testing.browser import PROGRAM

        if PROGRAM is None:
            pytest.skip("Chromium is not installed (apt-get install chromium)")
    if item.get_closest_marker("sandbox") and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    if item.get_closest_marker("docker") and (missing := _no_engine()):
        pytest.skip(missing)


@cache
def _no_engine() -> str:
    """Why there is no Docker engine; empty if there is one."""
    from mlecore.errors import BackendError
    from mlecore.registry.opening import open_backend

    try:
        problems = [problem for problem in open_backend("docker", {}).backend.preflight() if problem.fatal]
    except BackendError as error:
        return str(error)
    return problems[0].description if problems else ""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Any]:
    """A disk that can lose power and go away; see disks.py."""
    spec = importlib.util.spec_from_file_location("mlecore_test_disks", Path(__file__).parent / "tests" / "disks.py")
    assert spec and spec.loader
    disks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(disks)
    try:
        made = disks.Disk(tmp_path / "own-disk")
    except disks.NoDisk as error:
        pytest.skip(str(error))
    yield made
    made.close()
