"""What a job has written is counted again before long, even on a slow disk."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mle_backend_vm.supervise.disk import Count


@pytest.mark.parametrize(("cpu", "took", "pause"), [(0, 0, 5), (2, 3, 40), (0, 30, 30), (0, 600, 100), (60, 60, 100)])
def test_the_pause_grows_with_a_count_but_has_a_limit(
    tmp_path: Path,
    wait_until: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    cpu: float,
    took: float,
    pause: float,
) -> None:
    """Mostly with its CPU seconds: on a busy machine even a small count takes long by the clock."""
    (tmp_path / "file").write_bytes(b"x" * 100_000)
    real = os.wait4

    def used(child: int, options: int) -> tuple[int, int, Any]:
        ended, status, _ = real(child, options)
        return ended, status, SimpleNamespace(ru_utime=cpu, ru_stime=0.0)

    monkeypatch.setattr(os, "wait4", used)
    count = Count([str(tmp_path)], 5.0)
    count._start(time.monotonic() - took, 0)
    wait_until(count.look)
    assert count.bytes >= 100_000
    assert pause - 1 < count._next - time.monotonic() < pause + 10
