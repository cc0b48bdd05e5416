"""What agents and killed processes leave can be removed and recovered; content is replaced whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mlecore.errors import DataError
from mlecore.util import files
from mlecore.util.regular import read_regular


def closed(folder: Path) -> None:
    (folder / "in" / "deeper").mkdir(parents=True)
    (folder / "in" / "deeper" / "file").write_text("x")
    (folder / "in" / "deeper").chmod(0)
    (folder / "in").chmod(0o500)


def deep(folder: Path) -> None:
    """Deeper than Python's stack, and with a path longer than the kernel takes."""
    folder.mkdir()
    back = os.open(".", os.O_RDONLY)
    try:
        os.chdir(folder)
        for _ in range(1500):
            Path("dddd").mkdir()
            os.chdir("dddd")
    finally:
        os.fchdir(back)
        os.close(back)


def linked(folder: Path) -> None:
    folder.mkdir()
    (folder.parent / "others").mkdir()
    (folder.parent / "others" / "file").write_text("stays")
    (folder / "link").symlink_to("../others")
    os.mkfifo(folder / "fifo")


@pytest.fixture
def own_folder() -> Iterator[Path]:
    """A folder of an ordinary user, whom modes stop, and who we are for as long as the test lasts."""
    with tempfile.TemporaryDirectory() as folder:
        if os.geteuid() != 0:
            yield Path(folder)
            return
        os.chown(folder, 65534, -1)
        os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            os.seteuid(0)


@pytest.mark.parametrize("make", [closed, deep, linked])
def test_whatever_an_agent_leaves_is_removed(make: Callable[[Path], None], own_folder: Path) -> None:
    folder = own_folder / "left"
    make(folder)
    files.remove(folder)
    assert not os.path.lexists(folder)
    assert make is not linked or (own_folder / "others" / "file").read_text() == "stays"
    files.remove(folder)  # nothing there is fine


def test_a_link_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    files.remove(tmp_path / "link")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


class Killed(BaseException):
    pass


def test_a_swap_that_was_killed_anywhere_is_recovered(tmp_path: Path) -> None:
    def kill(_: str, __: Path) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed

    for n in range(20):
        target = tmp_path / str(n)
        for folder in (target, files.partial(target)):
            folder.mkdir()
            (folder / "name").write_text(folder.name)
        left = n
        try:
            with files.faults(kill):
                files.swap(files.partial(target), target)
        except Killed:
            files.recover(target)
            assert (target / "name").exists()
            assert {path.name for path in tmp_path.iterdir()} == {str(done) for done in range(n + 1)}
        else:
            break
    assert n > 3 and (target / "name").read_text() == f"{n}.partial"


def test_a_full_disk_leaves_the_old_content(tmp_path: Path) -> None:
    path = tmp_path / "file"
    files.replace(path, b"old")
    for operation in ("write", "rename"):

        def full(what: str, _: Path, operation: str = operation) -> None:
            if what == operation:
                raise OSError(28, "No space left on device")

        with files.faults(full), pytest.raises(OSError, match="No space"):
            files.replace(path, b"new")
        assert path.read_bytes() == b"old"
    files.replace(path, b"new", keep_previous=True)
    assert (path.read_bytes(), files.previous(path).read_bytes()) == (b"new", b"old")


def test_links_count_from_the_folder_that_is_trusted(tmp_path: Path) -> None:
    real = tmp_path / "real" / "inner"
    real.mkdir(parents=True)
    (real / "file").write_text("content")
    (real / "link").symlink_to("file")
    (tmp_path / "top").symlink_to("real")
    (tmp_path / "real" / "other").symlink_to("inner")
    top = tmp_path / "top"
    assert read_regular(top / "inner" / "file", 7, below=top) == b"content"
    assert read_regular(real / "file", 7, below=real) == b"content"
    for path in (top / "inner" / "link", top / "other" / "file", top / "inner"):
        with pytest.raises(DataError, match=r"symbolic link|not a regular file"):
            read_regular(path, 7, below=top)
    with pytest.raises(DataError, match="more than 6 bytes"):
        read_regular(real / "file", 6, below=real)
    with pytest.raises(FileNotFoundError):
        read_regular(top / "nowhere" / "file", 7, below=top)


@pytest.mark.skipif(not Path("/proc/version").is_file(), reason="there is no /proc here")
def test_a_file_that_says_it_is_empty_is_read_whole() -> None:
    path = Path("/proc/version")
    assert read_regular(path, 4096) == path.read_bytes() != b""
