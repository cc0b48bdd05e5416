"""For all tests, of the core and of the plugins beside it: skip what this machine has no means for."""

from __future__ import annotations

import gc
import shutil
from functools import cache

import pytest

pytest_plugins = [f"mlecore_testing.{name}" for name in ("bombs", "browser", "disks", "looks", "site_packages")]

gc.set_threshold(50_000)  # as `mlecore` does: thousands of tests are collected, and stay


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In the short lane one worker of pytest-xdist has all tests of a file: what they share is created once."""
    for item in items if config.getoption("kit") == "short" else ():
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def pytest_collection_finish() -> None:
    gc.freeze()  # or every full collection would look through all tests again


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
    from mlecore.plugins.opening import open_backend

    try:
        problems = [problem for problem in open_backend("docker", {}).backend.preflight() if problem.fatal]
    except BackendError as error:
        return str(error)
    return problems[0].description if problems else ""
