"""The site as readers see it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from mlecore.cli import main
from mlecore_testing.looks import Look

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.network]


@pytest.mark.parametrize(("name", "page"), [("index", "index.html"), ("entry", "entries/alpha.html")])
def test_a_page(name: str, page: str, look: Look, full_board: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(
        main, ["leaderboard", "build", "--board", str(full_board), "--to", str(tmp_path / "site")]
    )
    assert done.exit_code == 0, done.output
    look(f"leaderboard-{name}", tmp_path / "site" / page)
