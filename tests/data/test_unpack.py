"""Unpacking archives that mean well, are damaged, or mean harm."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import stat
import struct
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mlecore.data.file_order import NEUTRAL_TIME
from mlecore.data.unpack import unpack
from mlecore.errors import DataError

CONTENT = {
    "train.csv": b"id,y\n" * 20_000,
    "images/a/b/c.bin": random.Random(0).randbytes(1_200_000),
    "empty": b"",
    "inner.zip": b"PK stays packed",
    "ünïcode 名.txt": b"names",
}


def make(path: Path, content: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in content.items():
            archive.writestr(zipfile.ZipInfo(name), data, compression)
    return path


def read(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_went_in_comes_out(tmp_path: Path, compression: int) -> None:
    archive = make(tmp_path / "a.zip", CONTENT, compression)
    seen: list[tuple[int, int, str]] = []
    known = unpack(archive, tmp_path / "out", lambda *step: seen.append(step))
    assert read(tmp_path / "out") == CONTENT
    assert sum(map(len, CONTENT.values())) == seen[-1][0] == seen[-1][1]
    for name, content in CONTENT.items():
        assert known.sha256((tmp_path / "out" / name).stat()) == hashlib.sha256(content).digest()


def test_what_was_changed_or_copied_since_is_not_known(tmp_path: Path) -> None:
    known = unpack(make(tmp_path / "a.zip", CONTENT), tmp_path / "out")
    path = tmp_path / "out" / "train.csv"
    shutil.copyfile(path, tmp_path / "copy")
    os.utime(tmp_path / "copy", (NEUTRAL_TIME, NEUTRAL_TIME))
    assert known.sha256((tmp_path / "copy").stat()) is None
    path.chmod(0o644)
    path.write_bytes(path.read_bytes())
    assert known.sha256(path.stat()) is None


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_files_are_read_only_and_no_more_open_than_the_user_wants(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        unpack(make(tmp_path / "a.zip", CONTENT), tmp_path / "out")
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert modes == {0o444 & ~umask}
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700


def test_names_that_the_disk_takes_for_one_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = make(tmp_path / "a.zip", {"images/A.png": b"1", "images/a.png": b"2", "b.png": b"3"})
    rename = os.rename
    monkeypatch.setattr(os, "rename", lambda old, new: rename(old, new.lower()))
    with pytest.raises(DataError, match=r"cannot tell 'images/A\.png'"):
        unpack(archive, tmp_path / "out")


@pytest.mark.parametrize("size", [0, 20_000])
def test_inodes_do_not_tell_the_order_of_the_archive(tmp_path: Path, size: int) -> None:
    """Nor the folder that a file lies in."""
    unpack(make(tmp_path / "a.zip", {f"{i // 100}/{i:03}": bytes(size) for i in range(400)}), tmp_path / "out")
    numbers = [path.stat().st_ino for path in sorted((tmp_path / "out").rglob("???"))]
    assert len(numbers) == 400
    ranks = np.argsort(np.argsort(numbers))
    assert abs(np.corrcoef(ranks, np.arange(400))[0, 1]) < 0.3  # six standard deviations


def test_zip64_streamed_archives_and_folders_as_members(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("nothing/in here")
        with archive.open("big", "w", force_zip64=True) as member:
            member.write(b"x" * 100_000)
    unpack(tmp_path / "a.zip", tmp_path / "out")
    assert (tmp_path / "out/nothing/in here").is_dir() and (tmp_path / "out/big").stat().st_size == 100_000


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil", "a/./../../evil", ".."])
def test_no_member_escapes(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="leads out of the folder"):
        unpack(make(tmp_path / "a.zip", {"good": b"", name: b"x"}), tmp_path / "out")
    assert not (tmp_path / "out").exists() and not (tmp_path / "evil").exists()


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_special_files_are_refused(tmp_path: Path, kind: int) -> None:
    info = zipfile.ZipInfo("link")
    info.external_attr = (kind | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(DataError, match="a link or a special file"):
        unpack(tmp_path / "a.zip", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("names", [("a", "a"), ("a", "./a"), ("a", "a/b"), ("a/b", "a"), ("a", "a/")])
def test_two_members_for_one_place_are_refused(tmp_path: Path, names: tuple[str, str]) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive, warnings.catch_warnings(action="ignore"):
        for name in names:
            archive.writestr(name, name)
    with pytest.raises(DataError, match=r"twice|a file and a folder"):
        unpack(tmp_path / "a.zip", tmp_path / "out")


def test_a_bomb_is_refused_before_it_goes_off(tmp_path: Path, make_bomb: Callable[..., Path]) -> None:
    archive = make_bomb(tmp_path / "a.zip", 2 << 30)
    with pytest.raises(DataError, match="a bomb"):
        unpack(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_members_that_share_bytes_are_refused(tmp_path: Path) -> None:
    archive = make(tmp_path / "a.zip", {"a": b"0" * 100_000, "b": b"0" * 100_000})
    data = bytearray(archive.read_bytes())
    entry = data.rfind(b"PK\x01\x02")  # let b begin where a does
    data[entry + 42 : entry + 46] = struct.pack("<I", 0)
    archive.write_bytes(data)
    with pytest.raises(DataError, match="overlap"):
        unpack(archive, tmp_path / "out")


def test_a_member_that_claims_to_be_small_is_not_read_at_once(tmp_path: Path) -> None:
    archive = make(tmp_path / "a.zip", {"train.csv": bytes(64 << 20)}, zipfile.ZIP_STORED)
    data = bytearray(archive.read_bytes())
    directory = data.rfind(b"PK\1\2")
    data[directory + 24 : directory + 28] = struct.pack("<I", 10)
    archive.write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="larger than it says"):
            unpack(archive, tmp_path / "out")
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_every_truncation_and_damage_is_noticed(tmp_path: Path) -> None:
    content = {"a": b"hello " * 30, "b/c": random.Random(1).randbytes(40)}
    whole = make(tmp_path / "whole.zip", content).read_bytes()
    archive = tmp_path / "a.zip"
    for size in range(0, len(whole), 3):
        archive.write_bytes(whole[:size])
        with pytest.raises(DataError, match=r"truncated or damaged|is no zip archive"):
            unpack(archive, tmp_path / "out")
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
    draw = random.Random(0)
    for _ in range(300):
        data = bytearray(whole)
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        archive.write_bytes(data)
        try:
            unpack(archive, tmp_path / "out")
        except DataError:
            pass
        else:  # dates, modes and the like may differ; what is inside may not, nor leave
            assert sorted(read(tmp_path / "out").values()) == sorted(content.values())
        shutil.rmtree(tmp_path / "out", ignore_errors=True)


def test_an_encrypted_member_is_reported_as_such(tmp_path: Path) -> None:
    archive = make(tmp_path / "a.zip", {"a": b"secret"})
    data = bytearray(archive.read_bytes())
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(data)
    with pytest.raises(DataError, match="encrypted"):
        unpack(archive, tmp_path / "out")


def test_too_little_room_is_seen_before_the_disk_is_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = make(tmp_path / "a.zip", {"a": b"x" * 1_000_000})
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 999_999))  # type: ignore[attr-defined]
    with pytest.raises(DataError, match=r"1\.0 MB needed"):
        unpack(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()
