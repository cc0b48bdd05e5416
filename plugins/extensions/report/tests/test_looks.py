"""Reports as readers see them."""

from __future__ import annotations

from pathlib import Path

import pytest
from mle_ext_report.html import page
from mle_ext_report.sources import read_sources
from mle_ext_report.summary import summarise

from mlecore_testing.looks import Look

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.network]


def test_a_report_of_450_runs(look: Look, two_groups: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(page(summarise(read_sources(["good", "bad"], [], two_groups), against_published=True)))
    assert path.stat().st_size < 1_000_000
    look("report", path)
