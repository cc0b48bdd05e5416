"""Whatever is wrong with an archive within a download, preparing ends in a DataError that names it."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import py7zr
import pytest

from mlecore.errors import DataError, MlecoreError
from mlecore_testing import Trial
from mlecore_toolkit import extract
from mlecore_toolkit.archives import archive_kind

Content = dict[str, bytes]
Damage = Callable[[bytes], bytes]

# ------------------------------------------------------------------ any archive


def middle_inverted(data: bytes) -> bytes:
    at, length = len(data) // 3, max(1, len(data) // 10)
    return data[:at] + bytes(byte ^ 0xFF for byte in data[at : at + length]) + data[at + length :]


ANY: dict[str, Damage] = {
    "empty": lambda data: b"",
    "a page to log in": lambda data: b"<html>Please log in</html>" * 50,
    "half of it": lambda data: data[: len(data) // 2],
    "its last bytes lost": lambda data: data[:-30],
    "its first bytes lost": lambda data: data[30:],
    "only its start": lambda data: data[:40],
    "a page behind its start": lambda data: data[:6] + b"<html>Please log in</html>" * 50,
    "zeros behind its start": lambda data: data[:6] + bytes(len(data)),
    "other bytes within": middle_inverted,
    "a folder": lambda data: data,  # see below
}


# ------------------------------------------------------------------ zip


def _unzipped(data: bytes) -> Content:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist() if not info.is_dir()}


def _zipped(members: Iterator[tuple[zipfile.ZipInfo, bytes]], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of duplicate names
        for info, data in members:
            info.compress_type = compression
            archive.writestr(info, data)
    return out.getvalue()


def _rezipped(change: Callable[[str, bytes], list[tuple[str, bytes, int]]]) -> Damage:
    def damage(data: bytes) -> bytes:
        def members() -> Iterator[tuple[zipfile.ZipInfo, bytes]]:
            for old, content in _unzipped(data).items():
                for name, body, mode in change(old, content):
                    info = zipfile.ZipInfo(name)
                    info.create_system, info.external_attr = 3, mode << 16
                    yield info, body

        return _zipped(members())

    return damage


def _in_headers(local: int, central: int, form: str, value: int) -> Damage:
    """Sets a field of every member, in its own header and in the list of members."""

    def damage(data: bytes) -> bytes:
        out = bytearray(data)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            places = [info.header_offset + local for info in archive.infolist()]
            at = archive.start_dir
            for _ in archive.infolist():
                places.append(at + central)
                at += 46 + sum(struct.unpack_from("<3H", data, at + 28))
        for place in places:
            struct.pack_into(form, out, place, value)
        return bytes(out)

    return damage


def _deflated_wrong(data: bytes) -> bytes:
    out = bytearray(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            name, extra = struct.unpack_from("<2H", data, info.header_offset + 26)
            start = info.header_offset + 30 + name + extra
            out[start : start + info.compress_size] = b"\xff" * info.compress_size
    return bytes(out)


def _packed_otherwise(compression: int, spoil: bytes) -> Damage:
    """Packed by bzip2 or lzma, then spoiled: their libraries have errors of their own."""

    def damage(data: bytes) -> bytes:
        packed = _zipped(((zipfile.ZipInfo(name), body) for name, body in _unzipped(data).items()), compression)
        out = bytearray(packed)
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            for info in archive.infolist():
                start = info.header_offset + 30 + len(info.filename.encode()) + 8
                out[start : start + len(spoil)] = spoil
        return bytes(out)

    return damage


REGULAR, LINK = stat.S_IFREG | 0o644, stat.S_IFLNK | 0o777

ZIP: dict[str, Damage] = {
    "wrong checksum": _in_headers(14, 16, "<I", 12345),
    "wrong deflate data": _deflated_wrong,
    "encrypted": _in_headers(6, 8, "<H", 1),
    "an unknown compression": _in_headers(8, 10, "<H", 99),
    "an old compression": _in_headers(8, 10, "<H", 6),
    "a bomb": _in_headers(22, 24, "<I", 0xFFFFFFF0),
    "no room for the members": _in_headers(18, 20, "<I", 0x7FFFFFF0),
    "members elsewhere": _in_headers(0, 42, "<I", 0x7FFFFFFF),
    "members over each other": _in_headers(0, 42, "<I", 0),
    "names outside": _rezipped(lambda name, body: [(f"../{name}", body, REGULAR)]),
    "absolute names": _rezipped(lambda name, body: [(f"/{name}", body, REGULAR)]),
    "links": _rezipped(lambda name, body: [(name, b"/etc/passwd", LINK)]),
    "pipes": _rezipped(lambda name, body: [(name, b"", stat.S_IFIFO | 0o644)]),
    "names twice": _rezipped(lambda name, body: [(name, body, REGULAR), (name, body[::-1], REGULAR)]),
    "other names": _rezipped(lambda name, body: [(f"x/{name}", body, REGULAR)]),
    "bytes in front": lambda data: b"#!/bin/sh\nexit\n" + data,
    "wrong bzip2 data": _packed_otherwise(zipfile.ZIP_BZIP2, b"\xff" * 20),
    "wrong lzma data": _packed_otherwise(zipfile.ZIP_LZMA, b"\xff" * 20),
    "no names": lambda data: data.replace(b"PK\1\2", b"PK\1\3"),
    "names that are no text": lambda data: _in_headers(30, 46, "<B", 0xFF)(_in_headers(6, 8, "<H", 0x800)(data)),
}


# ------------------------------------------------------------------ tar


def _untarred(data: bytes) -> Content:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {info.name: archive.extractfile(info).read() for info in archive if info.isreg()}  # type: ignore[union-attr]


def _retarred(change: Callable[[tarfile.TarInfo, bytes], list[tuple[tarfile.TarInfo, bytes]]]) -> Damage:
    def damage(data: bytes) -> bytes:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz") as archive:
            for name, content in _untarred(data).items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                for member, body in change(info, content):
                    archive.addfile(member, io.BytesIO(body))
        return out.getvalue()

    return damage


def _set(info: tarfile.TarInfo, values: dict[str, object]) -> tarfile.TarInfo:
    for name, value in values.items():
        setattr(info, name, value)
    return info


def _header(kind: bytes, size: int) -> Damage:
    """A member of any size; tarfile would read long names and the like into memory."""

    def damage(data: bytes) -> bytes:
        info = tarfile.TarInfo(next(iter(_untarred(data))))
        info.type, info.size = kind, size
        return gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 20))

    return damage


TAR: dict[str, Damage] = {
    "names outside": _retarred(lambda info, body: [(_set(info, {"name": f"../{info.name}"}), body)]),
    "absolute names": _retarred(lambda info, body: [(_set(info, {"name": f"/{info.name}"}), body)]),
    "links": _retarred(
        lambda info, body: [(_set(info, {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd", "size": 0}), b"")]
    ),
    "hard links": _retarred(
        lambda info, body: [(_set(info, {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd", "size": 0}), b"")]
    ),
    "pipes": _retarred(lambda info, body: [(_set(info, {"type": tarfile.FIFOTYPE, "size": 0}), b"")]),
    "names twice": _retarred(lambda info, body: [(info, body), (info, body)]),
    "other names": _retarred(lambda info, body: [(_set(info, {"name": f"x/{info.name}"}), body)]),
    "a bomb": _header(tarfile.REGTYPE, 1 << 42),
    "a large pax header": _header(tarfile.XHDTYPE, 1 << 30),
    "a large name": _header(tarfile.GNUTYPE_LONGNAME, 1 << 30),
    "wrong checksum": lambda data: gzip.compress(gzip.decompress(data))[:-8] + b"\1" * 8,
    "gzip of a page": lambda data: gzip.compress(b"<html>Please log in</html>" * 50),
    "bzip2 of a page": lambda data: bz2.compress(b"<html>Please log in</html>" * 50),
    "xz of a page": lambda data: lzma.compress(b"<html>Please log in</html>" * 50),
    "wrong bzip2": lambda data: bz2.compress(gzip.decompress(data))[:300] + b"\xff" * 300,
    "wrong xz": lambda data: lzma.compress(gzip.decompress(data))[:100] + b"\xff" * 300,
    "wrong deflate": lambda data: gzip.compress(gzip.decompress(data))[:20] + b"\xff" * 300,
}


# ------------------------------------------------------------------ 7z


def _un7z(data: bytes) -> Content:
    with py7zr.SevenZipFile(io.BytesIO(data)) as archive:
        factory = py7zr.io.BytesIOFactory(1 << 30)
        archive.extractall(factory=factory)
        return {name: product.read() for name, product in factory.products.items()}


def _re7z(change: Callable[[str, bytes], list[tuple[str, bytes]]], password: str | None = None) -> Damage:
    def damage(data: bytes) -> bytes:
        out = io.BytesIO()
        with py7zr.SevenZipFile(out, "w", password=password) as archive:
            for name, body in _un7z(data).items():
                for new, content in change(name, body):
                    archive.writestr(content, new)
        return out.getvalue()

    return damage


def _inverted_at(place: float) -> Damage:
    def damage(data: bytes) -> bytes:
        at = min(len(data) - 4, 32 + int(place * (len(data) - 32)))
        return data[:at] + bytes(byte ^ 0xFF for byte in data[at : at + 4]) + data[at + 4 :]

    return damage


def _header_inverted(data: bytes) -> bytes:
    """Another list of members, with the checksums that it should have."""
    offset, size = struct.unpack_from("<QQ", data, 12)
    header = bytes(byte ^ 0x55 for byte in data[32 + offset : 32 + offset + size])
    start = struct.pack("<QQI", offset, size, zlib.crc32(header))
    return data[:8] + struct.pack("<I", zlib.crc32(start)) + start + data[32 : 32 + offset] + header


SEVEN: dict[str, Damage] = {
    "names twice": _re7z(lambda name, body: [(name, body), (name, body[::-1])]),
    "other names": _re7z(lambda name, body: [(f"x/{name}", body)]),
    "encrypted": _re7z(lambda name, body: [(name, body)], password="secret"),
    "wrong list of members": _header_inverted,
    **{f"wrong bytes at {place:.0%}": _inverted_at(place) for place in (0.0, 0.25, 0.5, 0.9, 0.99)},
}

DAMAGES = {"zip": ANY | ZIP, "tar": ANY | TAR, "7z": ANY | SEVEN}


# ------------------------------------------------------------------ tests


def archives(raw: Path) -> list[Path]:
    return sorted(path for path in raw.rglob("*") if path.is_file() and archive_kind(path) is not None)


def defects(trial: Trial, path: Path) -> list[str]:
    """Kinds of damage to one archive of the raw data that raise no DataError naming the archive."""
    data, kind = path.read_bytes(), archive_kind(path)
    assert kind is not None
    found = []
    place = f"{trial.competition.id}/{path.relative_to(trial.raw).as_posix()}"
    for name, damage in DAMAGES[kind].items():
        path.unlink()
        try:
            if name == "a folder":
                path.mkdir()
            else:
                path.write_bytes(damage(data))
            trial.prepare(trial.raw)
            found.append(f"{place}, {name}: prepared")
        except DataError as error:
            if path.name not in str(error):
                found.append(f"{place}, {name}: {error}")
        except Exception as error:
            found.append(f"{place}, {name}: {type(error).__name__}: {error}")
        finally:
            if path.is_dir():
                path.rmdir()
            path.write_bytes(data)
    return found


def opened(trial: Trial, path: Path) -> bool:
    """Is it opened at all, or published as it is?"""
    data = path.read_bytes()
    path.write_bytes(b"no archive")
    try:
        trial.prepare(trial.raw)
    except MlecoreError:
        return True
    finally:
        path.write_bytes(data)
    return False


@pytest.mark.parametrize("kind", ["zip", "tar", "7z"])
def test_extract_names_the_archive(tmp_path: Path, kind: str) -> None:
    content = {"t/a.txt": bytes(range(256)) * 500, "b": b"text " * 1000, "c.txt": os.urandom(20_000)}
    write = {"zip": _zip_of, "tar": _tar_of, "7z": _7z_of}[kind]
    whole = write(content)
    (tmp_path / "whole").write_bytes(whole)
    assert extract(tmp_path / "whole", tmp_path / "out", {name: name for name in content}) == 3
    for number, (name, damage) in enumerate(DAMAGES[kind].items()):
        path = tmp_path / f"damaged.{number}"
        if name == "a folder":
            path.mkdir()
        else:
            path.write_bytes(damage(whole))
        try:
            extract(path, tmp_path / "out" / str(number), {name: name for name in content})
        except DataError as error:
            assert path.name in str(error), name
        else:
            pytest.fail(f"{name}: unpacked")


def _zip_of(content: Content) -> bytes:
    return _zipped((zipfile.ZipInfo(name), body) for name, body in content.items())


def _tar_of(content: Content) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, body in content.items():
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return out.getvalue()


def _7z_of(content: Content) -> bytes:
    out = io.BytesIO()
    with py7zr.SevenZipFile(out, "w") as archive:
        for name, body in content.items():
            archive.writestr(body, name)
    return out.getvalue()


COMPETITIONS = (
    "denoising-dirty-documents",
    "dogs-vs-cats-redux-kernels-edition",
    "mlsp-2013-birds",
    "statoil-iceberg-classifier-challenge",
)


@pytest.mark.slow
@pytest.mark.parametrize("id", COMPETITIONS)
def test_preparing_names_the_archive(id: str, tmp_path: Path) -> None:
    trial = Trial(id, tmp_path, size=0.02)
    used = [path for path in archives(trial.raw) if opened(trial, path)]
    assert used
    assert [line for path in used for line in defects(trial, path)] == []
