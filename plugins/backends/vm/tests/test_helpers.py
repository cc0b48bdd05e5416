"""The programs that connect a sandbox with the outside."""

from __future__ import annotations

import os
import re

import pytest
from mle_backend_vm.supervise import helpers
from mle_backend_vm.supervise.helpers import Helpers, Program
from mle_backend_vm.supervise.namespaces import Entrance


@pytest.mark.parametrize(
    ("script", "seconds", "why"),
    [
        ("echo no such place >&2; exit 1", 60.0, "network: no such place"),
        ("exec sleep 60", 0.2, "not ready after 0.2 s: "),
    ],
    ids=["failed", "slow"],
)
def test_one_that_does_not_get_ready_is_reported_with_the_reason(  # type: ignore[no-untyped-def]
    tmp_path, monkeypatch, script, seconds, why
) -> None:
    here = Entrance(os.getpid(), "net")  # no sandbox
    monkeypatch.setattr(helpers, "_READY", seconds)
    with pytest.raises(RuntimeError, match=re.escape(why)):
        Helpers(str(tmp_path), [Program(["sh", "-c", script], b"ready")], here).start()
