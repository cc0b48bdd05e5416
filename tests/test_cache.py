"""Files in the user's cache folder: whole and one's own, or none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest

from mlecore import cache
from mlecore.cache import cache_file, read_entries, stamp, write_entries

ENTRIES = {"one": [1, None, "\ud800"], "two": {}}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name, appauthor: tmp_path / name)
    path = cache_file("things", "key")
    assert path.parent == tmp_path / "mlecore" / "things" and path != cache_file("things", "another")
    write_entries(path, ENTRIES, "runs")
    assert read_entries(path, "runs") == ENTRIES
    return path


def seal(file: Path, body: bytes) -> None:
    file.write_bytes(b"%b\n%b" % (cache._seal(file, body), body))


def link(file: Path) -> None:
    file.rename(file.with_name("other"))
    file.symlink_to("other")


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-5]),
    "edited": lambda file: file.write_bytes(file.read_bytes().replace(b"one", b"two")),
    "empty": lambda file: file.write_bytes(b""),
    "a folder": lambda file: (file.unlink(), file.mkdir()),
    "a pipe": lambda file: (file.unlink(), os.mkfifo(file)),
    "a link": link,
    "others may write": lambda file: file.chmod(0o666),
    "missing": lambda file: file.unlink(),
    "too long": lambda file: os.truncate(file, cache.LIMIT + 1),
    "not JSON": lambda file: seal(file, b"{"),
    "nested": lambda file: seal(file, b"[" * 100_000),
    "a list": lambda file: seal(file, b"[]"),
    "made by hand": lambda file: (
        body := file.read_bytes()[65:],
        file.write_bytes(b"%08x\n%b" % (zlib.crc32(body), body)),
    ),
    "another's key": lambda file: file.parent.with_name("key").write_bytes(b"x" * 32),
    "no key": lambda file: file.parent.with_name("key").write_bytes(b""),
}


@pytest.mark.skipif(os.name != "posix", reason="no permissions, links and pipes")
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_file_that_is_damaged_or_not_ones_own_counts_as_none(file: Path, damage: str) -> None:
    DAMAGE[damage](file)
    assert read_entries(file, "runs") == {}


def test_what_another_version_or_other_code_wrote_counts_as_none(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_entries(file, "registry") == {}
    monkeypatch.setattr(cache, "_modules", lambda folder: ["another"])
    assert read_entries(file, "runs") == {}


def test_files_that_nobody_uses_are_removed(file: Path) -> None:
    make_old_files(file.parent)
    write_entries(file, ENTRIES)
    assert {path.name for path in file.parent.iterdir()} == {file.name, "00000001.json", "letter.json"}


@pytest.mark.parametrize("linked", ["things", "."])
def test_nothing_is_removed_where_a_link_leads(file: Path, tmp_path: Path, linked: str) -> None:
    (documents := tmp_path / "documents").mkdir()
    folder = file.parent.parent / linked
    shutil.rmtree(folder)
    folder.symlink_to(documents)
    file.parent.mkdir(exist_ok=True)
    make_old_files(file.parent)
    write_entries(file, ENTRIES)
    names = {"00000000.json", "00000000.123", "00000001.json", "letter.json"}
    assert {path.name for path in file.parent.iterdir()} >= names


def make_old_files(folder: Path) -> None:
    for name, days in (("00000000.json", 100), ("00000000.123", 100), ("00000001.json", 10), ("letter.json", 100)):
        (folder / name).touch()
        os.utime(folder / name, (time.time() - days * 86400,) * 2)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_no_error(file: Path) -> None:
    file.parent.chmod(0o500)
    write_entries(file, {}, "runs")
    assert read_entries(file, "runs") == ENTRIES


def test_a_stamp_tells_a_link_from_its_target(file: Path) -> None:
    link(file)
    assert stamp(str(file)) == stamp(str(file.with_name("other"))) != stamp(str(file), follow=False)
    assert stamp(str(file.with_name("nothing"))) is None


WRITER = """
import sys
from pathlib import Path
from mlecore.cache import write_entries
for number in range(200):
    write_entries(Path(sys.argv[1]), {sys.argv[2]: [number] * 1000}, "runs")
"""


def test_two_processes_that_write_at_once_never_leave_half_a_file(file: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, file, name]) for name in "ab"]
    while any(writer.poll() is None for writer in writers):
        found = read_entries(file, "runs")
        assert found == ENTRIES or all(set(found) in ({"a"}, {"b"}) and len(row) == 1000 for row in found.values())
        assert found
        time.sleep(0.005)
    assert [writer.returncode for writer in writers] == [0, 0] and len(list(file.parent.iterdir())) == 1
