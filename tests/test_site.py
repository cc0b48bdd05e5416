"""The documentation site: its sources are complete, its links lead somewhere, and it loads nothing from elsewhere.

`make docs` builds it, with packages that the test environment lacks; what is tried here needs none of them.
"""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def script() -> Any:
    """Imports a script of the site by its name."""
    folders = [str(ROOT / "scripts" / "site"), str(ROOT / "scripts")]
    known = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*folders, *sys.path])
        yield importlib.import_module
        for name in set(sys.modules) - known:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(folders[1]):
                del sys.modules[name]


@pytest.fixture(scope="module")
def pages(script: Any) -> dict[str, str | Path]:
    return {str(path): content for path, content in script("stage").pages()}


def test_the_navigation_names_pages_that_exist_and_leaves_none_out(pages: dict[str, str | Path]) -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    named = set(re.findall(r"([\w/-]+\.md)$", nav, re.MULTILINE))
    assert named <= pages.keys()
    unnamed = {path for path in pages if path.endswith(".md")} - named
    assert not {path for path in unnamed if not re.match(r"(competitions|packages/\w+)/", path)}


def test_links_between_pages_lead_to_pages(pages: dict[str, str | Path]) -> None:
    links = 0
    for path, text in pages.items():
        if isinstance(text, str):
            prose = re.sub(r"^[ ]*```.*?^[ ]*```", "", text, flags=re.MULTILINE | re.DOTALL)
            for target in re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", prose):
                links += 1
                there = (Path("/") / path).parent.joinpath(target).resolve().relative_to("/").as_posix()
                assert there in pages, f"{path}: {target}"
    assert links > 300


def test_every_competition_has_a_page_of_its_facts(pages: dict[str, str | Path]) -> None:
    packages = [
        path.name for path in (ROOT / "plugins" / "competitions").iterdir() if (path / "pyproject.toml").exists()
    ]
    assert {f"competitions/{name}.md" for name in packages} <= pages.keys()
    page = pages["competitions/spaceship-titanic.md"]
    assert isinstance(page, str)
    assert "| 0.82066 | 0.81388 | 0.80967 | 0.79565 |" in page
    assert "accuracy; higher is better" in page
    assert "## Edition v2: `near`" in page
    assert "The split goes by row." in page
    assert "no medals" in str(pages["competitions/optical-digits.md"])


def test_every_page_of_a_competition_shows_examples_of_its_data(pages: dict[str, str | Path]) -> None:
    shown = {name: str(text) for name, text in pages.items() if re.match("competitions/(?!index)", name)}
    assert len(shown) == 83
    for name, text in shown.items():
        picture = f"assets/examples/{Path(name).stem}.webp"
        assert "<td>" in text, name
        assert (f"](../{picture})" in text) == (picture in pages), name
    assert "<th>PassengerId</th>" in shown["competitions/spaceship-titanic.md"]
    assert sum(path.stat().st_size for path in (ROOT / "scripts/site/examples").iterdir()) < 1_500_000


def test_a_link_to_a_file_without_a_page_becomes_text(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links: ModuleType = script("links")
    monkeypatch.setattr(links, "ROOT", tmp_path)
    monkeypatch.setattr(links, "project", lambda root: {})
    for name in ("docs/a.md", "docs/b.md", "mlecore/x.py", "plugins/backends/docker/README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    text = "[b](b.md#x) [code](../mlecore/x.py) [docker](../plugins/backends/docker/)\n```\n[b](none.md)\n```\n"
    (tmp_path / "docs" / "a.md").write_text(text)
    expected = "[b](b.md#x) `code` [docker](packages/backends/docker.md)\n```\n[b](none.md)\n```\n"
    assert links.rewritten(tmp_path / "docs" / "a.md") == expected
    (tmp_path / "docs" / "a.md").write_text("[b](none.md)")
    with pytest.raises(SystemExit, match=r"none\.md does not exist"):
        links.rewritten(tmp_path / "docs" / "a.md")


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


def test_its_folder_build_does_not_change_how_imports_are_sorted(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    copied = ("pyproject.toml", "scripts/build.py", "scripts/site/competition_pages.py")
    for name in copied:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    ruff = [sys.executable, "-m", "ruff", "check", "-q", "--no-cache", "--select", "I", "scripts"]
    assert subprocess.run(ruff, cwd=tmp_path, check=False).returncode == 0
