"""Archives that declare more than they hold."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def make_bomb() -> Callable[..., Path]:
    """Makes a zip that declares more than it holds: a bomb that costs a test nothing."""

    def make(path: Path, declared: int, packed: int = 2_000_000, compression: int = zipfile.ZIP_DEFLATED) -> Path:
        """One member that declares ``declared`` bytes and holds ``packed`` zeros."""
        with zipfile.ZipFile(path, "w", compression) as archive:
            archive.writestr("a.csv", bytes(packed))
        data = bytearray(path.read_bytes())
        entry = data.rfind(b"PK\x01\x02")
        data[entry + 24 : entry + 28] = struct.pack("<I", declared)
        path.write_bytes(data)
        return path

    return make
