"""The programs that connect a sandbox with the outside."""

from __future__ import annotations

import os
import re

import pytest
from mle_backend_vm.supervise import helpers
from mle_backend_vm.supervise.helpers import Helpers, Program
from mle_backend_vm.supervise.namespaces import Entrance


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo no such place >&2; exit 1", "network: no such place"),
        ("exec sleep 60", "not ready after 0.2 s: "),
    ],
    ids=["failed", "slow"],
)
def test_one_that_does_not_get_ready_is_reported_with_the_reason(tmp_path, monkeypatch, script, why) -> None:  # type: ignore[no-untyped-def]
    here = Entrance(os.getpid(), "net")  # no sandbox
    monkeypatch.setattr(helpers, "_READY", 0.2)
    with pytest.raises(RuntimeError, match=re.escape(why)):
        Helpers(str(tmp_path), [Program(["sh", "-c", script], b"ready")], here).start()
