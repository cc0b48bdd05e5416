"""What tests of several parts share."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell starts so what it puts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # and what tests start would inherit it


@pytest.fixture
def uv() -> str:
    """The program uv: the workspace's own, else the one on the path."""
    beside = Path(__file__).parents[1] / ".tools" / "bin" / "uv"
    found = str(beside) if beside.exists() else shutil.which("uv")
    if found is None:
        pytest.skip("uv is not here")
    return found
