"""A downloaded zip, unpacked on all cores; written for archives that mean harm.

Names are checked before anything is written, sizes while it is. Members are read with pread and inflated in threads:
zlib and the system calls release the GIL, and small files cost little Python each.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mlecore.data.folders import human, require
from mlecore.data.manifest import batched
from mlecore.errors import DataError

if TYPE_CHECKING:
    from mlecore.backends import Progress

_CHUNK = 1 << 20
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_BOMB_RATIO = 250  # deflate reaches 1032; no data set as a whole comes near
_BOMB_BYTES = 1 << 30  # small ones hurt nobody


def unpack(archive: Path, into: Path, progress: Progress | None = None) -> int:
    """Unpack into the new folder ``into``; returns the bytes written. What is inside stays packed.

    Raises DataError for an archive that is truncated or damaged, whose members would leave the folder, are links, hide
    each other or inflate beyond all measure, and when the disk has too little room for them (before it is touched).
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [info for info in opened.infolist() if not info.is_dir()]
            folders = [info.filename for info in opened.infolist() if info.is_dir()]
    except (zipfile.BadZipFile, EOFError, struct.error, ValueError, NotImplementedError) as error:
        raise _damaged(archive, str(error)) from None
    except OSError as error:
        raise DataError(f"{archive} cannot be read: {error.strerror or error}") from None
    _refuse_bomb(archive, members)
    targets = _targets(archive, members, into)
    into.parent.mkdir(parents=True, exist_ok=True)
    total = sum(info.file_size for info in members)
    require(into.parent, total, f"unpacking {archive.name}")
    into.mkdir()
    for folder in sorted({path.parent for path in targets} | {into / _safe(archive, name) for name in folders}):
        folder.mkdir(parents=True, exist_ok=True)
    done, guard = 0, threading.Lock()

    def count(size: int) -> None:
        nonlocal done
        with guard:
            done += size
            if progress is not None:
                progress(done, total, "unpacking")

    with archive.open("rb") as file, ThreadPoolExecutor(os.cpu_count()) as pool:
        descriptor = file.fileno()
        jobs = zip(members, targets, strict=True)
        try:
            for batch in batched(jobs, 4096):
                for _ in pool.map(lambda job: _extract(archive, descriptor, job[0], job[1], count), batch):
                    continue  # raises what a thread raised
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return total


def _targets(archive: Path, members: Sequence[zipfile.ZipInfo], into: Path) -> list[Path]:
    """Where each member goes; refuses those that would leave the folder, and two for one place."""
    targets, seen = [], set()
    for info in members:
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise DataError(f"{archive}: {info.filename!r} is a link or a special file; nothing has been unpacked")
        if info.flag_bits & 1:
            raise DataError(f"{archive}: {info.filename!r} is encrypted; nothing has been unpacked")
        path = _safe(archive, info.filename)
        if path in seen:
            raise DataError(f"{archive} holds {info.filename!r} twice; nothing has been unpacked")
        seen.add(path)
        targets.append(into / path)
    for path in seen:
        if clash := next((parent for parent in path.parents if parent in seen), None):
            raise DataError(f"{archive}: {str(clash)!r} is a file and a folder; nothing has been unpacked")
    return targets


def _safe(archive: Path, name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    foreign = os.name == "nt" and ("\\" in name or ":" in name)
    if not path.parts or path.is_absolute() or ".." in path.parts or foreign:
        raise DataError(f"{archive}: the member {name!r} would leave its folder; nothing has been unpacked")
    return path


def _refuse_bomb(archive: Path, members: Sequence[zipfile.ZipInfo]) -> None:
    """Members that share bytes of the archive, or that together are far larger than data can be."""
    end = 0
    for info in sorted(members, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise DataError(f"{archive}: the members overlap, as in a zip bomb; nothing has been unpacked")
        end = info.header_offset + info.compress_size
    size, total = archive.stat().st_size, sum(info.file_size for info in members)
    if end > size:
        raise _damaged(archive, "it ends before its last member does")
    if total > _BOMB_BYTES and total > _BOMB_RATIO * size:
        raise DataError(
            f"{archive} has {human(size)} and would unpack to {human(total)}: a zip bomb; nothing has been unpacked",
            fix="If it is not, unpack it yourself and use --raw DIR",
        )


def _extract(archive: Path, descriptor: int, info: zipfile.ZipInfo, target: Path, count: Callable[[int], None]) -> None:
    crc = written = 0
    try:
        with target.open("xb", buffering=0) as out:
            for data in _inflated(archive, descriptor, info):
                written += len(data)
                if written > info.file_size:
                    raise _damaged(archive, f"{info.filename!r} is larger than it says")
                crc = zlib.crc32(data, crc)
                out.write(data)
                count(len(data))
    except (zlib.error, struct.error, EOFError, zipfile.BadZipFile) as error:
        raise _damaged(archive, f"{info.filename!r}: {error}") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise DataError(f"{archive}: the name {info.filename[:80]!r}... is too long for this disk") from None
        raise
    if written != info.file_size or crc != info.CRC:
        raise _damaged(archive, f"{info.filename!r} has other content than it was packed with")


def _inflated(archive: Path, descriptor: int, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of a member in pieces of at most a megabyte or so."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or not hasattr(os, "pread"):
        try:  # bzip2, lzma; Windows
            with zipfile.ZipFile(archive) as opened, opened.open(info) as member:
                while data := member.read(_CHUNK):
                    yield data
        except NotImplementedError as error:
            raise DataError(
                f"{archive}: {info.filename!r}: {error}", fix="Unpack it with 7z and use --raw DIR"
            ) from None
        return
    header = _LOCAL_HEADER.unpack(os.pread(descriptor, _LOCAL_HEADER.size, info.header_offset))
    if header[0] != b"PK\x03\x04":
        raise _damaged(archive, f"no member begins where {info.filename!r} should")
    offset = info.header_offset + _LOCAL_HEADER.size + header[9] + header[10]
    end = offset + info.compress_size
    inflate = zlib.decompressobj(-15) if info.compress_type == zipfile.ZIP_DEFLATED else None
    while offset < end:
        packed = os.pread(descriptor, min(_CHUNK, end - offset), offset)
        if not packed:
            raise EOFError("the archive ends here")
        offset += len(packed)
        if inflate is None:
            yield packed
            continue
        while packed:
            yield inflate.decompress(packed, _CHUNK)
            packed = inflate.unconsumed_tail
    if inflate is not None:
        yield inflate.flush()


def _damaged(archive: Path, why: str) -> DataError:
    return DataError(
        f"{archive} is truncated or damaged: {why}", fix="Remove it and download it again; mlecore does so with --force"
    )
