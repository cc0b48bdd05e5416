"""What `make docs` finds wrong with the built site, and what a release takes from files written by hand."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> Iterator[Any]:
    """Imports a script by its name."""
    folders = [str(ROOT / "scripts" / "site"), str(ROOT / "scripts")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*folders, *sys.path])
        yield importlib.import_module


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="b.html#here">b</a><img src="p.png"><a href="https://example.org">out</a>', None),
        ('<a href="c.html">c</a>', "the link c.html leads nowhere"),
        ('<a href="b.html#there">b</a>', "has no such anchor"),
        ('<a href="../../etc/passwd">x</a>', "leads nowhere"),
        ('<script src="https://example.org/x.js"></script>', "loads https://example.org/x.js from another host"),
        ('<img src="//example.org/x.png">', "from another host"),
        ('<link rel="stylesheet" href="https://example.org/x.css">', "from another host"),
        ('<p style="background: url(https://example.org/x.png)">', "from another host"),
        ('<img src="q.png">', "q.png, which does not exist"),
        ("<p>Only for practice.\n- If several rows</p>", "did not understand a list"),
        ("<ul><li>One: - two</li></ul>", "did not understand a list"),
        ("<p>Steps:\n1. the first</p>", "did not understand a list"),
        ("<p>a | b\n|---|---|</p>", "did not understand a table"),
        ("<td>```sh</td>", "did not understand a fence"),
        ("<td>**v2</td>", "did not understand emphasis"),
        ("<li>see [a](b.md#c)</li>", "did not understand a link"),
        ("<h1>A - b</h1><p>|A & B| / |A | B| <code>[a](b) **</code> well-known - or not</p><pre>x.\n- y</pre>", None),
    ],
)
def test_what_is_wrong_with_a_built_page_is_found(script: Any, body: str, problem: str | None, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(body)
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1>')
    (tmp_path / "p.png").write_bytes(b"")
    found = list(script("finish").wrong(tmp_path))
    assert len(found) == (problem is not None)
    assert problem is None or problem in found[0]


def test_style_that_loads_from_elsewhere_is_found(script: Any, tmp_path: Path) -> None:
    (tmp_path / "x.css").write_text("@font-face { src: url('https://example.org/font.woff2') }")
    assert list(script("finish").wrong(tmp_path)) == ["x.css: loads https://example.org/font.woff2 from another host"]


def test_release_notes_are_the_section_of_the_changelog(script: Any) -> None:
    section = script("release_notes").section
    changelog = "# Changelog\n\n## Unreleased\n\n- c\n\n## 0.2.0 (2026-12-01)\n\n- b\n\n## 0.1.0\n\n- a\n"
    assert section(changelog, "0.2.0") == "- b"
    assert section(changelog, "0.1.0") == "- a"
    for version in ("0.3.0", "0.1"):
        with pytest.raises(SystemExit, match="no section"):
            section(changelog, version)


def test_the_citation_names_the_version() -> None:
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None
    assert f"\nversion: {version[1]}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_design_names_files_that_exist() -> None:
    pages = sorted((ROOT / "docs" / "design").glob("*.md"))
    named = {
        path
        for page in pages
        for path in re.findall(r"`((?:mlecore|plugins|scripts|tests)/[\w./-]*)`", page.read_text(encoding="utf-8"))
    }
    assert len(named) > 15
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
