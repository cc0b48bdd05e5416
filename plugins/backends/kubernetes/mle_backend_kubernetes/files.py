"""A run's files, while it runs and afterwards: read through a pod that mounts its claim, or through its keeper.

The pod is created when it is first needed, belongs to the run's Job, and is deleted with it. Each request runs a
program in it; nothing depends on a lasting connection. A transfer resumes where its connection broke, and keeps to its
limits.
"""

from __future__ import annotations

import io
import json
import shutil
import struct
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeVar, cast

from mle_backend_kubernetes import manifests, names
from mle_backend_kubernetes.cluster import Cluster
from mle_backend_kubernetes.cluster_cache import ClusterCache, Job, Pod
from mle_backend_kubernetes.exec import Broken, Stream, execute
from mle_backend_kubernetes.gateway import FOLDER as GATEWAY_FOLDER
from mle_backend_kubernetes.images import Images
from mle_backend_kubernetes.program.messages import CLAIM
from mle_backend_kubernetes.settings import Settings
from mlecore.backends import OUTSIDE_LOGS, Fetched, Handle
from mlecore.errors import BackendError, BackendUnreachable
from mlecore.fetching import Receiver
from mlecore.globs import Glob

POD_TIMEOUT = 300.0  # seconds until the pod runs: its image may have to be pulled
EXEC_TRIES = 3
LIFE = 24 * 3600.0  # seconds after which the pod ends, unless it is deleted before,
IDLE = 180.0  # and seconds after its last use
TRIES = 5  # times in a row that a connection may break without a byte having come
STEP = 1 << 16  # bytes that a broken connection loses at most
_LINE = 1 << 20  # bytes of a message; a path has at most 4,096

T = TypeVar("T")


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
        transfer = Transfer(self, handle, wanted, receiver)
        try:
            _receive(transfer, receiver)
        except NotStarted:
            pass
        finally:
            transfer.close()
        return receiver.fetched()

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
        job, agent = self._job(handle), self._pods.agent(names.uid(handle))
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


def _receive(transfer: Transfer, receiver: Receiver) -> None:
    for message in transfer:
        path = PurePosixPath(message["path"])
        if path.is_absolute() or ".." in path.parts:
            receiver.refuse(message["path"], "a name that leads elsewhere")
        elif "refused" in message:
            receiver.refuse(path, message["refused"])
        elif "cut" in message:
            receiver.cut(path, message["cut"])
        else:
            receiver.take(path, int(message["size"]), cast(IO[bytes], transfer))
        if receiver.full:
            return


class Transfer:
    """Iterates over messages about files; ``read`` gives the content of the file of the last one."""

    def __init__(self, files: Files, handle: Handle, globs: Sequence[Glob], receiver: Receiver) -> None:
        self._files = files
        self._handle = handle
        self._globs = [glob.text for glob in globs]
        self._receiver = receiver
        self._done: list[str] = []
        self._current: dict[str, Any] | None = None  # the file whose content comes next
        self._offset = 0  # in it
        self._left = 0  # of the current block
        self._failures = 0
        self._connection: Connection | None = None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while True:
            while self._current is not None:  # nobody wanted the rest of this file
                self.read(1 << 20)
            message = self._retrying(lambda: self._connected().message())
            if message.get("end"):
                return
            if "path" not in message:
                continue
            self._done.append(message["path"])
            if message.get("content"):
                self._current, self._offset, self._left = message, 0, 0
            yield message

    def read(self, count: int) -> bytes:
        """The next bytes of the current file; none at its end."""
        if self._current is None:
            return b""
        return self._retrying(lambda: self._block(count))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _block(self, count: int) -> bytes:
        connection = self._connected()
        if not self._left:
            self._left = connection.length()
            if not self._left:
                self._current = None
                return b""
        content = connection.bytes(min(count, self._left, STEP))
        self._left -= len(content)
        self._offset += len(content)
        return content

    def _retrying(self, step: Callable[[], T]) -> T:
        """Run a step, again on a new connection if this one breaks."""
        while True:
            try:
                found = step()
            except Broken as error:
                self.close()
                self._left = 0
                self._failures += 1
                if self._failures > TRIES:
                    raise BackendUnreachable(
                        f"the files of {self._handle.name} could not be fetched: {error}"
                    ) from error
                time.sleep(min(10.0, 0.2 * 2**self._failures))
            else:
                self._failures = 0
                return found

    def _connected(self) -> Connection:
        if self._connection is None:
            current = self._current
            connection = Connection(self._files, self._handle, self._request())
            self._connection = connection
            if current is not None and not self._resumes(connection, current):
                raise BackendUnreachable(f"{current['path']} of {self._handle.name} changed while it was being fetched")
        return self._connection

    def _request(self) -> dict[str, Any]:
        partial = [self._current["path"], self._offset] if self._current else None
        done = [path for path in self._done if partial is None or path != partial[0]]
        return {
            "globs": self._globs,
            "max_bytes": self._receiver.max_bytes - self._receiver.bytes,
            "max_files": self._receiver.max_files - self._receiver.files,
            "done": done,
            "partial": partial,
        }

    def _resumes(self, connection: Connection, current: dict[str, Any]) -> bool:
        """Does the same file continue at the same offset?"""
        message = connection.message()
        while "path" not in message and not message.get("end"):
            message = connection.message()
        same = message.get("path") == current["path"] and message.get("offset") == self._offset
        return same and bool(message.get("content"))


class Connection:
    """One run of the program that sends."""

    def __init__(self, files: Files, handle: Handle, request: dict[str, Any]) -> None:
        self._context = files.execute(handle, "send")
        stream = self._context.__enter__()
        stream.send(json.dumps(request).encode() + b"\n")
        self._in = io.BufferedReader(stream, 1 << 18)

    def message(self) -> dict[str, Any]:
        line = self._in.readline(_LINE)
        try:
            found: dict[str, Any] = json.loads(line)
        except ValueError:
            raise Broken(f"{line[:100]!r} is not a message") from None
        return found

    def length(self) -> int:
        return int(struct.unpack(">I", self.bytes(4))[0])

    def bytes(self, count: int) -> bytes:
        return exactly(self._in, count)

    def close(self) -> None:
        self._context.__exit__(None, None, None)


class _Sink:
    """A stream's input as a file for copyfileobj."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def write(self, content: bytes) -> int:
        self._stream.send(content)
        return len(content)


def blocks(stream: Stream) -> Iterator[bytes]:
    """A file as ``program.sending.give`` sends it. Raises Broken."""
    source = io.BufferedReader(stream, 1 << 18)
    while source.peek(1):
        yield exactly(source, struct.unpack(">I", exactly(source, 4))[0])


def exactly(source: io.BufferedReader[Any], count: int) -> bytes:
    """Read exactly ``count`` bytes. Raises Broken if there are fewer."""
    content = source.read(count)
    if len(content) < count:
        raise Broken("the stream ended early")
    return content
