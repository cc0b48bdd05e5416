"""Recognises archives, and rejects damaged ones and bombs by their declared sizes."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from mlecore.errors import DataError, MlecoreError
from mlecore.util.file_kinds import describe
from mlecore.util.units import show_size

Kind = Literal["zip", "tar", "7z"]

RATIO = 250  # unpacked / packed size; deflate reaches 1032, but no whole data set comes close
SMALL = 1 << 30  # bytes; smaller archives do no harm

_STARTS: dict[bytes, Kind] = {
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",  # empty
    b"PK\x07\x08": "zip",  # split, with a marker in front
    b"PK00": "zip",  # meant to be split
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"\x1f\x8b": "tar",  # gzip
    b"BZh": "tar",
    b"\xfd7zXZ\0": "tar",
    b"]\0\0\x80": "tar",  # lzma
}


def archive_kind(archive: Path) -> Kind | None:
    """The kind of an archive by its first bytes, whatever its name; None if it is no archive. Compressed files are
    tars.

    The last bytes, where a zip has its directory, do not count: a tar.gz whose last stored member is a zip ends like a
    zip. So a self-extracting program, a zip behind other bytes, is no archive here. Raises DataError if the file is
    missing or cannot be read.
    """
    try:
        with archive.open("rb") as file:
            start = file.read(tarfile.BLOCKSIZE)
    except FileNotFoundError:
        raise DataError(f"{archive} is missing") from None
    except OSError as error:
        raise DataError(f"{archive} cannot be read: {error.strerror}") from None
    known = next((kind for begin, kind in _STARTS.items() if start.startswith(begin)), None)
    return known or ("tar" if _begins_tar(start) else None)


def _begins_tar(start: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(start, "utf-8", "surrogateescape")  # compares the checksum
    except tarfile.TarError as error:
        return isinstance(error, tarfile.EOFHeaderError)  # type: ignore[attr-defined]  # a tar without members
    except Exception:  # hostile numbers
        return False
    return True


def require_zip(archive: Path) -> None:
    """Raises DataError with the kind of file unless it begins as a zip."""
    if archive_kind(archive) != "zip":
        what, fix = describe(archive)
        raise DataError(f"{archive} is no zip archive: it is {what}", fix=fix)


def damaged(archive: Path | str, why: object, member: str | None = None) -> DataError:
    """The error for an archive that cannot be read, or for one of its members."""
    where = f"{archive}: member {member!r}" if member is not None else str(archive)
    return DataError(
        f"{where} is truncated or damaged: {why}",
        fix="Remove the archive, or the download that it is in, and download it again.",
    )


@contextmanager
def reading(archive: Path | str, member: str | None = None) -> Iterator[None]:
    """Turns all exceptions of a library for hostile or damaged bytes into DataError, but not errors of the disk."""
    try:
        yield
    except (MlecoreError, MemoryError):
        raise
    except OSError as error:
        if error.errno is not None:  # for damage, bzip2 and gzip raise an OSError without one
            raise
        raise damaged(archive, error, member) from None
    except NotImplementedError as error:
        raise DataError(f"{archive}: {error}", fix="Pack it with ordinary compression, and use --raw DIR.") from None
    except Exception as error:  # zipfile, tarfile and py7zr raise about twenty types
        cut_off = isinstance(error, zipfile.BadZipFile) and str(error) == "File is not a zip file"
        why = "its end is missing, as after an interrupted download" if cut_off else str(error) or type(error).__name__
        raise damaged(archive, why, member) from None


def refuse_bomb(archive: Path, declared: int) -> None:
    """Raises DataError if ``declared``, the total size of the members, is too much for an archive of this size."""
    size = archive.stat().st_size
    if declared > max(SMALL, RATIO * size):
        raise DataError(
            f"{archive} has {show_size(size)} and would unpack to {show_size(declared)}: a bomb; nothing of it was "
            "unpacked",
            fix="If it is not one, unpack it yourself and use --raw DIR",
        )


def refuse_zip_bomb(archive: Path, members: Sequence[zipfile.ZipInfo]) -> None:
    """Raises DataError for members that overlap, lie beyond the end of the archive, or are a bomb."""
    end = 0
    for info in sorted(members, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise DataError(f"{archive}: the members overlap, as in a zip bomb; nothing was unpacked")
        end = info.header_offset + info.compress_size
    if end > archive.stat().st_size:
        raise DataError(
            f"{archive} is truncated or damaged: it ends before its last member does",
            fix="Get a whole copy of it. What mlecore downloaded itself: remove it, and prepare again.",
        )
    refuse_bomb(archive, sum(info.file_size for info in members))
