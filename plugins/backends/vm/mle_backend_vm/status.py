"""The status of jobs, from their folders: one small file per job, and whether its supervisor is alive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mle_backend_vm.supervise import processes
from mle_backend_vm.supervise.cgroups import Group
from mle_backend_vm.supervise.files import SPEC, STATE, read_json
from mlecore.backends import Hardware, JobStatus

GONE = JobStatus(phase="gone", reason="this machine has no such job")


def status(folder: Path, boot: str) -> JobStatus:
    """Of one job; ``boot`` is the machine's boot_id()."""
    if not folder.is_dir():
        return GONE
    state = read_json(str(folder / STATE))
    if state is None:
        if (folder / STATE).exists():  # torn: only a crash of the machine does that
            return _lost("the machine stopped while it ran")
        spec = read_json(str(folder / SPEC))
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
            hardware=_hardware(state.get("hardware")),
        )
    if state["boot"] != boot:
        return _lost("the machine was restarted while it ran")
    if not _supervised(state, boot):
        clean_up_after(folder, state)
        # Perhaps by a kernel short of memory: without a cgroup, nobody counts all that a job has it keep.
        return _lost("its supervisor was killed", in_doubt=not state.get("cgroup"))
    return JobStatus(phase=state["phase"], reason=str(state.get("reason", "")))


def _hardware(measured: dict[str, Any] | None) -> Hardware | None:
    return Hardware(**{**measured, "gpus": tuple(measured["gpus"])}) if measured else None


def is_startable(spec: dict[str, Any] | None, boot: str) -> bool:
    """Can what was laid out be started? After a power loss, any file of it may be empty."""
    return spec is not None and spec["boot"] == boot


def _supervised(state: dict[str, Any], boot: str) -> bool:
    return bool(state["boot"] == boot and processes.alive(int(state["pid"]), str(state["started"])))


def _lost(reason: str, in_doubt: bool = False) -> JobStatus:
    return JobStatus(phase="exited", infra_failure=True, in_doubt=in_doubt, reason=reason)


def clean_up_after(folder: Path, state: dict[str, Any]) -> None:
    """End what a killed supervisor left: only a complete sandbox ends with its supervisor."""
    for key in ("init", "sandbox"):
        if state.get(key):
            processes.end(int(state[key]), str(state.get(f"{key}_started", "")))
    processes.end_tree(read_json(str(folder / SPEC)) or {}, None)
    if state.get("cgroup"):
        Group(str(state["cgroup"])).remove()


def of_group(jobs: Path, group: str) -> Iterator[Path]:
    """Folders of a group's jobs."""
    try:
        folders = sorted(jobs.iterdir())
    except FileNotFoundError:
        return
    for folder in folders:
        spec = read_json(str(folder / SPEC))
        if spec is not None and spec.get("group") == group:
            yield folder
