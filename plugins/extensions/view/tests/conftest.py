"""A runs folder, and a client that looks at it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from mle_ext_view.app import make_app
from starlette.testclient import TestClient

sys.path.insert(0, str(Path(__file__).parent))  # for groups_on_disk

TOKEN = "t0ken"


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Groups finished, at work and hostile. Tests read them only."""
    import groups_on_disk

    folder = tmp_path_factory.mktemp("view") / "runs"
    folder.mkdir()
    groups_on_disk.write_finished(folder)
    groups_on_disk.write_working(folder)
    groups_on_disk.write_failing(folder)
    groups_on_disk.write_hostile(folder, tmp_path_factory.mktemp("outside"))
    return folder


@pytest.fixture(scope="session")
def client(runs: Path) -> TestClient:
    return TestClient(make_app(runs, TOKEN), base_url=f"http://127.0.0.1/{TOKEN}/")
