"""Files of a split are links to raw files, which stay as they are."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from mlecore.errors import DataError
from mlecore_toolkit import copy_file, link_file, link_files, link_tree, safe_name


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    for name in ("a.jpg", "b.jpg", "deep/er/c.jpg"):
        path = tmp_path / "raw" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "raw" / "empty").mkdir()
    return tmp_path / "raw"


def tree(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}


def test_names_stay_and_a_repeated_one_counts_once(raw: Path, tmp_path: Path) -> None:
    assert link_files(raw, tmp_path / "public" / "train", ["b.jpg", "deep/er/c.jpg", "b.jpg"]) == 2
    assert tree(tmp_path / "public") == {"train/b.jpg": "b.jpg", "train/deep/er/c.jpg": "deep/er/c.jpg"}
    assert (tmp_path / "public" / "train" / "b.jpg").samefile(raw / "b.jpg")


def test_a_mapping_renames(raw: Path, tmp_path: Path) -> None:
    link_files(raw, tmp_path / "public", {"a.jpg": "b.jpg", "b.jpg": "x/a.jpg"})
    assert tree(tmp_path / "public") == {"b.jpg": "a.jpg", "x/a.jpg": "b.jpg"}


def test_a_copy_tells_nothing_of_its_source(raw: Path, tmp_path: Path) -> None:
    os.utime(raw / "a.jpg", (1, 1))
    copy_file(raw / "a.jpg", tmp_path / "x" / "0.jpg")
    assert (tmp_path / "x" / "0.jpg").read_text() == "a.jpg"
    assert not (tmp_path / "x" / "0.jpg").samefile(raw / "a.jpg")
    assert (tmp_path / "x" / "0.jpg").stat().st_mtime > 1
    with pytest.raises(DataError, match="already exists"):
        copy_file(raw / "b.jpg", tmp_path / "x" / "0.jpg")
    with pytest.raises(DataError, match=r"d\.jpg is missing"):
        copy_file(raw / "d.jpg", tmp_path / "d.jpg")


def test_a_tree_comes_whole(raw: Path, tmp_path: Path) -> None:
    assert link_tree(raw, tmp_path / "public") == 3
    assert tree(tmp_path / "public") == tree(raw)
    assert (tmp_path / "public" / "empty").is_dir()
    with pytest.raises(DataError, match=r"folder .*nothing is missing"):
        link_tree(raw / "nothing", tmp_path / "other")


@pytest.mark.parametrize("number", [errno.EXDEV, errno.EMLINK, errno.EPERM])
def test_where_links_cannot_be_files_are_copied(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, "no link")

    monkeypatch.setattr(os, "link", refuse)
    link_tree(raw, tmp_path / "public")
    assert tree(tmp_path / "public") == tree(raw)
    assert not (tmp_path / "public" / "a.jpg").samefile(raw / "a.jpg")
    with pytest.raises(OSError, match="no link"):
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(errno.EIO, "no link")))
        link_file(raw / "a.jpg", tmp_path / "x.jpg")


def test_nothing_is_overwritten(raw: Path, tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_text("mine")
    with pytest.raises(DataError, match=r"a\.jpg already exists"):
        link_file(raw / "a.jpg", tmp_path / "a.jpg")
    assert (tmp_path / "a.jpg").read_text() == "mine"


def test_what_is_missing_or_no_file_is_reported(raw: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nope\.jpg is missing"):
        link_files(raw, tmp_path / "public", ["a.jpg", "nope.jpg"])
    os.mkfifo(raw / "pipe")
    with pytest.raises(DataError, match="pipe is not a regular file"):
        link_file(raw / "pipe", tmp_path / "pipe")


def test_a_link_in_raw_gives_what_it_points_to(raw: Path, tmp_path: Path) -> None:
    (raw / "link.jpg").symlink_to("a.jpg")
    link_file(raw / "link.jpg", tmp_path / "link.jpg")
    assert not (tmp_path / "link.jpg").is_symlink()
    assert (tmp_path / "link.jpg").read_text() == "a.jpg"


OUTSIDE = ["", "/etc/passwd", "../x", "a/../../x", "a/..", "..", "\\x", "a\\..\\x", "C:/x", "c:x", "a\x00b"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_names_that_lead_outside_are_refused(raw: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="outside"):
        safe_name(name)
    with pytest.raises(DataError, match="outside"):
        link_files(raw, tmp_path / "public", {"a.jpg": name})
    with pytest.raises(DataError, match="outside"):
        link_files(raw, tmp_path / "public", {name: "a.jpg"})


@pytest.mark.parametrize("name", ["a", "a/b.c", "..a", "a..", "a/..b/c", "...", "1:2", "é x", "a\nb", "./a"])
def test_other_names_are_fine(name: str) -> None:
    assert safe_name(name) == name
