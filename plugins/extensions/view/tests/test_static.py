"""The folder of pages: complete, self-contained, and with nothing that only a server could do."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner
from groups_on_disk import SECRET
from test_hostile import Reader

from mlecore.cli import main


@pytest.fixture(scope="module")
def folder(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("static") / "pages"
    done = CliRunner().invoke(main, ["view", "--runs", str(runs), "--static", str(target)])
    assert done.exit_code == 0, done.output
    assert f"open {target / 'index.html'}" in done.output
    return target


@pytest.mark.slow
def test_every_link_leads_to_a_page_of_the_folder(folder: Path) -> None:
    pages = list(folder.rglob("*.html"))
    assert len(pages) > 60
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert SECRET not in text, page
        tags = Reader(text).tags
        assert not {"data-events", "data-tail"} & {name for _, attributes in tags for name in attributes}
        assert "form" not in {tag for tag, _ in tags}
        for tag, attributes in tags:
            target = attributes.get("href" if tag in ("a", "link") else "src")
            if target is None or target.startswith(("#", "data:")):
                continue
            parts = urlsplit(target)
            assert not parts.scheme and not parts.query, (page, target)
            assert (page.parent / unquote(parts.path, errors="surrogateescape")).is_file(), (page, target)
        (policy,) = [given["content"] for _, given in tags if given.get("http-equiv") == "Content-Security-Policy"]
        assert policy is not None and "default-src 'none'" in policy and "unsafe" not in policy


def test_an_existing_folder_is_not_written_to(runs: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["view", "--runs", str(runs), "--static", str(tmp_path)])
    assert done.exit_code == 2 and "already exists" in done.output
    done = CliRunner().invoke(main, ["view", "--runs", str(tmp_path / "none")])
    assert done.exit_code == 2 and "there is no folder" in done.output
