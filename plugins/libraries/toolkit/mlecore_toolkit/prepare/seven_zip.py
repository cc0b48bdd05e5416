"""Makes py7zr write members to new files under other names, without their times and modes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from py7zr.io import Py7zIO, WriterFactory

from mlecore.util.files import write_all
from mlecore_toolkit.prepare.files import NewFiles


class Writers(WriterFactory):  # type: ignore[misc]
    """Opens files below a folder for members of an archive: old name to new name."""

    def __init__(self, into: Path, archive: Path, names: Mapping[str, str]) -> None:
        self._files = NewFiles(into, archive)
        self._names = {(into / old).as_posix(): new for old, new in names.items()}

    def create(self, filename: str) -> Py7zIO:
        return _Writer(self._files.open(self._names[filename]))


class _Writer(Py7zIO):  # type: ignore[misc]
    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "wb", buffering=0)  # closes itself if py7zr fails and does not
        self._size = 0

    def write(self, s: bytes | bytearray) -> int:
        write_all(self._file.fileno(), s)
        self._size += len(s)
        return len(s)

    def close(self) -> None:
        self._file.close()

    def size(self) -> int:
        return self._size

    def seek(self, offset: int, whence: int = 0) -> int:
        """Does nothing: py7zr rewinds a finished member for readers."""
        return 0

    def read(self, size: int | None = None) -> bytes:
        raise OSError("a member is only written")

    def flush(self) -> None:
        """Does nothing: writes are unbuffered."""
