"""What kind of archive a file is, and the error for a damaged one."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from mlecore.errors import DataError, MlecoreError

Kind = Literal["zip", "tar", "7z"]

_STARTS: dict[bytes, Kind] = {
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",  # an empty one
    b"PK\x07\x08": "zip",  # one that was split, with a marker in front
    b"PK00": "zip",  # one that was to be split
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"\x1f\x8b": "tar",  # gzip
    b"BZh": "tar",
    b"\xfd7zXZ\0": "tar",
    b"]\0\0\x80": "tar",  # lzma
}


def archive_kind(archive: Path) -> Kind | None:
    """The kind of an archive by its first bytes, whatever its name; None if it is none. Compressed files count as tars.

    Never by its last bytes, where a zip has its directory: a tar.gz with stored blocks whose last member is a zip ends
    as a zip does. So a program that unpacks itself, which is a zip behind other bytes, is not an archive here. Raises
    DataError if the file is missing or cannot be read.
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
    """Raises DataError unless the file begins as a zip does."""
    if archive_kind(archive) != "zip":
        raise damaged(archive, "it does not begin as a zip does")


def damaged(archive: Path | str, why: object, member: str | None = None) -> DataError:
    """The error for an archive that cannot be read, or for one of its members."""
    where = f"{archive}: member {member!r}" if member is not None else str(archive)
    return DataError(
        f"{where} is truncated or damaged: {why}",
        fix="Remove the archive, or the download that it is in, and download it again.",
    )


@contextmanager
def reading(archive: Path | str, member: str | None = None) -> Iterator[None]:
    """Turns whatever a library raises for hostile or damaged bytes into DataError. Errors of the disk pass."""
    try:
        yield
    except (MlecoreError, MemoryError):
        raise
    except OSError as error:
        if error.errno is not None:  # bzip2 and gzip report damage by an OSError without one
            raise
        raise damaged(archive, error, member) from None
    except NotImplementedError as error:
        raise DataError(f"{archive}: {error}", fix="Pack it with ordinary compression, and use --raw DIR.") from None
    except Exception as error:  # zipfile, tarfile and py7zr raise some twenty types
        raise damaged(archive, str(error) or type(error).__name__, member) from None
