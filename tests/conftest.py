"""What tests of several parts share."""

from __future__ import annotations

import shutil
import signal
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell starts so what it puts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # and what tests start would inherit it


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


@pytest.fixture
def uv() -> str:
    """The program uv: the workspace's own, else the one on the path."""
    beside = Path(__file__).parents[1] / ".tools" / "bin" / "uv"
    found = str(beside) if beside.exists() else shutil.which("uv")
    if found is None:
        pytest.skip("uv is not here")
    return found
