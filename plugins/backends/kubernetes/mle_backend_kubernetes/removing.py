"""Removes everything: what belongs to a Job has it as its owner, and the cluster removes it, even without us."""

from __future__ import annotations

import contextlib

from mle_backend_kubernetes import names
from mle_backend_kubernetes.cluster import Cluster, Exists
from mle_backend_kubernetes.tracked import Jobs
from mlecore.backends import Handle

SECONDS = 20.0  # that we wait for the end; if a node is lost it takes longer, and needs nobody


def remove(cluster: Cluster, jobs: Jobs, handle: Handle) -> None:
    """See Backend.remove. The Job itself goes last, so that nothing is forgotten where this is cut off."""
    uid, path = names.uid(handle), cluster.path("jobs", handle.name)
    if not uid:  # a start that was cut off before there was a Job
        cluster.delete(cluster.path("services", names.gateway(handle.name)))
        return
    with contextlib.suppress(Exists):  # another Job of that name
        cluster.delete(path, propagationPolicy="Foreground", preconditions={"uid": uid})
    jobs.until(lambda: jobs.get(uid) is None, SECONDS)
