"""Hold one job: start its first process, end it and all that descends from it, write down how it ended.

A script: python -I hold.py FOLDER, with the job's variables as its own. It returns at once and lives on.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import sys
import time
from pathlib import Path

SUBREAPER = 36  # prctl: orphans among our descendants become our children
BACKSTOP = 20.0  # seconds after limit and grace: init is overdue


def descendants() -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, look = [], [os.getpid()]
    while look:
        children = parents.get(look.pop(), [])
        found += children
        look += children
    return found


def write(folder: Path, **state: object) -> None:
    (folder / "state.part").write_text(json.dumps(state))
    (folder / "state.part").replace(folder / "state.json")


def hold(folder: Path) -> None:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    job = json.loads((folder / "job.json").read_text())
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    init = os.fork()
    if init == 0:
        os.setsid()
        os.chdir(folder / "home")
        for number, path, flags in ((0, "stdin", os.O_RDONLY), (1, "output", os.O_WRONLY | os.O_APPEND)):
            os.dup2(os.open(folder / path, flags), number)
        os.dup2(1, 2)
        os.execv("/bin/sh", ["/bin/sh", str(folder / "opt" / "init"), *job["argv"]])
    write(folder, pid=os.getpid(), boot=boot)
    code, timed_out = None, False
    overdue, kill_at = time.monotonic() + job["time_limit"] + job["grace"] + BACKSTOP, float("inf")
    while True:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == init:
                    code = os.waitstatus_to_exitcode(ended[1])
        left = descendants()
        if code is not None and not left:
            break
        now = time.monotonic()
        if kill_at == float("inf") and (folder / "stop").exists():
            kill_at = now + float((folder / "stop").read_text())
            with contextlib.suppress(ProcessLookupError):
                os.kill(init, signal.SIGTERM)
        timed_out = timed_out or (code is None and now > overdue)
        if code is not None or timed_out or now > kill_at:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    write(folder, exit_code=code if code >= 0 else 128 - code, timed_out=timed_out)


def main(folder: Path) -> None:
    if os.fork():
        return
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # held already
        return
    if not (folder / "state.json").exists():
        hold(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
