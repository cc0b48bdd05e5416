"""docs/competitions.md is what the packages' facts say, and mlecore[lite] names the low split."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path

from mlecore.competitions import of_split

ROOT = Path(__file__).parent.parent


def test_the_page_is_current() -> None:
    spec = importlib.util.spec_from_file_location("competitions_page", ROOT / "scripts" / "competitions_page.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page = (ROOT / "docs" / "competitions.md").read_text(encoding="utf-8")
    assert page == script.page(), "run .venv/bin/python scripts/competitions_page.py"


def test_lite_is_the_low_split() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    low = of_split("lite")
    assert len(low) == 22
    assert sorted(extras["lite"]) == sorted(competition.plugin.distribution for competition in low)
