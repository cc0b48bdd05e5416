"""docs/reference/ says what docstrings, hook specs and the command line say; nothing public is without words."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
spec = importlib.util.spec_from_file_location("reference_pages", ROOT / "scripts" / "reference_pages.py")
assert spec is not None and spec.loader is not None
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)


@pytest.mark.parametrize("name", script.PAGES)
def test_the_page_is_current(name: str) -> None:
    page = (ROOT / "docs" / "reference" / f"{name}.md").read_text(encoding="utf-8")
    assert page == script.PAGES[name](), "run .venv/bin/python scripts/reference_pages.py"


@pytest.mark.parametrize("name", ["metrics", "prepare", "submissions"])
def test_whatever_is_offered_is_on_its_page_and_has_words(name: str) -> None:
    module = importlib.import_module(f"mlecore.{name}")
    page = script.PAGES[name]()
    assert [public for public in script._names(module) if f"\n### {public}\n" not in page] == []
    assert [public for public in module.__all__ if not inspect.getdoc(getattr(module, public))] == []


def test_signatures_are_those_of_the_source() -> None:
    page = script.PAGES["hooks"]()
    assert "def grade(submission: Table, private: Path, edition: str, format: Format) -> float\n" in page
    assert "### grade (required)" in page and "### check\n" in page
    assert "    competition: Competition,\n    public: Path | None,\n" in page  # a long one has an argument a line


def test_every_command_and_option_is_there() -> None:
    page = script.PAGES["commands"]()
    for words in ("## mlecore runs cancel\n", "## mlecore competitions show\n", "| `--max-parallel INTEGER"):
        assert words in page
