"""Unpack a downloaded zip on all cores, safely even if it is hostile.

Names are checked before anything is written, sizes while it is. Members are read with pread and inflated in threads:
zlib and the system calls release the GIL, and small files cost little Python each.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import struct
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.bombs import refuse_zip_bomb
from mlecore.data.manifest import batched
from mlecore.data.room import require
from mlecore.data.scatter import WHEN, shuffled
from mlecore.errors import DataError

if TYPE_CHECKING:
    from mlecore.backends import Progress

_CHUNK = 1 << 20
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_PORTION = 4 << 20


Job = tuple[zipfile.ZipInfo, str]


def unpack(archive: Path, into: Path, progress: Progress | None = None) -> int:
    """Unpack into the new folder ``into``; returns the bytes written. What is inside stays packed.

    Raises DataError for an archive that is truncated or damaged, whose members would leave the folder, are links, have
    the same path or inflate too far, and, before anything is written, when the disk has too little room.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [info for info in opened.infolist() if not info.is_dir()]
            folders = [info.filename for info in opened.infolist() if info.is_dir()]
        if len(members) + len(folders) != _declared(archive):
            raise zipfile.BadZipFile("its directory is incomplete")
    except (zipfile.BadZipFile, EOFError, struct.error, ValueError, NotImplementedError) as error:
        raise _damaged(archive, str(error)) from None
    except OSError as error:
        raise DataError(f"{archive} cannot be read: {error.strerror or error}") from None
    refuse_zip_bomb(archive, members)
    paths = _paths(archive, members)
    made = _folders([*paths, *(f"{_safe(archive, name)}/" for name in folders)])
    if clash := made.intersection(paths):
        raise DataError(f"{archive}: {min(clash)!r} is a file and a folder; nothing was unpacked")
    into.parent.mkdir(parents=True, exist_ok=True)
    total = sum(info.file_size for info in members)
    require(into.parent, total, f"unpacking {archive.name}")
    into.mkdir()
    for folder in sorted(made):
        (into / folder).mkdir(exist_ok=True)
    _create(archive, into, paths)
    done, guard = 0, threading.Lock()

    def count(size: int) -> None:
        nonlocal done
        with guard:
            done += size
            if progress is not None:
                progress(done, total, "unpacking")

    with archive.open("rb") as file, ThreadPoolExecutor(os.cpu_count()) as pool:
        descriptor = file.fileno()

        def work(jobs: list[Job]) -> None:
            for info, path in jobs:
                _extract(archive, descriptor, info, f"{into}/{path}", count)

        try:
            for batch in batched(_portions(members, paths), 64):
                for _ in pool.map(work, batch):
                    continue  # raises what a thread raised
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return total


def _create(archive: Path, into: Path, paths: Sequence[str]) -> None:
    """Make the files, empty, in an order unrelated to that of the archive.

    Public files are links to these and have their inode numbers, which would reveal the order of the archive, often
    that of the labels. Many file systems take a file's number from near that of the folder that it is made in, and
    folders may be labels too, so all are made in the topmost one, and moved.
    """
    new = f"{into}/{secrets.token_hex(8)}"
    for path in shuffled(paths):
        target = f"{into}/{path}"
        try:
            os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            if os.path.lexists(target):
                raise DataError(f"{archive}: this disk cannot tell {path!r} from another member's name")
            os.rename(new, target)  # noqa: PTH104 - half the time of Path
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise DataError(f"{archive}: the name {path[:80]!r}... is too long for this disk") from None
            raise


def _portions(members: Sequence[zipfile.ZipInfo], paths: Sequence[str]) -> Iterator[list[Job]]:
    """Work for one thread at a time: a large member, or many small ones, which then cost little Python each."""
    portion: list[Job] = []
    size = 0
    for job in zip(members, paths, strict=True):
        portion.append(job)
        size += job[0].file_size
        if size > _PORTION or len(portion) == 256:
            yield portion
            portion, size = [], 0
    yield portion


def _declared(archive: Path) -> int:
    """How many members the end record names; zipfile believes a damaged directory."""
    with archive.open("rb") as file:
        file.seek(-min(archive.stat().st_size, (1 << 16) + 128), os.SEEK_END)
        tail = file.read()
    (count,) = struct.unpack_from("<H", tail, tail.rfind(b"PK\5\6") + 10)
    wide = tail.rfind(b"PK\6\6")  # zip64
    if count == 0xFFFF and wide >= 0:
        (count,) = struct.unpack_from("<Q", tail, wide + 32)
    return int(count)


def _paths(archive: Path, members: Sequence[zipfile.ZipInfo]) -> list[str]:
    """Where each member goes, below the folder; refuses those that would leave it, and two with one path."""
    paths: dict[str, None] = {}
    for info in members:
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise DataError(f"{archive}: {info.filename!r} is a link or a special file; nothing was unpacked")
        if info.flag_bits & 1:
            raise DataError(f"{archive}: {info.filename!r} is encrypted; nothing was unpacked")
        path = _safe(archive, info.filename)
        if path in paths:
            raise DataError(f"{archive} holds {info.filename!r} twice; nothing was unpacked")
        paths[path] = None
    return list(paths)


def _folders(paths: Iterable[str]) -> set[str]:
    """Every folder on the way to these paths, the topmost ("") included."""
    found = {""}
    for folder in {path.rpartition("/")[0] for path in paths}:
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _safe(archive: Path, name: str) -> str:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    foreign = os.name == "nt" and ("\\" in name or ":" in name)
    if not parts or name.startswith("/") or ".." in parts or foreign:
        raise DataError(f"{archive}: the member {name!r} would leave its folder; nothing was unpacked")
    return "/".join(parts)


def _extract(archive: Path, descriptor: int, info: zipfile.ZipInfo, target: str, count: Callable[[int], None]) -> None:
    crc = written = 0
    try:
        out = os.open(target, os.O_WRONLY | getattr(os, "O_BINARY", 0))
        try:
            for data in _inflated(archive, descriptor, info):
                written += len(data)
                if written > info.file_size:
                    raise _damaged(archive, f"{info.filename!r} is larger than it says")
                crc = zlib.crc32(data, crc)
                _write(out, data)
                count(len(data))
        finally:
            os.close(out)
        os.utime(target, (WHEN, WHEN))
    except (zlib.error, struct.error, EOFError, zipfile.BadZipFile) as error:
        raise _damaged(archive, f"{info.filename!r}: {error}") from None
    if written != info.file_size or crc != info.CRC:
        raise _damaged(archive, f"{info.filename!r} has other content than it was packed with")


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


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
        except (OSError, EOFError, ValueError) as error:
            if getattr(error, "errno", None) is not None:  # the disk's; bzip2 reports damage by an OSError without one
                raise
            raise _damaged(archive, f"{info.filename!r}: {error}") from None
        except _lzma_error() as error:
            raise _damaged(archive, f"{info.filename!r}: {error}") from None
        return
    inflate = zlib.decompressobj(-15) if info.compress_type == zipfile.ZIP_DEFLATED else None
    for packed in _packed(archive, descriptor, info):
        if inflate is None:
            yield packed
            continue
        while packed:
            yield inflate.decompress(packed, _CHUNK)
            packed = inflate.unconsumed_tail
    if inflate is not None:
        yield inflate.flush()


def _lzma_error() -> type[Exception]:
    import lzma  # few archives need it

    return lzma.LZMAError


def _packed(archive: Path, descriptor: int, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The compressed bytes of a member; those of a small one come with its header, in one read."""
    guess = _LOCAL_HEADER.size + len(info.filename) + 64
    data = os.pread(descriptor, min(_CHUNK, guess + info.compress_size), info.header_offset)
    header = _LOCAL_HEADER.unpack_from(data)
    if header[0] != b"PK\x03\x04":
        raise _damaged(archive, f"no member begins where {info.filename!r} should")
    start = _LOCAL_HEADER.size + header[9] + header[10]
    data = data[start : start + info.compress_size]
    if data:
        yield data
    offset = info.header_offset + start + len(data)
    end = info.header_offset + start + info.compress_size
    while offset < end:
        data = os.pread(descriptor, min(_CHUNK, end - offset), offset)
        if not data:
            raise EOFError("the archive ends here")
        offset += len(data)
        yield data


def _damaged(archive: Path, why: str) -> DataError:
    return DataError(f"{archive} is truncated or damaged: {why}", fix="Remove it, and have it downloaded again.")
