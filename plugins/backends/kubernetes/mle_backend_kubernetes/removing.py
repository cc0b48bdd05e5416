"""Removes everything, with two requests: what belongs to a Job has it as its owner, and goes before it does.

Nobody waits for the end: the cluster takes seconds for it, or minutes where a node is lost, and needs nobody.
"""

from __future__ import annotations

import contextlib

from mle_backend_kubernetes import names
from mle_backend_kubernetes.cluster import Cluster, Exists
from mle_backend_kubernetes.tracked import Tracked
from mlecore.backends import Handle


def remove(cluster: Cluster, tracked: Tracked, handle: Handle) -> None:
    """See Backend.remove."""
    uid, path = names.uid(handle), cluster.path("jobs", handle.name)
    if not uid:  # a start that was cut off before there was a Job
        cluster.delete(cluster.path("services", names.gateway(handle.name)))
        return
    with contextlib.suppress(Exists):  # another Job of that name
        cluster.delete(path, propagationPolicy="Foreground", preconditions={"uid": uid})
    tracked.forget(uid)
    # After an outage the cluster may overlook this one, which came late. It keeps its claim, and that keeps the Job.
    if tracked.pods.find(names.files(handle.name)) is not None:
        cluster.delete(cluster.path("pods", names.files(handle.name)))
