"""Files linked from raw data get numbers and times of their own, in no order."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest

from mlecore.data.file_order import replace_links
from mlecore.data.layout import DataDirs
from mlecore.data.preparing import prepare
from mlecore.data.sources import Archive, RawFolder, Synthetic
from mlecore.errors import DataError


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """400 files, which are links to others that were written in their order."""
    raw, public = tmp_path / "raw", tmp_path / "public"
    (public / "deep").mkdir(parents=True)
    raw.mkdir()
    for number in range(400):
        (raw / f"{number:03}").write_text(str(number))
        os.utime(raw / f"{number:03}", (number, number))
        (public / "deep" / f"{number:03}").hardlink_to(raw / f"{number:03}")
    return public


def test_numbers_and_times_tell_nothing_of_the_files_that_they_were_linked_from(linked: Path) -> None:
    replace_links(linked)
    found = [path.stat() for path in sorted((linked / "deep").iterdir())]
    assert [path.read_text() for path in sorted((linked / "deep").iterdir())] == [str(k) for k in range(400)]
    assert len({status.st_mtime for status in found}) == 1
    ranks = np.argsort(np.argsort([status.st_ino for status in found]))
    assert abs(np.corrcoef(ranks, np.arange(400))[0, 1]) < 0.3  # six standard deviations
    assert (linked.parent / "raw" / "007").stat().st_mtime == 7  # raw data are only read


def test_folders_list_them_in_no_order(linked: Path) -> None:
    """A file system in memory lists files in the order of their creation, as btrfs and small folders of xfs do."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("there is no /dev/shm")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        public = Path(folder, "public")
        (public / "deep").mkdir(parents=True)
        for number in range(400):
            Path(folder, f"{number:03}").touch()
            (public / "deep" / f"{number:03}").hardlink_to(Path(folder, f"{number:03}"))
        replace_links(public)
        listed = [int(path.name) for path in (public / "deep").iterdir()]
    assert abs(np.corrcoef(listed, np.arange(400))[0, 1]) < 0.3  # six standard deviations


def test_a_large_table_is_not_copied(linked: Path) -> None:
    """It is the only one of its kind: its number tells nothing of any other."""
    for name in ("train.bson", "a.parquet", "b.parquet"):
        (linked / name).hardlink_to(linked.parent / "raw" / "007")
    replace_links(linked)
    left = [path.name for path in linked.rglob("*") if path.is_file() and path.stat().st_nlink > 1]
    assert left == ["train.bson"]


def test_copies_are_not_begun_without_room_for_all(linked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = sum(path.stat().st_size for path in linked.rglob("*") if path.is_file())
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, size - 1))  # type: ignore[attr-defined]
    with pytest.raises(DataError, match="copies of raw files"):
        replace_links(linked)
    assert all(path.stat().st_nlink == 2 for path in linked.rglob("*") if path.is_file())


@pytest.fixture
def linking(tiny):  # type: ignore[no-untyped-def]
    """A competition whose training data are a link to the raw ones."""
    original = tiny.prepare

    def linking(raw: Path, public: Path, private: Path) -> None:
        original(raw, public, private)
        (public / "train.csv").unlink(missing_ok=True)
        (public / "train.csv").hardlink_to(raw / "train.csv")
        (public / "test.csv").unlink(missing_ok=True)
        (public / "test.csv").hardlink_to(raw / "train.csv")

    tiny.prepare = linking
    return tiny


def test_what_was_unpacked_here_is_linked_and_other_raw_data_are_not(  # type: ignore[no-untyped-def]
    linking, dirs: DataDirs, tiny_archive: Path, tmp_path: Path
) -> None:
    def links(source: Archive | RawFolder | Synthetic) -> bool:
        prepared = prepare(linking, dirs, source, force=True, keep_raw=True).prepared
        return (prepared.public / "train.csv").stat().st_nlink > 1

    (tmp_path / "mine").mkdir()
    linking.make_raw(tmp_path / "mine")
    assert links(Archive(tiny_archive))
    assert not links(RawFolder(tmp_path / "mine"))
    assert not links(Synthetic())
