"""Archives: members moved, read and unpacked; hostile ones refused."""

from __future__ import annotations

import gzip
import io
import os
import random
import stat
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import py7zr
import pytest

from mlecore.data.unpack import unpack
from mlecore.errors import DataError
from mlecore_toolkit import (
    archives,
    extract,
    members,
    move_members,
    open_member,
    open_zip,
    write_7z,
    write_tar,
)
from mlecore_toolkit.archives import archive_kind
from mlecore_toolkit.prepare.files import NewFiles

CONTENT = {"top/a.txt": b"a" * 1000, "top/deep/b.txt": b"bee", "c.txt": b""}


def make(kind: str, path: Path, content: dict[str, bytes] = CONTENT) -> Path:
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            if content:
                archive.mkdir("top")
            for name, data in content.items():
                archive.writestr(name, data)
    elif kind == "7z":
        with py7zr.SevenZipFile(path, "w") as archive:
            for name, data in content.items():
                archive.writestr(data, name)
    else:
        with tarfile.open(path, f"w:{kind}") as archive:
            for name, data in content.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return path


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


KINDS = ["zip", "7z", "", "gz", "xz"]
TOO_LONG = {
    "deep": "a/" * 3000 + "x",
    "less deep": "a/" * 1500 + "x",  # short enough for the disk, too deep to walk
    "long": "x" * 300,
    "long in bytes": "\N{SNOWMAN}" * 100,
    "long in all": f"{'d' * 200}/" * 30 + "x",
}


@pytest.mark.parametrize("name", TOO_LONG.values(), ids=TOO_LONG)
@pytest.mark.parametrize("kind", KINDS)
def test_names_that_no_disk_holds_are_named_with_their_archive(tmp_path: Path, kind: str, name: str) -> None:
    archive = make(kind, tmp_path / "archive.whatever", {name: b"1", "b": b"2"})
    for unpacking in (extract, unpack) if kind == "zip" else (extract,):
        with pytest.raises(DataError, match=rf"archive\.whatever.*{name[:30]}"):
            unpacking(archive, tmp_path / "out")
    assert extract(archive, tmp_path / "other", {name: "1", "b": "b"}) == 2


def test_a_disk_that_takes_only_shorter_names_is_named_with_the_archive(tmp_path: Path) -> None:
    archive = make("zip", tmp_path / "archive.whatever", {f"{'d' * 200}/" * 9 + "x": b"1"})
    into = tmp_path.joinpath(*["e" * 240] * 11)
    into.mkdir(parents=True)
    for unpacking in (extract, unpack):
        with pytest.raises(DataError, match=r"archive\.whatever: the name .*this disk takes less"):
            unpacking(archive, into / unpacking.__name__)


@pytest.mark.parametrize("kind", KINDS)
def test_members_are_listed_and_unpacked(tmp_path: Path, kind: str) -> None:
    archive = make(kind, tmp_path / "archive.whatever")
    assert members(archive) == list(CONTENT)
    assert extract(archive, tmp_path / "all") == 3
    assert tree(tmp_path / "all") == CONTENT
    assert extract(archive, tmp_path / "some", {"top/deep/b.txt": "x/1.txt", "c.txt": "c.txt"}) == 2
    assert tree(tmp_path / "some") == {"x/1.txt": b"bee", "c.txt": b""}


def test_a_zip_is_unpacked_in_the_order_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(NewFiles, "write", lambda self, name, content: written.append(name))
    extract(make("zip", tmp_path / "archive"), tmp_path / "new", {"c.txt": "1", "top/a.txt": "2"})
    assert written == ["1", "2"]  # file times in the order of the archive may tell the labels


@pytest.mark.parametrize("size", [-1, -512, -(1 << 40)])
@pytest.mark.parametrize("type_", [tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_negative_size_neither_hangs_nor_reads_all(tmp_path: Path, size: int, type_: bytes) -> None:
    member = tarfile.TarInfo("a.txt")
    member.size, member.type = size, type_
    (tmp_path / "a.tar").write_bytes(member.tobuf(tarfile.GNU_FORMAT) + bytes(10_240))
    with pytest.raises(DataError, match="truncated or damaged"):
        extract(tmp_path / "a.tar", tmp_path / "new")


def test_members_of_every_size_come_out_of_each_kind(tmp_path: Path) -> None:
    draw = random.Random(0)
    content = {f"{size}.bin": draw.randbytes(size) for size in (0, 1, 511, 512, 16_384, 16_385, 65_536, 200_000)}
    with zipfile.ZipFile(tmp_path / "zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in content.items():
            packed.writestr(name, data)
    with tarfile.open(tmp_path / "tar", "w:gz") as tar:
        for name, data in content.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    for kind in ("zip", "tar"):
        extract(tmp_path / kind, tmp_path / f"all of {kind}")
        assert tree(tmp_path / f"all of {kind}") == content


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_missing_or_exists_already_is_reported(tmp_path: Path, kind: str) -> None:
    archive = make(kind, tmp_path / "archive")
    with pytest.raises(DataError, match=r"no member nope\.txt"):
        extract(archive, tmp_path / "new", {"nope.txt": "x"})
    (tmp_path / "c.txt").write_text("mine")
    with pytest.raises(DataError, match=r"c\.txt already exists"):
        extract(archive, tmp_path, {"c.txt": "c.txt"})
    assert (tmp_path / "c.txt").read_text() == "mine"
    with pytest.raises(DataError, match="outside"):
        extract(archive, tmp_path / "new", {"c.txt": "../x"})


@pytest.mark.parametrize("kind", ["zip", "gz"])
@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "a/../../evil"])
def test_no_member_escapes(tmp_path: Path, kind: str, name: str) -> None:
    archive = make(kind, tmp_path / "archive", {name: b"x"})
    with pytest.raises(DataError, match="outside"):
        extract(archive, tmp_path / "in" / "ner")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["archive"]


def test_links_are_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        info = tarfile.TarInfo("link")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(info)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        entry = zipfile.ZipInfo("link")
        entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    (tmp_path / "link").symlink_to("/etc/passwd")
    with py7zr.SevenZipFile(tmp_path / "x.7z", "w") as archive:
        archive.write(tmp_path / "link", "link")
    for kind in ("tar", "zip", "7z"):
        with pytest.raises(DataError):
            extract(tmp_path / f"x.{kind}", tmp_path / kind)
        assert not list((tmp_path / kind).rglob("*"))


def tar_that_ends_as_a_zip(path: Path) -> dict[str, bytes]:
    """A tar.gz with stored blocks, where the directory of its last member, a zip, can be found from the end."""
    content = {"a.txt": b"a" * 1000, "last.zip": make("zip", path.with_name("inner")).read_bytes()}
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        for name, data in content.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    path.write_bytes(gzip.compress(whole.getvalue(), compresslevel=0))
    assert zipfile.is_zipfile(path), "Python takes it for a zip"
    return content


@pytest.mark.parametrize("name", ["x.tar.gz", "x.zip"])
def test_the_first_bytes_tell_the_kind_of_an_archive(tmp_path: Path, name: str) -> None:
    content = tar_that_ends_as_a_zip(tmp_path / name)
    assert members(tmp_path / name) == list(content)
    extract(tmp_path / name, tmp_path / "out")
    assert tree(tmp_path / "out") == content
    with pytest.raises(DataError, match="is no zip archive"), open_zip(tmp_path / name):
        pass
    with pytest.raises(DataError, match="is no zip archive"):
        unpack(tmp_path / name, tmp_path / "download")
    assert not (tmp_path / "download").exists()


def test_every_kind_of_start_is_known(tmp_path: Path) -> None:
    for kind in [*KINDS, "bz2"]:
        assert archive_kind(make(kind, tmp_path / f"x.{kind}")) == (kind if kind in ("zip", "7z") else "tar")
    for kind, content in (
        ("zip", make("zip", tmp_path / "empty.zip", {}).read_bytes()),
        ("zip", b"PK\x07\x08" + (tmp_path / "x.zip").read_bytes()),
        ("tar", make("", tmp_path / "empty.tar", {}).read_bytes()),
        (None, b""),
        (None, b"PK"),
        (None, b"id,y\n" * 1000),
        (None, (tmp_path / "x.").read_bytes()[:300]),
    ):
        (tmp_path / "y").write_bytes(content)
        assert archive_kind(tmp_path / "y") == kind, content[:20]
    with pytest.raises(DataError, match="missing"):
        archive_kind(tmp_path / "none")


def test_members_move_without_being_inflated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = make("zip", tmp_path / "source.zip")
    packed = zipfile.ZipFile(source).getinfo("top/a.txt").compress_size
    monkeypatch.setattr(zlib, "decompressobj", lambda *_: pytest.fail("inflated"))
    monkeypatch.setattr(zlib, "compressobj", lambda *_: pytest.fail("deflated"))
    with open_zip(source) as archive:
        assert move_members(archive, tmp_path / "x" / "moved.zip", {"c.txt": "sea.txt", "top/a.txt": "à.txt"}) == 2
    monkeypatch.undo()
    with zipfile.ZipFile(tmp_path / "x" / "moved.zip") as moved:
        assert moved.namelist() == ["sea.txt", "à.txt"]  # not in the order of the source, which may tell the labels
        assert moved.getinfo("à.txt").compress_size == packed
        assert moved.testzip() is None
        assert moved.read("à.txt") == CONTENT["top/a.txt"]


def test_a_moved_archive_is_one_to_other_programs_too(tmp_path: Path) -> None:
    class Pipe(io.RawIOBase):  # members written to what cannot seek have their sizes behind the data
        def write(self, data: bytes) -> int:
            return whole.write(data)

    whole = io.BytesIO()
    with zipfile.ZipFile(Pipe(), "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[arg-type]
        archive.writestr("a", b"hello " * 100)
    (tmp_path / "source.zip").write_bytes(whole.getvalue())
    with open_zip(tmp_path / "source.zip") as source:
        assert source.getinfo("a").flag_bits & 8
        move_members(source, tmp_path / "moved.zip", {"a": "b"})
    subprocess.run(["unzip", "-tq", tmp_path / "moved.zip"], check=True, capture_output=True)
    assert zipfile.ZipFile(tmp_path / "moved.zip").read("b") == b"hello " * 100


def test_the_same_members_give_the_same_bytes(tmp_path: Path) -> None:
    source = make("zip", tmp_path / "source.zip")
    with open_zip(source) as archive:
        move_members(archive, tmp_path / "1.zip", {"c.txt": "c", "top/a.txt": "a"})
        move_members(archive, tmp_path / "2.zip", {"c.txt": "c", "top/a.txt": "a"})
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()


def test_nothing_to_move_makes_an_empty_archive(tmp_path: Path) -> None:
    with open_zip(make("zip", tmp_path / "source.zip")) as archive:
        assert move_members(archive, tmp_path / "empty.zip", {}) == 0
    assert zipfile.ZipFile(tmp_path / "empty.zip").namelist() == []


def test_what_cannot_be_moved_is_reported(tmp_path: Path) -> None:
    source = make("zip", tmp_path / "source.zip")
    data = bytearray(source.read_bytes())
    with open_zip(source) as archive, pytest.raises(DataError, match="no member nope"):
        move_members(archive, tmp_path / "1.zip", {"nope": "nope"})
    with open_zip(source) as archive, pytest.raises(DataError, match="outside"):
        move_members(archive, tmp_path / "2.zip", {"c.txt": "../c.txt"})
    with open_zip(source) as archive, pytest.raises(DataError, match="already exists"):
        move_members(archive, source, {"c.txt": "c.txt"})
    assert source.read_bytes() == data
    offset = zipfile.ZipFile(source).getinfo("c.txt").header_offset
    data[offset : offset + 4] = b"ruin"
    source.write_bytes(data)
    with open_zip(source) as archive, pytest.raises(DataError, match=r"'c\.txt' is truncated or damaged"):
        move_members(archive, tmp_path / "3.zip", {"c.txt": "c.txt"})


def test_a_member_is_read_as_a_stream(tmp_path: Path) -> None:
    source = make("zip", tmp_path / "source.zip")
    with open_member(source, "top/deep/b.txt") as stream:
        assert stream.read(2) == b"be"
    with pytest.raises(DataError, match="no member nope"), open_member(source, "nope"):
        pass


def test_write_7z_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_7z(tmp_path / f"{name}.7z", {"deep/a.txt": CONTENT["top/a.txt"], "b": b"b"})
    assert members(tmp_path / "one.7z") == ["deep/a.txt", "b"]
    assert extract(tmp_path / "one.7z", tmp_path / "out") == 2
    assert (tmp_path / "out/deep/a.txt").read_bytes() == CONTENT["top/a.txt"]
    with py7zr.SevenZipFile(tmp_path / "one.7z") as archive:
        assert archive.list()[0].creationtime.year == 1970
    assert (tmp_path / "one.7z").read_bytes() == (tmp_path / "two.7z").read_bytes()
    with pytest.raises(DataError, match="already exists"):
        write_7z(tmp_path / "one.7z", {"a": b""})


def test_write_7z_stores_files_in_their_order(tmp_path: Path) -> None:
    for name, data in CONTENT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_bytes(data)
    names = {"top/deep/b.txt": "b", "c.txt": "new/c", "top/a.txt": "a"}
    for archive in ("one", "two"):
        files = {new: tmp_path / old for old, new in names.items()}
        write_7z(tmp_path / f"{archive}.7z", files, stored=True)
        os.utime(tmp_path / "top/a.txt", (1, 1))
    assert (tmp_path / "one.7z").read_bytes() == (tmp_path / "two.7z").read_bytes()
    assert members(tmp_path / "one.7z") == list(names.values())
    extract(tmp_path / "one.7z", tmp_path / "out")
    assert tree(tmp_path / "out") == {new: CONTENT[old] for old, new in names.items()}
    with pytest.raises(DataError, match="gone is missing"):
        write_7z(tmp_path / "three.7z", {"gone": tmp_path / "gone"})


def test_a_nested_bomb_is_refused_before_anything_of_it_is_unpacked(
    tmp_path: Path, make_bomb: Callable[..., Path]
) -> None:
    archive = make_bomb(tmp_path / "nested.zip", 4_000_000_000)
    with pytest.raises(DataError, match="a bomb"):
        extract(archive, tmp_path / "out")
    with pytest.raises(DataError, match="a bomb"), open_member(archive, "a.csv"):
        pass
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("kind", ["gz", "7z"])
def test_other_kinds_are_refused_by_what_they_declare_too(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = make(kind, tmp_path / "archive", {"zeros": bytes(2_000_000), "more": bytes(2_000_000)})
    extract(archive, tmp_path / "small ones hurt nobody")
    monkeypatch.setattr(archives, "SMALL", 3_000_000)
    monkeypatch.setattr(archives, "RATIO", 10)
    with pytest.raises(DataError, match="a bomb"):
        extract(archive, tmp_path / "out", {"more": "more"})
    assert list((tmp_path / "out").iterdir()) == []


def test_a_tar_has_its_members_in_the_order_given_and_nothing_of_their_files(tmp_path: Path) -> None:
    for name in ("a/1", "b"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    write_tar(tmp_path, tmp_path / "x.tar", {"b": "new/z", "a/1": "y"})
    (tmp_path / "b").chmod(0o600)
    os.utime(tmp_path / "a/1", (1, 1))
    write_tar(tmp_path, tmp_path / "again.tar", {"b": "new/z", "a/1": "y"})
    assert (tmp_path / "x.tar").read_bytes() == (tmp_path / "again.tar").read_bytes()
    with tarfile.open(tmp_path / "x.tar", "r:") as archive:
        assert [(member.name, archive.extractfile(member).read()) for member in archive] == [  # type: ignore[union-attr]
            ("new/z", b"b"),
            ("y", b"a/1"),
        ]
    for name in ("x.tar.gz", "again.tar.gz"):  # the gzip header could hold a name and the time
        write_tar(tmp_path, tmp_path / name, {"b": "new/z", "a/1": "y"}, compressed=True)
    assert (tmp_path / "x.tar.gz").read_bytes() == (tmp_path / "again.tar.gz").read_bytes()
    assert gzip.decompress((tmp_path / "x.tar.gz").read_bytes()) == (tmp_path / "x.tar").read_bytes()
    for names, match in (({"c": "c"}, "missing"), ({"../b": "b"}, "outside")):
        with pytest.raises(DataError, match=match):
            write_tar(tmp_path, tmp_path / f"{match}.tar", names)
