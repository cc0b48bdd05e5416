"""Reaching a run's files, while it runs and afterwards: through a pod of ours that mounts its claim, or its keeper.

The pod is made when it is first needed, belongs to the run's Job, and goes with it. A program is run in it for each
request; nothing depends on a connection that stays.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import IO, Any

from mle_backend_kubernetes import names, pods
from mle_backend_kubernetes.cluster import Cluster
from mle_backend_kubernetes.exec import Broken, Stream, execute
from mle_backend_kubernetes.images import Images
from mle_backend_kubernetes.program import paths
from mle_backend_kubernetes.seen import Job, Pod
from mle_backend_kubernetes.settings import Settings
from mle_backend_kubernetes.tracked import Tracked
from mlecore.backends import Handle
from mlecore.errors import BackendError, BackendUnreachable

PATIENCE = 300.0  # seconds until the pod runs: its image may have to be pulled
TRIES = 3
LIFE = 24 * 3600.0  # seconds after which the pod ends, unless it is deleted before,
IDLE = 180.0  # and so many after nobody has used it


class NotBegun(BackendError):
    """A run that waits has no files yet, and a pod of ours must not choose a node for its claim."""


class Reader:
    """Pods that give out files, for one backend."""

    def __init__(self, cluster: Cluster, settings: Settings, images: Images, tracked: Tracked) -> None:
        self._cluster = cluster
        self._settings = settings
        self._images = images
        self._watch = tracked.pods
        self._jobs = tracked.jobs

    def execute(self, handle: Handle, *words: str) -> AbstractContextManager[Stream]:
        """Run a command of ``program`` beside the files of a job. Raises BackendError, BackendUnreachable, Broken."""
        pod, container = self._pod(handle)
        return execute(self._cluster, pod, container, pods.helper_command(*words))

    def copy_from_gateway(self, handle: Handle, path: str, into: IO[bytes]) -> bool:
        """A file of the job's gateway; False where the job has none. Raises BackendUnreachable."""
        found = self._watch.of_job(handle.name)
        pod = next((pod for pod in found if pod.role == "gateway" and pod.ready and not pod.deleting), None)
        if pod is None:
            if any(pod.network == "llm" for pod in found):
                raise BackendUnreachable(f"the gateway of {handle.name} is not there just now")
            return False
        for attempt in range(1, TRIES + 1):
            into.seek(0)
            into.truncate()
            try:
                with execute(self._cluster, pod.name, "relay", pods.helper_command("give", path, "0")) as stream:
                    for content in pieces(stream):
                        into.write(content)
                return True
            except Broken as error:
                if attempt == TRIES:
                    raise BackendUnreachable(f"{path} of {handle.name} stopped coming: {error}") from error
        raise AssertionError

    def bring(self, handle: Handle, packed: IO[bytes]) -> None:
        """Put a job's files on its claim before it starts. Raises BackendError where it has no claim."""
        if self._settings.output == "pod":
            raise BackendError(
                f"the files of {handle.name} are too large for a ConfigMap, and it has no claim for them",
                fix="Leave -B output=pod out.",
            )
        size = packed.seek(0, 2)
        for attempt in range(1, TRIES + 1):
            packed.seek(0)
            try:
                with execute(self._cluster, self._files_pod(handle), "files", pods.helper_command("bundle")) as stream:
                    stream.send(b'{"size": %d}\n' % size)
                    shutil.copyfileobj(packed, _Sink(stream), 1 << 20)
                    stream.read()
                return
            except Broken as error:
                if attempt == TRIES:
                    raise BackendUnreachable(f"the files of {handle.name} could not be fetched: {error}") from error

    def _pod(self, handle: Handle) -> tuple[str, str]:
        """The pod that has the files, and its container."""
        job, agent = self._job(handle), self._watch.agent(names.uid(handle))
        if self._settings.output == "pod" and agent is not None:
            if agent.gone or agent.phase in ("Failed", "Succeeded"):
                raise BackendError(f"the pod of {handle.name} is gone, and its files with it")
            if agent.phase == "Pending":
                raise NotBegun(f"{handle.name} has not begun")
            return agent.name, names.KEEPER
        if agent is None and (self._settings.output == "pod" or not job.began):
            raise NotBegun(f"{handle.name} has not begun")
        return self._files_pod(handle, agent), "files"

    def _job(self, handle: Handle) -> Job:
        found = self._jobs.of(handle)
        if found is None or found.deleting:
            raise BackendError(f"{handle.name} is no longer in this cluster, so nothing can be fetched")
        return found

    def _files_pod(self, handle: Handle, agent: Pod | None = None) -> str:
        """The name of a pod that mounts the claim, and runs."""
        job = self._job(handle)
        name = names.files(handle.name)
        path = self._cluster.path("pods", name)
        seen = self._watch.find(name)
        if seen is not None and seen.phase in ("Failed", "Succeeded"):
            self._cluster.delete(path, gracePeriodSeconds=0)
            self._watch.until(lambda: self._watch.find(name) is None, PATIENCE)
            seen = None
        if seen is None:
            self._cluster.ensure(self._cluster.path("pods"), self._manifest(name, handle, job, agent))
        if not self._watch.until(lambda: _settled(self._watch.find(name)), PATIENCE):
            found = self._watch.find(name)
            raise BackendUnreachable(f"the pod {name}, which gives out files, does not start: {_why(found)}")
        return name

    def _manifest(self, name: str, handle: Handle, job: Job, agent: Pod | None) -> dict[str, Any]:
        labels = {**job.labels, names.ROLE: "files"}
        labels.pop(names.QUEUE, None)
        mounts = [{"name": "claim", "mountPath": paths.CLAIM}, _mount("files")]
        command = pods.helper_command("wait", f"{LIFE:.0f}", f"{IDLE:.0f}")
        container = pods.helper_container("files", self._images.helper(), command, mounts)
        volumes = [
            {"name": "claim", "persistentVolumeClaim": {"claimName": handle.name}},
            {"name": "files", "configMap": {"name": handle.name, "defaultMode": 0o444}},
        ]
        found = pods.helper_pod(self._settings, name, labels, container, volumes, LIFE + 60, names.owned(handle))
        if agent is not None and agent.node and agent.phase == "Running":  # a claim may be for one node at a time
            field = {"key": "metadata.name", "operator": "In", "values": [agent.node]}
            terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
            found["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
        return found


def _mount(name: str) -> dict[str, Any]:
    return {"name": name, "mountPath": paths.FILES, "readOnly": True}


def _settled(pod: Pod | None) -> bool:
    return pod is not None and (pod.ready or pod.phase in ("Failed", "Succeeded"))


def _why(pod: Pod | None) -> str:
    return "nothing is known of it" if pod is None else pod.waiting


class _Sink:
    """A stream's input as a file to write to."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def write(self, content: bytes) -> int:
        self._stream.send(content)
        return len(content)


def pieces(stream: Stream) -> Iterator[bytes]:
    """A file as ``program.sending.give`` sends it. Raises Broken."""
    while head := stream.read(4):
        yield exactly(stream, struct.unpack(">I", head + exactly(stream, 4 - len(head)))[0])


def exactly(source: Any, count: int) -> bytes:
    """So many bytes. Raises Broken where there are fewer."""
    content = b""
    while len(content) < count:
        more = source.read(count - len(content))
        if not more:
            raise Broken("it ended in the middle")
        content += more
    return content
