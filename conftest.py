"""For all tests, of the core and of the plugins beside it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Groups of tests are sealed with a key of their own, not with the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLECORE_STATE", str(tmp_path_factory.mktemp("state")))
        yield


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
