"""The kit for backends passes, and an ordinary user may do the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from mlecore_testing.backends import check_backend

if TYPE_CHECKING:
    from conftest import Lab, OrdinaryUser

pytestmark = [pytest.mark.slurm, pytest.mark.slow, pytest.mark.sandbox]


def test_the_kit_passes(make_lab: Callable[..., Lab]) -> None:
    assert check_backend("slurm", make_lab().options) == []


_SCRIPT = """
import os, sys
from pathlib import Path
from mlecore_testing.backends.harness import BackendBench
from mlecore.plugins.loading import load

bench = BackendBench(load("backend", "slurm"), {"state": sys.argv[1] + "/state", "poll": "0.5"}, Path(sys.argv[1]))
handle, status = bench.run(bench.job("id -u; cat data/train.csv; exit 3", gpus=1))
print(os.getuid(), status.exit_code, status.sandbox.isolation is not None, bench.output(handle))
bench.clear()
"""


def test_an_ordinary_user_runs_agents(make_lab: Callable[..., Lab], ordinary_user: OrdinaryUser) -> None:
    make_lab()  # skips where no cluster answers
    work = ordinary_user.work
    done = ordinary_user.run(ordinary_user.python, "-c", _SCRIPT, str(work))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{ordinary_user.user.pw_uid} 3 True " + repr(b"1000\nid,y\n1,2\n")
    assert not [*(work / "state" / "queue").iterdir(), *(work / "state" / "jobs").iterdir()]
