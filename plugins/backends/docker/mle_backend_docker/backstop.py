"""The time limit from outside, where init does not keep it: its agent has its rights, and can hold it with ptrace."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from mle_backend_docker import names
from mle_backend_docker.engine import Engine, moment
from mlecore.errors import BackendError

MORE = 30.0  # seconds after limit and grace; so long, too, after a sleep of this machine that took up the rest
REASON = "the time limit passed and init did not end the job"


class Backstop:
    """Kills containers that are beyond their time, when they are looked at."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._since: dict[str, float] = {}  # container -> since when it is known to be beyond its time
        self._lock = threading.Lock()

    def look(self, listed: Mapping[str, Any]) -> None:
        """At a running container, as the engine lists it."""
        import docker.errors

        seconds = _seconds(listed.get("Labels"))
        if time.time() - float(listed["Created"]) <= seconds:  # it was started later still
            return
        id = str(listed["Id"])
        with (
            contextlib.suppress(BackendError, docker.errors.NotFound),  # it may end meanwhile; else the next look tells
            self._engine.request(f"ending {id[:12]}, whose time is up"),
        ):
            began = moment(self._engine.api.inspect_container(id)["State"]["StartedAt"])
            over = (datetime.now(UTC) - began).total_seconds() - seconds
            if over > MORE and self._known(id) > MORE:
                self._engine.api.kill(id)
            elif over > 0:
                self._known(id)

    def _known(self, id: str) -> float:
        """For how long it has been known to be beyond its time."""
        now = time.monotonic()
        with self._lock:
            return now - self._since.setdefault(id, now)


def overran(inspected: Mapping[str, Any]) -> bool:
    """Did a container that has ended run so long that init cannot have kept its time?"""
    began, ended = (moment(str(inspected["State"][key])) for key in ("StartedAt", "FinishedAt"))
    return (ended - began).total_seconds() > _seconds(inspected["Config"].get("Labels")) + MORE


def _seconds(labels: Mapping[str, str] | None) -> float:
    return float((labels or {}).get(names.SECONDS) or "inf")
