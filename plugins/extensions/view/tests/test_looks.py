"""The pages as readers see them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from mlecore.cli import main
from mlecore_testing.looks import Look

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.network]
RUN = "alpha--optical-digits--0"


@pytest.fixture(scope="module")
def folder(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("view") / "pages"
    done = CliRunner().invoke(main, ["view", "--runs", str(runs), "--static", str(target)])
    assert done.exit_code == 0, done.output
    return target


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("index", "index.html"),
        ("group", "g/finished/index.html"),
        ("run", f"g/finished/{RUN}/index.html"),
        ("failed-run", "g/working/beta--optical-digits--1/index.html"),
        ("log", f"g/finished/{RUN}/log.html"),
        ("code", f"g/finished/{RUN}/code.html"),
        ("calls", f"g/finished/{RUN}/calls.html"),
        ("record", f"g/finished/{RUN}/record.html"),
        ("hostile-run", f"g/hostile/{RUN}/index.html"),
    ],
)
def test_a_page(name: str, page: str, look: Look, folder: Path) -> None:
    look(f"view-{name}", folder / page)
