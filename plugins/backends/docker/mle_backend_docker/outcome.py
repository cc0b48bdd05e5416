"""How a job ended, and what caused it.

The engine keeps an exit code and whether the memory limit was hit. init's exit.json (as reported by the sandbox) says
whether it was asked to end. That an end was an infrastructure failure is believed only on evidence that no agent can
make up: the engine no longer remembers the end of the job, since it keeps its events in memory and has started again,
it sent the job a signal that we did not ask for (also while it stops itself), or init was killed.
"""

from __future__ import annotations

import contextlib
import io
import json
import tarfile
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from attrs import evolve

from mle_backend_docker.gpus import models
from mlecore.errors import BackendError
from mlecore.model.backends import INIT_KILLED, LOST_SIGHT, Hardware, JobStatus
from mlecore_jobs.hardware import cpu_model
from mlecore_sandboxes.containers import OVERTIME, STOPPED, exited, lost, names, of_code
from mlecore_sandboxes.containers.engine import Engine, moment

KILL_MARGIN = 30.0  # seconds after limit and grace; so long, too, after a sleep of this machine that took up the rest
EXIT = "/home/.mlecore/exit.json"
STOP_SIGNAL = 2  # SIGINT, which init takes like SIGTERM; the engine and its users send SIGTERM or SIGKILL


def status(engine: Engine, container: str) -> JobStatus | None:
    """Status of a container that has ended or has not started; None if it is gone."""
    import docker.errors

    with engine.request(f"looking at how {container[:12]} ended"):
        try:
            inspected = engine.api.inspect_container(container)
            state = inspected["State"]
            if state.get("Running"):
                return JobStatus(phase="running")
            if str(state.get("Status")) in ("created", "configured", "initialized"):
                return _not_started(engine, inspected)
            return evolve(_ended(engine, inspected), seconds=_seconds(state), hardware=_hardware(engine, inspected))
        except docker.errors.NotFound:
            return None


def _seconds(state: Mapping[str, Any]) -> float:
    """For how long it ran, by the engine's clock."""
    began, ended = (moment(str(state[key])) for key in ("StartedAt", "FinishedAt"))
    return max(0.0, (ended - began).total_seconds())


def _hardware(engine: Engine, inspected: Mapping[str, Any]) -> Hardware:
    """What the engine's machine has, and what the container was given of it."""
    info, given = engine.info, inspected["HostConfig"]
    ids = str((inspected["Config"].get("Labels") or {}).get(names.GPUS) or "")
    memory = int(info.get("MemTotal") or 0)
    return Hardware(
        cpus=given["NanoCpus"] / 1e9 if given.get("NanoCpus") else info.get("NCPU"),
        cpu=cpu_model(),  # the engine is on this machine
        memory=min(filter(None, (int(given.get("Memory") or 0), memory)), default=None),
        gpus=tuple(models().get(id, "unknown") for id in filter(None, ids.split(","))),
        kernel=" ".join(str(info.get(key) or "") for key in ("OSType", "KernelVersion", "Architecture")).strip(),
    )


def _not_started(engine: Engine, inspected: Mapping[str, Any]) -> JobStatus:
    state = inspected["State"]
    if error := str(state.get("Error") or ""):
        return lost(state.get("ExitCode"), error)
    events = _events(engine, inspected)
    if _stopped_since(
        engine, moment(str(inspected["Created"])), "create", events
    ):  # a power loss takes it back to then
        return lost(None, "the Docker engine (or this machine) stopped, and knows no more than that it was created")
    return JobStatus(phase="pending", reason="created, not started yet")


def _ended(engine: Engine, inspected: Mapping[str, Any]) -> JobStatus:
    """In the order of the evidence: what the engine knows it did, then what the kernel did, then init's own word."""
    state = inspected["State"]
    code = int(state["ExitCode"])
    ended = moment(str(state["FinishedAt"]))
    oom = bool(state.get("OOMKilled")) and code not in (0, 124)
    report = _report(engine, str(inspected["Id"])) or {}
    stopped = report.get("stopped") is True
    asked_to_end = stopped or not (report or oom)
    events = _events(engine, inspected) if asked_to_end else ()
    if asked_to_end and _stopped_since(engine, ended, "die", events):
        return lost(code, "the Docker engine (or this machine) stopped while it ran, or no longer knows how it ended")
    if _overran(inspected) and code != 124:
        return exited(code, OVERTIME, timed_out=True)
    signals = [str(event["Actor"]["Attributes"].get("signal")) for event in events if event["Action"] == "kill"]
    if str(STOP_SIGNAL) in signals:
        return exited(code, STOPPED)
    if signals:
        return lost(code, "the engine was stopping, or somebody had it end the job (docker stop, kill or rm)")
    if oom:
        limit = inspected["HostConfig"].get("Memory") or 0
        reason = f"out of memory: the limit was {limit / 2**30:.2f} GiB" if limit else "out of memory"
        return exited(code, reason, oom=True)
    if stopped and code not in (LOST_SIGHT, INIT_KILLED):
        reason = "its first process was asked to end, which the engine did not do and any of the job's processes can"
        return exited(code, reason)
    if not report and code in (125, 126, 127):
        return exited(code, f"init could not start (exit code {code}); the image may lack /bin/sh")
    return of_code(code)


def _report(engine: Engine, container: str) -> dict[str, Any] | None:
    """What init wrote at its end; None if it did not get that far or the agent spoilt it."""
    import docker.errors

    try:
        stream, _ = engine.api.get_archive(container, EXIT)
        data = b""
        for chunk in stream:
            data += chunk
            if len(data) > 1 << 16:
                return None
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            member = tar.next()
            content = tar.extractfile(member) if member is not None and member.isreg() else None
            report = json.loads(content.read()) if content is not None else None
    except (docker.errors.NotFound, tarfile.TarError, ValueError):
        return None
    return report if isinstance(report, dict) else None


def _events(engine: Engine, inspected: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """What the engine remembers to have happened to a container: it keeps its last 256 events, in memory."""
    since = moment(str(inspected["Created"])).timestamp() - 1
    # A moment that has passed, by the engine's own clock: else it keeps the answer open until then, and one that stops
    # never ends it.
    until = moment(str(engine.api.info()["SystemTime"])).timestamp()
    filters = {"container": inspected["Id"], "event": ["create", "kill", "die"]}
    events = engine.api.events(since=f"{since:.6f}", until=f"{until:.6f}", filters=filters, decode=True)
    try:
        return list(events)
    finally:
        events.close()


def _stopped_since(engine: Engine, when: datetime, action: str, events: Sequence[Mapping[str, Any]]) -> bool:
    """Has the engine stopped since ``action`` happened to a container? True also where nothing tells.

    If it remembers that, it has been running since. If not, a busy engine may have forgotten it: then the default
    bridge tells, which it creates each time it starts, unless it has none or containers live through its restart.
    """
    import docker.errors

    if any(event["Action"] == action for event in events):
        return False
    try:
        created = str(engine.api.inspect_network("bridge")["Created"])
    except docker.errors.NotFound:
        return True
    return moment(created) > when


class Backstop:
    """Kills containers that are beyond their time, when they are looked at.

    init enforces the time limit. But an agent has the same rights, and can hold it with ptrace.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._since: dict[str, float] = {}  # container -> when it was first seen beyond its time
        self._lock = threading.Lock()

    def look(self, listed: Mapping[str, Any]) -> None:
        """At a running container, as the engine lists it."""
        import docker.errors

        seconds = _time_allowed(listed.get("Labels"))
        if time.time() - float(listed["Created"]) <= seconds:  # it was started later still
            return
        id = str(listed["Id"])
        with (
            contextlib.suppress(BackendError, docker.errors.NotFound),  # it may end meanwhile; else the next look tells
            self._engine.request(f"ending {id[:12]}, whose time is up"),
        ):
            began = moment(self._engine.api.inspect_container(id)["State"]["StartedAt"])
            over = (datetime.now(UTC) - began).total_seconds() - seconds
            if over > KILL_MARGIN and self._overdue(id) > KILL_MARGIN:
                self._engine.api.kill(id)
            elif over > 0:
                self._overdue(id)

    def _overdue(self, id: str) -> float:
        """Seconds since it was first seen beyond its time."""
        now = time.monotonic()
        with self._lock:
            return now - self._since.setdefault(id, now)


def _overran(inspected: Mapping[str, Any]) -> bool:
    """Did a container that has ended run so long that init cannot have kept its time?"""
    began, ended = (moment(str(inspected["State"][key])) for key in ("StartedAt", "FinishedAt"))
    return (ended - began).total_seconds() > _time_allowed(inspected["Config"].get("Labels")) + KILL_MARGIN


def _time_allowed(labels: Mapping[str, str] | None) -> float:
    """Seconds: time limit and grace."""
    return float((labels or {}).get(names.SECONDS) or "inf")
