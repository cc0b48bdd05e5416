"""Public data in the cluster: in the lab's own claim, or loaded once into one of ours that all runs share.

A pod of ours takes the files in. What it has, it has; a load that was cut off goes on there. The claim counts as
loaded once every byte has been compared with the data's manifest. Answers never leave the controller.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from mle_backend_kubernetes import archive, names, pods
from mle_backend_kubernetes.claims import Claims
from mle_backend_kubernetes.cluster import Cluster, NotFound
from mle_backend_kubernetes.exec import Broken, Stream, execute
from mle_backend_kubernetes.images import Images
from mle_backend_kubernetes.program import paths
from mle_backend_kubernetes.settings import Settings
from mle_backend_kubernetes.tracked import Pods
from mlecore.backends import Dataset, Progress
from mlecore.errors import BackendError, BackendUnreachable, DataError

PATIENCE = 600.0  # seconds until the loader runs
LIFE = 24 * 3600.0  # seconds after which the pod ends, and so many after nobody has used it:
IDLE = 180.0
LARGE = 16 * 2**20  # bytes from which on a file that was cut off goes on in its middle
TRIES = 5  # connections in a row that bring nothing
FOLDER = "public"  # in a claim of ours


class Data:
    """Brings data for one backend."""

    def __init__(self, cluster: Cluster, settings: Settings, images: Images, claims: Claims, watch: Pods) -> None:
        self._cluster = cluster
        self._settings = settings
        self._images = images
        self._claims = claims
        self._watch = watch

    def stage_data(self, dataset: Dataset, progress: Progress) -> str:
        """See Backend.stage_data; a claim and the folder in it."""
        sizes = _sizes(dataset)
        if self._settings.data_claim is not None:
            return self._look(self._settings.data_claim, dataset, sizes, progress)
        name = names.data(dataset)
        path = self._cluster.path("persistentvolumeclaims", name)
        claim = self._claim(name, path, sum(sizes.values()))
        if (claim["metadata"].get("annotations") or {}).get(names.LOADED) != dataset.digest:
            self._load(name, dataset, sizes, progress)
            self._cluster.patch(path, {"metadata": {"annotations": {names.LOADED: dataset.digest}}})
        total = sum(sizes.values())
        progress(total, total, f"{dataset.competition}: in the claim {name}")
        return f"{name}/{FOLDER}"

    def _claim(self, name: str, path: str, size: int) -> dict[str, Any]:
        try:
            return self._cluster.get(path)
        except NotFound:
            space = size + size // 10 + 64 * 2**20  # file systems need some for themselves
            made = self._claims.make(name, space, {names.ROLE: "data"}, self._settings.data_access)
            self._claims.settle(made)
            return made

    def _load(self, claim: str, dataset: Dataset, sizes: dict[str, int], progress: Progress) -> None:
        failures, before = 0, -1
        while True:
            sender = _Sender(dataset, sizes, progress)
            try:
                with (
                    self._pod(f"{claim}-load", claim, read_only=False) as pod,
                    execute(self._cluster, pod, "load", pods.inline_command("receive")) as stream,
                ):
                    said = sender.send(stream)
                break
            except (Broken, NotFound) as error:
                failures = failures + 1 if sender.sent <= before else 0
                before = sender.sent
                if failures >= TRIES:
                    raise BackendUnreachable(
                        f"the data of {dataset.competition} do not reach the cluster: {error}"
                    ) from error
                time.sleep(min(30.0, 2.0**failures))
        if said["digest"] != sender.digest():
            self._cluster.delete(self._cluster.path("persistentvolumeclaims", claim))
            raise DataError(
                f"the data of {dataset.competition} changed while they were copied to the cluster",
                fix=f"mlecore prepare {dataset.competition} --verify",
            )

    def _look(self, claim: str, dataset: Dataset, sizes: dict[str, int], progress: Progress) -> str:
        """A claim of the lab's: are all files there, in their sizes?"""
        folder = _folder(dataset)
        try:
            self._cluster.get(self._cluster.path("persistentvolumeclaims", claim))
        except NotFound:
            raise BackendError(
                f"there is no claim {claim} in {self._cluster.namespace}",
                fix="kubectl get pvc, then -B data-claim=NAME",
            ) from None
        try:
            with (
                self._pod(f"{names.data(dataset)}-look", claim, read_only=True, folder=folder) as pod,
                execute(self._cluster, pod, "load", pods.inline_command("sizes")) as stream,
            ):
                there = dict(_listed(stream))
        except Broken as error:
            raise BackendUnreachable(f"the claim {claim} cannot be looked at: {error}") from error
        wrong = [path for path, size in sizes.items() if there.get(path) != size]
        if wrong:
            raise DataError(
                f"the claim {claim} lacks {len(wrong)} of {len(sizes)} files of {dataset.competition} in {folder},"
                f" or has others there: {', '.join(wrong[:5])}",
                fix="Copy the public folder of the prepared data there, as it lies in your data folder.",
            )
        progress(1, 1, f"{dataset.competition}: in the claim {claim}")
        return f"{claim}/{folder}"

    @contextmanager
    def _pod(self, name: str, claim: str, *, read_only: bool, folder: str = "") -> Iterator[str]:
        """A pod that mounts the claim, and runs; two who bring the same data share it."""
        settings, path = self._settings, self._cluster.path("pods", name)
        mount: dict[str, Any] = {"name": "claim", "mountPath": paths.DATA if read_only else paths.CLAIM}
        mount |= {"subPath": folder} if folder else {}
        mount |= {"readOnly": True} if read_only else {}
        command = pods.inline_command("wait", f"{LIFE:.0f}", f"{IDLE:.0f}")
        container = pods.helper_container("load", self._images.helper(), command, [mount])
        container["env"] = archive.inline()
        volumes = [{"name": "claim", "persistentVolumeClaim": {"claimName": claim, "readOnly": read_only}}]
        labels = {names.ROLE: "loader"}
        seen = self._watch.find(name)
        if seen is not None and seen.phase in ("Failed", "Succeeded"):
            self._cluster.delete(path, gracePeriodSeconds=0)
            self._watch.until(lambda: self._watch.find(name) is None, PATIENCE)
        made = pods.helper_pod(settings, name, labels, container, volumes, LIFE + 60)
        self._cluster.ensure(self._cluster.path("pods"), made)

        def settled() -> bool:
            pod = self._watch.find(name)
            return pod is not None and (pod.ready or pod.phase in ("Failed", "Succeeded"))

        if not self._watch.until(settled, PATIENCE):
            pod = self._watch.find(name)
            raise BackendUnreachable(
                f"the pod {name}, which takes data in, does not start: {pod.waiting if pod else 'it is not there'}",
                fix=f"kubectl describe pod {name}; has the storage class {settings.data_access} (-B data-access)?",
            )
        try:
            yield name
        finally:
            self._cluster.delete(path, gracePeriodSeconds=1)


def _sizes(dataset: Dataset) -> dict[str, int]:
    """Size of each public file by its path, sorted. Raises DataError where they are not there."""
    root = dataset.public.resolve()
    if not root.is_dir():
        raise DataError(f"the public data of {dataset.competition} are not at {root}")
    found = {path.relative_to(root).as_posix(): path.stat().st_size for path in root.rglob("*") if path.is_file()}
    return dict(sorted(found.items()))


def _folder(dataset: Dataset) -> str:
    """Where the public data lie in a data folder: ``leaf-classification/prepared/public``."""
    parts = PurePosixPath(dataset.public.resolve()).parts
    if dataset.competition in parts:
        start = len(parts) - 1 - parts[::-1].index(dataset.competition)
        return "/".join(parts[start:])
    return f"{dataset.competition}/prepared/public"


def _listed(stream: Stream) -> Iterator[tuple[str, int]]:
    lines = cast(IO[bytes], io.BufferedReader(stream, 1 << 18))
    while not (message := _message(lines)).get("end"):
        yield message["path"], message["size"]


def _message(lines: IO[bytes]) -> dict[str, Any]:
    while True:
        line = lines.readline(1 << 26)
        try:
            found: dict[str, Any] = json.loads(line)
        except ValueError:
            raise Broken(f"{line[:100]!r} is no message") from None
        if found:
            return found


class _Sender:
    """Sends what the other side lacks, and hashes all that it has seen."""

    def __init__(self, dataset: Dataset, sizes: dict[str, int], progress: Progress) -> None:
        self._root = dataset.public.resolve()
        self._dataset = dataset
        self._sizes = sizes
        self._progress = progress
        self._total = sum(sizes.values())
        self.sent = 0  # bytes that are there

    def send(self, stream: Stream) -> dict[str, Any]:
        """The other side's last word: the digest of what it has."""
        lines = cast(IO[bytes], io.BufferedReader(stream, 1 << 18))
        there = _message(lines)["there"]
        batch = bytearray()
        for path, size in self._sizes.items():
            if there.get(path) == size:
                self._went(size)
            elif size < LARGE:
                batch += _line({"path": path, "size": size})
                batch += _whole(self._root / path, size)
                self._went(size)
            else:
                stream.send(batch + _line({"path": path, "size": size, "ask": True}))
                batch.clear()
                self._large(stream, self._root / path, size, int(_message(lines)["offset"]))
            if len(batch) >= 1 << 20:
                stream.send(batch)
                batch.clear()
        stream.send(batch + _line({"end": True}))
        return _message(lines)

    def digest(self) -> str:
        """What the other side's must be: that of the manifest, where there is one, else of the files here."""
        from mlecore.data.manifest import Entry, hash_files, read_head

        head = read_head(self._root.parent)
        if head is not None and head.public.digest == self._dataset.digest:
            return head.public.digest
        entries: list[Entry] = hash_files(self._root, self._sizes)
        found = hashlib.sha256()
        for entry in entries:
            name = entry.path.encode("utf-8", "surrogateescape")
            found.update(name + f"\0{entry.size}\0{entry.sha256}\n".encode())
        return found.hexdigest()

    def _large(self, stream: Stream, path: Path, size: int, offset: int) -> None:
        self._went(offset)
        with path.open("rb") as file:
            file.seek(offset)
            left = size - offset
            while left:
                content = file.read(min(1 << 20, left))
                if not content:
                    raise DataError(f"{path} has become shorter while it was read")
                stream.send(content)
                left -= len(content)
                self._went(len(content))

    def _went(self, count: int) -> None:
        self.sent += count
        self._progress(min(self.sent, self._total), self._total, f"{self._dataset.competition}: to the cluster")


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _whole(path: Path, size: int) -> bytes:
    content = path.read_bytes()
    if len(content) != size:
        raise DataError(f"{path} has changed while it was read")
    return content
