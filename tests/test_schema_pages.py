"""docs/schemas/ says what the classes say, and every key has a meaning."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
spec = importlib.util.spec_from_file_location("schema_pages", ROOT / "scripts" / "schema_pages.py")
assert spec is not None and spec.loader is not None
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)


@pytest.mark.parametrize("name", script.PAGES)
def test_the_page_is_current(name: str) -> None:
    page = (ROOT / "docs" / "schemas" / f"{name}.md").read_text(encoding="utf-8")
    assert page == script.page(name), "run .venv/bin/python scripts/schema_pages.py"


def test_the_json_schema_is_current() -> None:
    found = (ROOT / "docs" / "schemas" / "statement.json").read_text(encoding="utf-8")
    assert found == script.json_schema("statement"), "run .venv/bin/python scripts/schema_pages.py"


@pytest.mark.parametrize("name", script.PAGES)
def test_every_key_has_a_meaning(name: str) -> None:
    for table in script.tables(script.PAGES[name][0]):
        meanings = script.comments(table)
        missing = [key.name for key in script.keys(table) if not meanings.get(key.name)]
        assert not missing, f"{table.__name__}: say what these mean in comments beside them"
