"""What tests of several parts share."""

from __future__ import annotations

import importlib.util
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Any]:
    """A disk that can lose power and go away; see disks.py."""
    spec = importlib.util.spec_from_file_location("mlecore_test_disks", Path(__file__).with_name("disks.py"))
    assert spec and spec.loader
    disks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(disks)
    try:
        made = disks.Disk(tmp_path / "own-disk")
    except disks.NoDisk as error:
        pytest.skip(str(error))
    yield made
    made.close()


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
