"""A run's files, while it runs and afterwards: read through a pod that mounts its claim, or through its keeper.

The pod is created when it is first needed, belongs to the run's Job, and is deleted with it. Each request runs a
program in it; nothing depends on a lasting connection. A transfer goes on with the file at which its connection broke,
and keeps to its limits.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import struct
import tempfile
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from mle_backend_kubernetes import manifests, names
from mle_backend_kubernetes.cluster import Cluster
from mle_backend_kubernetes.cluster_cache import ClusterCache, Job, Pod
from mle_backend_kubernetes.exec import Broken, Stream, blocks, exactly, execute, message
from mle_backend_kubernetes.gateway import FOLDER as GATEWAY_FOLDER
from mle_backend_kubernetes.images import Images
from mle_backend_kubernetes.program.messages import CLAIM
from mle_backend_kubernetes.settings import Settings
from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.backends import Handle
from mlecore.util.globs import Glob
from mlecore_jobs.fetching import OUTSIDE_LOGS, Fetched, Receiver
from mlecore_sandboxes.containers import id_of

POD_TIMEOUT = 300.0  # seconds until the pod runs: its image may have to be pulled
EXEC_TRIES = 3
LIFE = 24 * 3600.0  # seconds after which the pod ends, unless it is deleted before,
IDLE = 180.0  # and seconds after its last use
TRIES = 5  # times in a row that a connection may break before another file has come


class NotStarted(BackendError):
    """A run that waits has no files yet, and a helper pod must not choose the node for its claim."""


class Files:
    """Reads and writes the files of runs, for one backend."""

    def __init__(self, cluster: Cluster, settings: Settings, images: Images, cache: ClusterCache) -> None:
        self._cluster = cluster
        self._settings = settings
        self._images = images
        self._pods = cache.pods
        self._jobs = cache.jobs

    def execute(self, handle: Handle, *words: str) -> AbstractContextManager[Stream]:
        """Run a command of ``program`` beside the files of a job. Raises BackendError, BackendUnreachable, Broken."""
        pod, container = self._pod(handle)
        return execute(self._cluster, pod, container, manifests.helper_command(*words))

    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
        """See Backend.fetch."""
        wanted = [Glob(text) for text in globs]
        receiver = Receiver(into, max_bytes, max_files)
        for path in OUTSIDE_LOGS:
            if any(glob.matches(path) for glob in wanted):
                with tempfile.TemporaryFile() as content:
                    if self._copy_from_gateway(handle, f"{GATEWAY_FOLDER}/{path.name}", content):
                        receiver.take_outside_log(path, wanted, content)
        with contextlib.suppress(NotStarted):
            self._receive(handle, wanted, receiver)
        return receiver.fetched()

    def _receive(self, handle: Handle, wanted: Sequence[Glob], receiver: Receiver) -> None:
        """After a broken connection, all files that have not come whole are asked for again."""
        done: list[str] = []
        failures = 0
        while True:
            before = len(done)
            request = {
                "globs": [glob.text for glob in wanted],
                "max_bytes": receiver.max_bytes - receiver.bytes,
                "max_files": receiver.max_files - receiver.files,
                "done": done,
            }
            try:
                with self.execute(handle, "send") as stream:
                    stream.send(json.dumps(request).encode() + b"\n")
                    _take_all(io.BufferedReader(stream, 1 << 18), receiver, done)
                return
            except Broken as error:
                failures = 1 if len(done) > before else failures + 1
                if failures > TRIES:
                    raise BackendUnreachable(f"the files of {handle.name} could not be fetched: {error}") from error
                time.sleep(min(10.0, 0.2 * 2**failures))

    def _copy_from_gateway(self, handle: Handle, path: str, into: IO[bytes]) -> bool:
        """A file of the job's gateway; False where the job has none. Raises BackendUnreachable."""
        found = self._pods.of_job(handle.name)
        pod = next((pod for pod in found if pod.role == "gateway" and pod.ready and not pod.deleting), None)
        if pod is None:
            if any(pod.network == "llm" for pod in found):
                raise BackendUnreachable(f"the gateway of {handle.name} is not available at the moment")
            return False
        for attempt in range(1, EXEC_TRIES + 1):
            into.seek(0)
            into.truncate()
            try:
                with execute(self._cluster, pod.name, "relay", manifests.helper_command("give", path, "0")) as stream:
                    for content in blocks(stream):
                        into.write(content)
                return True
            except Broken as error:
                if attempt == EXEC_TRIES:
                    raise BackendUnreachable(f"{path} of {handle.name} could not be read: {error}") from error
        raise AssertionError

    def upload(self, handle: Handle, packed: IO[bytes]) -> None:
        """Put a job's files on its claim before it starts. Raises BackendError where it has no claim."""
        if self._settings.output == "pod":
            raise BackendError(
                f"the files of {handle.name} are too large for a ConfigMap, and it has no claim for them",
                fix="Remove -B output=pod.",
            )
        size = packed.seek(0, 2)
        for attempt in range(1, EXEC_TRIES + 1):
            packed.seek(0)
            try:
                with execute(
                    self._cluster, self._files_pod(handle), "files", manifests.helper_command("bundle")
                ) as stream:
                    stream.send(b'{"size": %d}\n' % size)
                    shutil.copyfileobj(packed, _Sink(stream), 1 << 20)
                    stream.read()
                return
            except Broken as error:
                if attempt == EXEC_TRIES:
                    raise BackendUnreachable(f"the files of {handle.name} could not be uploaded: {error}") from error

    def _pod(self, handle: Handle) -> tuple[str, str]:
        """The pod and container that can read the files."""
        job, agent = self._job(handle), self._pods.agent(id_of(handle))
        if self._settings.output == "pod" and agent is not None:
            if agent.gone or agent.finished:
                raise BackendError(f"the pod of {handle.name} is gone, and its files with it")
            if agent.phase == "Pending":
                raise NotStarted(f"{handle.name} has not started")
            return agent.name, names.KEEPER
        if agent is None and (self._settings.output == "pod" or not job.started):
            raise NotStarted(f"{handle.name} has not started")
        return self._files_pod(handle, agent), "files"

    def _job(self, handle: Handle) -> Job:
        found = self._jobs.of(handle)
        if found is None or found.deleting:
            raise BackendError(f"{handle.name} is no longer in this cluster, so nothing can be fetched")
        return found

    def _files_pod(self, handle: Handle, agent: Pod | None = None) -> str:
        """The name of a running pod that mounts the claim."""
        job = self._job(handle)
        name = names.files(handle.name)
        self._pods.ensure_ready(name, lambda: self._manifest(name, handle, job, agent), POD_TIMEOUT)
        return name

    def _manifest(self, name: str, handle: Handle, job: Job, agent: Pod | None) -> dict[str, Any]:
        labels = {**job.labels, names.ROLE: "files"}
        labels.pop(names.QUEUE, None)
        mounts: list[dict[str, Any]] = [{"name": "claim", "mountPath": CLAIM}, manifests.FILES_MOUNT]
        command = manifests.helper_command("wait", f"{LIFE:.0f}", f"{IDLE:.0f}")
        container = manifests.helper_container("files", self._images.helper(), command, mounts)
        volumes = [
            {"name": "claim", "persistentVolumeClaim": {"claimName": handle.name}},
            {"name": "files", "configMap": {"name": handle.name, "defaultMode": 0o444}},
        ]
        found = manifests.helper_pod(self._settings, name, labels, container, volumes, LIFE + 60, names.owned(handle))
        if agent is not None and agent.node and agent.phase == "Running":  # a claim may be for one node at a time
            field = {"key": "metadata.name", "operator": "In", "values": [agent.node]}
            terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
            found["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
        return found


def _take_all(source: io.BufferedReader[Any], receiver: Receiver, done: list[str]) -> None:
    """Take what ``program.sending.send`` sends, and note in ``done`` what need not come again. Raises Broken."""
    while not (found := message(source)).get("end") and not receiver.full:
        path = PurePosixPath(found["path"])
        content = _Content(source) if found.get("content") else None
        if path.is_absolute() or ".." in path.parts:
            receiver.refuse(found["path"], "a name that leads elsewhere")
        elif "refused" in found:
            receiver.refuse(path, found["refused"])
        elif "cut" in found:
            receiver.cut(path, found["cut"])
        else:
            try:
                receiver.take(path, int(found["size"]), cast(IO[bytes], content or io.BytesIO()))
            except Broken:
                receiver.forget(path)
                raise
        while content is not None and content.read(1 << 20):  # nobody wanted the rest
            pass
        done.append(found["path"])


class _Content:
    """The content of one file, which comes in blocks of known length, the last of them empty."""

    def __init__(self, source: io.BufferedReader[Any]) -> None:
        self._source = source
        self._left = 0  # of the current block
        self._ended = False

    def read(self, count: int) -> bytes:
        """None but the last bytes are fewer than there are; none at its end."""
        if not self._left and not self._ended:
            self._left = struct.unpack(">I", exactly(self._source, 4))[0]
            self._ended = not self._left
        content = exactly(self._source, min(count, self._left))
        self._left -= len(content)
        return content


class _Sink:
    """A stream's input as a file for copyfileobj."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def write(self, content: bytes) -> int:
        self._stream.send(content)
        return len(content)
