"""What a job has written is counted again before long, even on a slow disk."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from mle_backend_vm.supervise.disk import Count


@pytest.mark.parametrize("took, pause", [(0, 5), (2, 40), (600, 100)])
def test_the_pause_grows_with_a_count_but_has_a_limit(
    tmp_path: Path, wait_until: Callable[..., None], took: float, pause: float
) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100_000)
    count = Count([str(tmp_path)], 5.0)
    count._start(time.monotonic() - took, 0)
    wait_until(count.look)
    assert count.bytes >= 100_000
    assert pause - 1 < count._next - time.monotonic() < pause + 10
