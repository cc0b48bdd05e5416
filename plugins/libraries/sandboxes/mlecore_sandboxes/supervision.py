"""Jobs and their supervisors: start one, and tell from a job's folder how the job is getting on.

A job has one small file with its state; a supervisor that is alive keeps it up to date.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import mlecore_jobs
from mlecore.errors import BackendError
from mlecore.model.backends import GONE, Hardware, JobStatus
from mlecore.util.child_environment import child_environment
from mlecore_jobs.supervise import processes
from mlecore_jobs.supervise.cgroups import Group
from mlecore_jobs.supervise.files import LOCK, OUTPUT, STATE, read_json, write_json
from mlecore_jobs.supervise.processes import boot_id
from mlecore_jobs.supervise.spec import JobSpec, read_spec
from mlecore_sandboxes import pythons

_SUPERVISED = 20.0  # seconds until a supervisor must have taken over a job
_LAUNCH = "import sys; sys.path.append(sys.argv[1]); from mlecore_jobs.supervise.main import main; main(*sys.argv[2:])"


def supervise(folder: Path, root: Path, secrets: Mapping[str, str] | None = None, gateway: str | None = None) -> None:
    """Start a supervisor. Several may try: the folder's lock lets one through, and none once the job has a state.

    ``secrets`` and ``gateway``, the settings of the job's gateway, are never written to disk.
    """
    argv = [pythons.base_python(), "-I", "-S", "-c", _LAUNCH]
    argv += [str(Path(str(mlecore_jobs.__file__)).parents[1]), str(folder), str(root / "claims")]
    with (folder / "supervisor.log").open("ab") as log:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env={"PATH": child_environment().get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
            cwd="/",
            start_new_session=True,
        )
    with child:
        assert child.stdin and child.stdout
        with contextlib.suppress(BrokenPipeError):  # dead already: it says why in its log
            child.stdin.write(json.dumps({"secrets": dict(secrets or {}), "gateway": gateway}).encode())
            child.stdin.close()
        child.stdout.read(1)  # one byte, or the end of it
    limit = time.monotonic() + _SUPERVISED
    while not (folder / STATE).exists():
        if time.monotonic() > limit or not _locked(folder):
            if (folder / STATE).exists():
                return
            words = (folder / "supervisor.log").read_text(errors="replace")[-600:].strip()
            raise BackendError(f"no supervisor took the job {folder.name}: {words or sys.executable}")
        time.sleep(0.01)


def read_output(folder: Path, is_over: Callable[[], bool], offset: int, follow: bool) -> Iterator[bytes]:
    """See ``Backend.logs``; ``is_over``: has the job in this folder ended?"""
    while True:
        over = is_over()
        with contextlib.suppress(FileNotFoundError), (folder / OUTPUT).open("rb") as source:
            source.seek(offset)
            while chunk := source.read(1 << 20):
                offset += len(chunk)
                yield chunk
        if over or not follow:
            return
        time.sleep(0.2)


def _locked(folder: Path) -> bool:
    """Is a supervisor, perhaps of another controller, about to take the job?"""
    with (folder / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def note_failed_start(folder: Path, why: str) -> None:
    """Note that no supervisor could be started: this job is over, and a retry may succeed."""
    with (folder / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # there is one after all
            return
        if not (folder / STATE).exists():
            state = {"phase": "exited", "boot": boot_id(), "exit_code": None, "infra_failure": True, "reason": why}
            write_json(str(folder / STATE), state, durable=True)


def status(folder: Path, boot: str) -> JobStatus:
    """Status of one job; ``boot`` is the machine's boot_id()."""
    if not folder.is_dir():
        return GONE
    state = read_json(str(folder / STATE))
    if state is None:
        if (folder / STATE).exists():  # torn: only a crash of the machine does that
            return _lost("the machine stopped while it ran")
        spec = read_spec(str(folder))
        if spec is None and not folder.is_dir():  # removed in the meantime
            return GONE
        if not is_startable(spec, boot):
            return _lost("the machine stopped before it began")
        return JobStatus(phase="pending", reason="no supervisor has taken it yet")
    if state["phase"] != "exited" and not _supervised(state, boot):
        state = read_json(str(folder / STATE)) or state  # it may have ended between the two looks
    if state["phase"] == "exited":
        return JobStatus(
            phase="exited",
            exit_code=state.get("exit_code"),
            oom=bool(state.get("oom")),
            timed_out=bool(state.get("timed_out")),
            infra_failure=bool(state.get("infra_failure")),
            in_doubt=bool(state.get("in_doubt")),
            reason=str(state.get("reason", "")),
            seconds=state.get("seconds"),
            hardware=hardware(state.get("hardware")),
        )
    if state["boot"] != boot:
        return _lost("the machine was restarted while it ran")
    if not _supervised(state, boot):
        clean_up_after(folder, state)
        # Perhaps by a kernel short of memory: without a cgroup, nobody counts all that a job has it keep.
        return _lost("its supervisor was killed", in_doubt=not state.get("cgroup"))
    return JobStatus(phase=state["phase"], reason=str(state.get("reason", "")))


def hardware(measured: dict[str, Any] | None) -> Hardware | None:
    return Hardware(**{**measured, "gpus": tuple(measured["gpus"])}) if measured else None


def is_startable(spec: JobSpec | None, boot: str) -> bool:
    """Can what was laid out be started? After a power loss, any file of it may be empty."""
    return spec is not None and spec.boot == boot


def _supervised(state: dict[str, Any], boot: str) -> bool:
    return bool(state["boot"] == boot and processes.alive(int(state["pid"]), str(state["started"])))


def _lost(reason: str, in_doubt: bool = False) -> JobStatus:
    return JobStatus(phase="exited", infra_failure=True, in_doubt=in_doubt, reason=reason)


def clean_up_after(folder: Path, state: dict[str, Any]) -> None:
    """End what a killed supervisor left: only a complete sandbox ends with its supervisor."""
    for key in ("init", "sandbox"):
        if state.get(key):
            processes.end(int(state[key]), str(state.get(f"{key}_started", "")))
    if spec := read_spec(str(folder)):
        processes.end_tree(spec, None)
    if state.get("cgroup"):
        Group(str(state["cgroup"])).remove()
