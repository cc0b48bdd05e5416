"""Leaving nothing behind: what belongs to a Job has it as its owner, and the cluster removes it, also without us."""

from __future__ import annotations

import contextlib
import time

from mle_backend_kubernetes import names
from mle_backend_kubernetes.cluster import Cluster, Exists, NotFound
from mlecore.backends import Handle

SECONDS = 20.0  # that are waited for the end; what takes longer, as on a node that is lost, goes on by itself


def remove(cluster: Cluster, handle: Handle) -> None:
    """See Backend.remove. The Job itself goes last, so that nothing is forgotten where this is cut off."""
    uid, path = names.uid(handle), cluster.path("jobs", handle.name)
    if not uid:  # a start that was cut off before there was a Job
        cluster.delete(cluster.path("services", names.gateway(handle.name)))
        return
    with contextlib.suppress(Exists):  # another Job of that name
        cluster.delete(path, propagationPolicy="Foreground", preconditions={"uid": uid})
    pause, deadline = 0.2, time.monotonic() + SECONDS
    with contextlib.suppress(NotFound):
        while cluster.get(path)["metadata"]["uid"] == uid and time.monotonic() < deadline:
            time.sleep(pause)
            pause = min(2.0, pause * 2)
