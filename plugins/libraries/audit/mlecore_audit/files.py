"""Every public file as a stream, members of archives included, whatever is nested in whatever.

Memory stays bounded: members are read as streams, one archive at a time; a 7z archive, which cannot be read in parts,
is unpacked to scratch space. What cannot be read is reported, and the rest is read.
"""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import lzma
import re
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from calendar import timegm
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal

from attrs import frozen

from mlecore.errors import DataError
from mlecore_toolkit.archives import RATIO, SMALL, refuse_zip_bomb

Packing = Literal["", "zip", "tar", "7z", "gzip", "bz2", "xz", "base64"]
Failed = Callable[[str, str], None]  # (name of the file, what went wrong)

HEAD = 512  # bytes that show what a file is
_DEPTH = 3  # of archives in archives
_STARTS: tuple[tuple[bytes, Packing], ...] = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\0", "xz"),
)
_NO_TEXT = (b"%PDF", b"(dp0", b"(lp0")  # the last two: pickles
_CONTROLS = bytes({*range(32)} - {*b"\t\n\v\f\r\x1b"})
_BASE64 = re.compile(rb"(?=[A-Za-z0-9+/]{60})(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+/=\s]+")
_ENCODED = 256 << 20  # bytes of base64 that are decoded at once


def _decoded(file: IO[bytes]) -> IO[bytes]:
    return io.BytesIO(base64.b64decode(file.read(_ENCODED)))


_UNPACK: dict[str, Callable[[Any], Any]] = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open, "base64": _decoded}
BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, DataError)
BROKEN += (OSError, EOFError, ValueError, RuntimeError, NotImplementedError)  # type: ignore[assignment]


@frozen(kw_only=True)
class Item:
    """A file below ``public/``, or a member of an archive there."""

    name: str  # below the prepared folder: "public/train/1.png", "public/x.zip!train/1.png"
    path: Path  # the file on disk
    size: int  # bytes, unpacked
    packed: int | None = None  # bytes in a zip; None elsewhere
    time: float | None = None  # of its last change, in seconds since 1970
    place: int = 0  # in its archive; of a file, its inode
    comment: str = ""  # of a member of a zip

    @property
    def inner(self) -> str:
        """Its path as an agent sees it after unpacking all archives."""
        return self.name.removeprefix("public/").replace("!", "/")

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Its content. A member of a tar or 7z is looked for from the archive's start: to read many, use ``contents``.

        Raises KeyError for a member that is not there, and the errors of ``BROKEN``.
        """
        _, *members = self.name.split("!")
        with ExitStack() as stack:
            stream: IO[bytes] = stack.enter_context(self.path.open("rb"))
            for member in members:
                stream = stack.enter_context(_member(stream, member))
            yield stream


def packing(head: bytes) -> Packing:
    """How a file is packed, by its first bytes; empty: it is no archive."""
    if head[257:262] == b"ustar":
        return "tar"
    if _BASE64.fullmatch(head):
        return "base64"
    return next((kind for start, kind in _STARTS if head.startswith(start)), "")


def is_text(head: bytes) -> bool:
    """By the first bytes of a file: none is a control character that texts do not have."""
    return head.translate(None, _CONTROLS) == head and not head.startswith(_NO_TEXT)


def listing(root: Path, failed: Failed | None = None) -> Iterator[Item]:
    """Every file below ``root``/public, and each archive's members after it (not those of archives in archives)."""
    for path in _paths(root, failed):
        item = _item(root, path)
        yield item
        with path.open("rb") as file:
            try:
                if packing(file.read(HEAD)) == "zip":
                    with zipfile.ZipFile(file) as archive:
                        yield from (member for member, _ in _zipped(item, archive))
                else:
                    yield from (member for member, _ in _members(item, file, item.size))
            except BROKEN as error:
                _say(failed, item.name, error)


def contents(root: Path, failed: Failed | None = None, folder: str = "public") -> Iterator[tuple[Item, IO[bytes]]]:
    """Every file with its content, and after each archive its members with theirs. A stream is valid until the next."""
    for path in _paths(root, failed, folder):
        item = _item(root, path)
        with path.open("rb") as file:
            yield item, file
            yield from _inside(item, file, failed, _DEPTH)


def _paths(root: Path, failed: Failed | None, folder: str = "public") -> Iterator[Path]:
    """Regular files; a pipe would block, and a link may lead anywhere."""
    for path in sorted((root / folder).rglob("*")):
        if path.is_symlink():
            _say(failed, path.relative_to(root).as_posix(), DataError("a symbolic link is not followed"))
        elif path.is_file():
            yield path


def _item(root: Path, path: Path) -> Item:
    status = path.stat()
    name = path.relative_to(root).as_posix()
    return Item(name=name, path=path, size=status.st_size, time=status.st_mtime, place=status.st_ino)


def _inside(item: Item, file: IO[bytes], failed: Failed | None, depth: int) -> Iterator[tuple[Item, IO[bytes]]]:
    try:
        if depth == 0:
            file.seek(0)
            if packing(file.read(HEAD)):
                raise DataError(f"archives are opened {_DEPTH} deep")
            return
        for member, stream in _members(item, file, item.size):
            yield member, stream
            yield from _inside(member, stream, failed, depth - 1)
    except BROKEN as error:
        _say(failed, item.name, error)


def _say(failed: Failed | None, name: str, error: BaseException) -> None:
    if failed is not None:
        failed(name, str(error) or type(error).__name__)


def _members(item: Item, file: IO[bytes], size: int) -> Iterator[tuple[Item, IO[bytes]]]:
    """Those of an archive, in its order; a single compressed file is its own only member; nothing else has any.

    Unlike ``extract``, which rejects a whole archive for a link or a name that comes twice, this reads the rest of it:
    an agent can do so too.
    """
    if not file.seekable():
        return
    file.seek(0)
    kind = packing(file.read(HEAD))
    file.seek(0)

    def member(name: str, size: int, place: int, time: float | None = None) -> Item:
        return Item(name=f"{item.name}!{name}", path=item.path, size=size, time=time, place=place)

    if kind == "zip":
        with zipfile.ZipFile(file) as archive:
            for zipped, info in _zipped(item, archive):
                with archive.open(info) as stream:
                    yield zipped, stream
    elif kind == "7z":
        with _unpacked_7z(file) as folder:
            for place, path in enumerate(sorted(path for path in folder.rglob("*") if path.is_file())):
                with path.open("rb") as stream:
                    status = path.stat()
                    yield (
                        member(path.relative_to(folder).as_posix(), status.st_size, place, status.st_mtime),
                        stream,
                    )
    elif kind and (kind == "tar" or _is_tar(kind, file)):
        file.seek(0)
        with tarfile.open(fileobj=file) as tar:
            place = 0
            for entry in tar:
                if entry.isreg() and (content := tar.extractfile(entry)) is not None:
                    yield member(entry.name, entry.size, place, entry.mtime), content
                    place += 1
                tar.members = []  # type: ignore[attr-defined]  # else it remembers all
    elif kind:
        file.seek(0)
        name = Path(item.name.rpartition("!")[2]).stem
        with _UNPACK[kind](file) as stream:
            yield member(name, size, 0), stream


def _zipped(item: Item, archive: zipfile.ZipFile) -> Iterator[tuple[Item, zipfile.ZipInfo]]:
    """The files of a zip by its directory, which may lie about them."""
    _refuse_bomb(item, archive.infolist())
    for place, info in enumerate(entry for entry in archive.infolist() if not entry.is_dir()):
        yield (
            Item(
                name=f"{item.name}!{info.filename}",
                path=item.path,
                size=info.file_size,
                packed=info.compress_size,
                time=_zip_time(info),
                place=place,
                comment=info.comment.decode("utf-8", "replace"),
            ),
            info,
        )


def _refuse_bomb(item: Item, members: list[zipfile.ZipInfo]) -> None:
    if "!" not in item.name:
        refuse_zip_bomb(item.path, members)
    elif sum(info.file_size for info in members) > max(SMALL, RATIO * item.size):
        raise DataError(f"{item.name} declares members of more than {RATIO} times its own size")


def _is_tar(kind: Packing, file: IO[bytes]) -> bool:
    file.seek(0)
    with _UNPACK[kind](file) as stream:
        return packing(stream.read(HEAD)) == "tar"


@contextmanager
def _member(file: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    probe = Item(name="x", path=Path("x"), size=0)
    head = file.read(HEAD)
    file.seek(0)
    if packing(head) == "zip":
        with zipfile.ZipFile(file) as archive, archive.open(name) as stream:
            yield stream
        return
    for member, stream in _members(probe, file, 0):
        if member.name in (f"x!{name}", "x!x"):
            yield stream
            return
    raise KeyError(f"no member {name}")


def _zip_time(info: zipfile.ZipInfo) -> float | None:
    return float(timegm((*info.date_time, 0, 0, 0))) if info.date_time > (1980, 1, 1, 0, 0, 0) else None


@contextmanager
def _unpacked_7z(file: IO[bytes]) -> Iterator[Path]:
    from mlecore_toolkit.prepare.archives import extract

    with tempfile.TemporaryDirectory(prefix="mlecore-audit-") as name:
        packed, into = Path(name, "x.7z"), Path(name, "out")
        with packed.open("wb") as copy:
            shutil.copyfileobj(file, copy)
        extract(packed, into)
        with suppress(OSError):
            packed.unlink()
        yield into
