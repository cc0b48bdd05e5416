"""Names that Windows cannot hold are rejected there, and only there."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from mlecore.data.contents import contents
from mlecore.errors import DataError
from mlecore.file_names import can_be_held
from mlecore.prepare import files

UNUSABLE = [
    "a:b",
    "x/12:30.wav",
    "nul",
    "x/NUL.txt",
    "com1.csv",
    "Lpt9/a",
    "CON .x",
    "a.",
    "dir./a",
    "a ",
    "a?b",
    "a\\b",
    "\t",
]
USABLE = [
    "train.csv",
    "images/0001.jpg",
    "null.txt",
    "console",
    "com10",
    "a.b.c",
    ".hidden",
    "a b",
    "é/日本.png",
    "aux-1.csv",
]


@pytest.mark.parametrize("name", UNUSABLE)
def test_names_that_windows_cannot_hold(name: str) -> None:
    assert not can_be_held(name, "win32")
    assert can_be_held(name, "linux")


@pytest.mark.parametrize("name", USABLE)
def test_names_that_windows_can_hold(name: str) -> None:
    assert can_be_held(name, "win32")


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlecore.file_names.can_be_held", lambda name: can_be_held(name, "win32"))


@pytest.mark.usefixtures("windows")
def test_an_archive_with_such_a_name_is_not_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("images/aux.png", b"")
    with pytest.raises(
        DataError, match=r"x\.zip: nothing was unpacked: Windows cannot hold a file named 'images/aux\.png'\nPrepare"
    ):
        contents(tmp_path / "x.zip")


@pytest.mark.usefixtures("windows")
def test_no_such_file_is_prepared(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a").write_bytes(b"")
    with pytest.raises(DataError, match="Windows cannot hold a file named '12:30'"):
        files.link_files(tmp_path / "raw", tmp_path / "public", {"a": "12:30"})
    assert not list((tmp_path / "public").glob("*"))
