"""Take one job and supervise it, in a process of its own that outlives the controller."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from . import keyring, processes
from .files import LOCK, STATE
from .spec import read_spec
from .supervisor import Supervisor


def main(folder: str, claims_folder: str) -> None:
    """What must not lie on a disk comes as JSON on standard input; one byte on standard output says: it is taken."""
    given = json.load(sys.stdin)
    if os.fork():
        os._exit(0)  # the controller waits for this one only
    take(folder, claims_folder, given, _say_taken)


def _say_taken() -> None:
    with contextlib.suppress(BrokenPipeError):  # the controller may have been killed meanwhile
        os.write(1, b".")
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)


def take(folder: str, claims_folder: str, given: dict[str, Any], taken: Callable[[], object]) -> None:
    """Supervise the job in this process, to its end; at once back if it has a supervisor, or had one.

    ``taken`` is called when the job is this one's. Raises what keeps the supervisor from working, which the job's
    state then says, too.
    """
    os.chdir("/")
    keyring.leave()
    lock = os.open(f"{folder}/{LOCK}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another supervisor has it
        return
    spec = read_spec(folder)
    if spec is None or os.path.exists(f"{folder}/{STATE}"):  # noqa: PTH110 - begun before: never twice
        return
    supervisor = Supervisor(folder, claims_folder, given, spec)
    supervisor.save()
    taken()
    try:
        supervisor.run()
    except BaseException as error:
        import traceback

        traceback.print_exc()
        processes.end_tree(spec, os.getpid())
        words = f"its supervisor failed: {type(error).__name__}: {error}"
        supervisor.save(phase="exited", exit_code=None, infra_failure=True, reason=words)
        raise
