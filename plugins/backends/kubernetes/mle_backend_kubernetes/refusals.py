"""Why the cluster creates no pod for a Job. Only its events tell: quotas, PodSecurity, a missing service account."""

from __future__ import annotations

import re
import time

from mle_backend_kubernetes.cluster import Cluster
from mle_backend_kubernetes.cluster_cache import Job
from mlecore.errors import BackendError
from mlecore.model.backends import JobStatus

_EVERY = 15.0  # seconds between two questions about one Job
_FOREVER = re.compile(r"violates PodSecurity|error looking up service account|admission webhook .* denied")
_FIXES = {
    "violates PodSecurity": "Label the namespace with a policy that allows it, or change -B pod-template.",
    "service account": "Create it, or name another one: serviceAccountName in -B pod-template.",
}


def fix_of(message: str) -> str:
    """What to do about a rejection; empty if only the cluster's administrator knows."""
    return next((fix for mark, fix in _FIXES.items() if mark in message), "")


class Refusals:
    """Asks for the events of a Job without a pod, now and then. Without the right to read events it knows nothing."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._asked: dict[str, tuple[float, str]] = {}  # uid of a Job -> when, and what was found

    def status(self, job: Job) -> JobStatus | None:
        """None: nothing keeps the cluster from creating its pod."""
        words = self._message(job)
        if not words:
            return None
        fix = fix_of(words)
        reason = f"the cluster rejects its pod: {words}" + (f". {fix}" if fix else "")
        return JobStatus(phase="pending", reason=reason, stuck=bool(_FOREVER.search(words)))

    def _message(self, job: Job) -> str:
        at, words = self._asked.get(job.uid, (-_EVERY, ""))
        if time.monotonic() - at < _EVERY:
            return words
        if len(self._asked) > 1000:
            self._asked.clear()
        self._asked[job.uid] = time.monotonic(), self._ask(job)
        return self._asked[job.uid][1]

    def _ask(self, job: Job) -> str:
        wanted = f"involvedObject.uid={job.uid},reason=FailedCreate"
        try:
            events = list(self._cluster.items(self._cluster.path("events"), fieldSelector=wanted))
        except BackendError:
            return ""
        last = max(events, key=lambda event: event.get("lastTimestamp") or "", default={})
        return str(last.get("message") or "").removeprefix("Error creating: ")
