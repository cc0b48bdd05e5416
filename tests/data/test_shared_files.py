"""Files that are the same in two editions take room once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mlecore.data import manifest
from mlecore.data.shared_files import share_files

BULK = b"x" * 10_000


def prepared(root: Path, files: dict[str, bytes]) -> Path:
    manifest.create_folders(root)
    for path, content in files.items():
        (root / path).write_bytes(content)
    entries = manifest.entries(root)
    head: dict[str, Any] = {"competition": "c", "edition": "v1", "plugin_version": "1", "source": "raw"}
    manifest.write(root, entries, verified=False, created_at="", **head)
    return root


def same(a: Path, b: Path) -> bool:
    return a.stat().st_ino == b.stat().st_ino


def test_the_same_content_in_the_same_part_is_linked(tmp_path: Path) -> None:
    files = {"public/a.jpg": BULK, "public/small": b"1", "private/answers": BULK + b"!"}
    v1 = prepared(tmp_path / "v1", files)
    v2 = prepared(tmp_path / "v2", {"public/new.jpg": BULK, "public/small": b"1", "public/answers": BULK + b"!"})
    shared = share_files(v2, manifest.entries(v2), v1)
    assert same(v2 / "public/new.jpg", v1 / "public/a.jpg")
    assert not same(v2 / "public/small", v1 / "public/small")
    assert not same(v2 / "public/answers", v1 / "private/answers")
    assert shared == manifest.entries(v2)
    assert len(list((v2 / "public").iterdir())) == 3


def test_a_file_that_has_changed_is_not_linked(tmp_path: Path) -> None:
    v1, v2 = (prepared(tmp_path / name, {"public/a.jpg": BULK}) for name in ("v1", "v2"))
    (v1 / "public/a.jpg").write_bytes(b"y" * 10_000)
    share_files(v2, manifest.entries(v2), v1)
    assert (v2 / "public/a.jpg").read_bytes() == BULK
