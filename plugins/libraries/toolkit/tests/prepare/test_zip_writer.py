"""Zips as they are written: the same bytes from the same content, with every version of Python."""

from __future__ import annotations

import stat
import struct
import zipfile
from pathlib import Path

import pytest

from mlecore.errors import DataError
from mlecore_toolkit import ZipWriter


def test_a_zip_is_written_with_fixed_times_and_modes(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"from a file")
    for name in ("1.zip", "2.zip"):
        with ZipWriter(tmp_path / name) as archive:
            archive.add("folder/", b"")
            archive.add("folder/a", b"a" * 1000)
            archive.add_file("b", tmp_path / "file")
            with archive.open("c") as stream:
                stream.write(b"in ")
                stream.write(b"pieces")
        (tmp_path / "file").touch()
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "1.zip") as archive:
        assert {i.filename: i.date_time for i in archive.infolist()} == dict.fromkeys(
            ["folder/", "folder/a", "b", "c"], (1980, 1, 1, 0, 0, 0)
        )
        assert archive.read("b") == b"from a file" and archive.read("c") == b"in pieces"
        assert archive.getinfo("folder/a").compress_size < 100 and archive.getinfo("folder/").is_dir()
        assert archive.getinfo("b").external_attr >> 16 == stat.S_IFREG | 0o644
    with ZipWriter(tmp_path / "stored.zip", stored=True) as archive:
        archive.add("a", b"a" * 1000)
    assert zipfile.ZipFile(tmp_path / "stored.zip").getinfo("a").compress_type == zipfile.ZIP_STORED
    with pytest.raises(DataError, match="already exists"):
        ZipWriter(tmp_path / "stored.zip")


def test_python_3_11_2_writes_the_same_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(name: str) -> bytes:
        with ZipWriter(tmp_path / name) as archive, archive.open("table.csv") as member:
            member.write(b"id,y\n" * 1000)
        return (tmp_path / name).read_bytes()

    header = zipfile.ZipInfo.FileHeader

    def as_in_3_11_2(self: zipfile.ZipInfo, zip64: bool | None = None) -> bytes:
        """With the sizes in 32 bits as well, and the version that the member had before."""
        version = self.extract_version
        written = header(self, zip64)
        sizes = struct.pack("<LL", self.compress_size, self.file_size)
        return written[:4] + bytes([version]) + written[5:18] + sizes + written[26:]

    now = write("now.zip")
    monkeypatch.setattr(zipfile.ZipInfo, "FileHeader", as_in_3_11_2)
    assert write("then.zip") == now
