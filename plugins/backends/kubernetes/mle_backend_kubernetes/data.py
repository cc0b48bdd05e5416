"""Public data in the cluster: in a claim that the user prepared, or uploaded once to a claim that all runs share.

A helper pod receives the files; an interrupted upload goes on with the next file. The claim counts as loaded once
every byte has been compared with the data's manifest. Answers never leave the controller.
"""

from __future__ import annotations

import hashlib
import io
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import IO, Any, cast

from mle_backend_kubernetes import archive, manifests, names
from mle_backend_kubernetes.cluster import Cluster, Exists, NotFound
from mle_backend_kubernetes.cluster_cache import Pods
from mle_backend_kubernetes.exec import Broken, Stream, execute, message
from mle_backend_kubernetes.images import Images
from mle_backend_kubernetes.program.messages import CLAIM, DATA
from mle_backend_kubernetes.settings import Settings
from mlecore.errors import BackendError, BackendUnreachable, DataError
from mlecore.model.backends import Dataset, Progress
from mlecore_sandboxes.data import chunks

POD_TIMEOUT = 600.0  # seconds until the loader pod runs
LIFE = 24 * 3600.0  # seconds after which the pod ends,
IDLE = 180.0  # and seconds after its last use
TRIES = 5  # connections in a row that transfer nothing
FOLDER = "public"  # of a claim that mlecore created
BIND_TIMEOUT = 20.0  # seconds that a claim may take to be bound before its pod is created regardless


class Claims:
    """Creates claims for one backend, and waits for those that the cluster binds at once.

    The scheduler postpones a pod that comes before its claim is bound, sometimes for five minutes.
    """

    def __init__(self, cluster: Cluster, settings: Settings) -> None:
        self._cluster = cluster
        self._settings = settings
        self._immediate: dict[str, bool] = {}  # storage class -> are its claims bound before a pod uses them?
        self._lock = threading.Lock()

    def create(
        self,
        name: str,
        size: int,
        labels: Mapping[str, str],
        access: str = "ReadWriteOnce",
        owners: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """The claim, created unless it exists."""
        wanted = manifests.claim_object(name, size, labels, self._settings, access, owners)
        try:
            return self._cluster.create(self._cluster.path("persistentvolumeclaims"), wanted)
        except Exists:
            return self._cluster.get(self._cluster.path("persistentvolumeclaims", name))

    def wait_until_bound(self, claim: Mapping[str, Any]) -> None:
        """Wait for the claim if its storage class binds claims at once."""
        deadline, path = time.monotonic() + BIND_TIMEOUT, self._cluster.path("persistentvolumeclaims")
        while (claim.get("status") or {}).get("phase") != "Bound" and time.monotonic() < deadline:
            if not self._is_immediate(str(claim["spec"].get("storageClassName") or "")):
                return
            time.sleep(0.2)
            claim = self._cluster.get(f"{path}/{claim['metadata']['name']}")

    def _is_immediate(self, name: str) -> bool:
        with self._lock:
            if name not in self._immediate:
                try:
                    found = self._cluster.get(f"/apis/storage.k8s.io/v1/storageclasses/{name}")
                    self._immediate[name] = found.get("volumeBindingMode", "Immediate") == "Immediate"
                except BackendError:  # no such class, or no permission to read it
                    self._immediate[name] = False
            return self._immediate[name]


class Data:
    """Uploads data for one backend."""

    def __init__(self, cluster: Cluster, settings: Settings, images: Images, claims: Claims, pods: Pods) -> None:
        self._cluster = cluster
        self._settings = settings
        self._images = images
        self._claims = claims
        self._pods = pods

    def stage_data(self, dataset: Dataset, progress: Progress) -> str:
        """See Backend.stage_data; a claim and the folder in it."""
        sizes = _sizes(dataset)
        if self._settings.data_claim is not None:
            return self._check(self._settings.data_claim, dataset, sizes, progress)
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
            created = self._claims.create(name, space, {names.ROLE: "data"}, self._settings.data_access)
            self._claims.wait_until_bound(created)
            return created

    def _load(self, claim: str, dataset: Dataset, sizes: dict[str, int], progress: Progress) -> None:
        failures, before = 0, -1
        while True:
            sender = _Sender(dataset, sizes, progress)
            try:
                with (
                    self._pod(f"{claim}-load", claim, read_only=False) as pod,
                    execute(self._cluster, pod, "load", manifests.inline_command("receive")) as stream,
                ):
                    said = sender.send(stream)
                break
            except (Broken, NotFound) as error:
                failures = failures + 1 if sender.sent <= before else 0
                before = sender.sent
                if failures >= TRIES:
                    raise BackendUnreachable(
                        f"the data of {dataset.competition} could not be uploaded to the cluster: {error}"
                    ) from error
                time.sleep(min(30.0, 2.0**failures))
        if said["digest"] != sender.digest():
            self._cluster.delete(self._cluster.path("persistentvolumeclaims", claim))
            raise DataError(
                f"the data of {dataset.competition} changed while they were being uploaded",
                fix=f"mlecore data verify {dataset.competition}",
            )

    def _check(self, claim: str, dataset: Dataset, sizes: dict[str, int], progress: Progress) -> str:
        """Check that a claim that the user prepared has all files, in their sizes."""
        folder = _folder(dataset)
        try:
            self._cluster.get(self._cluster.path("persistentvolumeclaims", claim))
        except NotFound:
            raise BackendError(
                f"no claim {claim} in {self._cluster.namespace}",
                fix="kubectl get pvc, then -B data-claim=NAME",
            ) from None
        try:
            with (
                self._pod(f"{names.data(dataset)}-look", claim, read_only=True, folder=folder) as pod,
                execute(self._cluster, pod, "load", manifests.inline_command("sizes")) as stream,
            ):
                there = dict(_listed(stream))
        except Broken as error:
            raise BackendUnreachable(f"the claim {claim} cannot be read: {error}") from error
        wrong = [path for path, size in sizes.items() if there.get(path) != size]
        if wrong:
            raise DataError(
                f"the claim {claim} lacks {len(wrong)} of {len(sizes)} files of {dataset.competition} in {folder},"
                f" or they differ in size: {', '.join(wrong[:5])}",
                fix="Copy the public folder of the prepared data there, under the same path as in your data folder.",
            )
        progress(1, 1, f"{dataset.competition}: in the claim {claim}")
        return f"{claim}/{folder}"

    @contextmanager
    def _pod(self, name: str, claim: str, *, read_only: bool, folder: str = "") -> Iterator[str]:
        """A running pod that mounts the claim; two controllers that upload the same data share it."""
        settings, path = self._settings, self._cluster.path("pods", name)
        mount: dict[str, Any] = {"name": "claim", "mountPath": DATA if read_only else CLAIM}
        mount |= {"subPath": folder} if folder else {}
        mount |= {"readOnly": True} if read_only else {}
        command = manifests.inline_command("wait", f"{LIFE:.0f}", f"{IDLE:.0f}")
        container = manifests.helper_container("load", self._images.helper(), command, [mount])
        container["env"] = archive.inline()
        volumes = [{"name": "claim", "persistentVolumeClaim": {"claimName": claim, "readOnly": read_only}}]
        labels = {names.ROLE: "loader"}
        created = manifests.helper_pod(settings, name, labels, container, volumes, LIFE + 60)
        fix = f"Can the cluster pull {container['image']} (-B helper), and does its storage class offer "
        fix += f"{settings.data_access} (-B data-access)?"
        self._pods.ensure_ready(name, lambda: created, POD_TIMEOUT, fix, patient=False)
        try:
            yield name
        finally:
            self._cluster.delete(path, gracePeriodSeconds=1)


def _sizes(dataset: Dataset) -> dict[str, int]:
    """Size of each public file by its path, sorted. Raises DataError if there are none."""
    root = dataset.public.resolve()
    if not root.is_dir():
        raise DataError(f"there are no public data of {dataset.competition} at {root}")
    found = {path.relative_to(root).as_posix(): path.stat().st_size for path in root.rglob("*") if path.is_file()}
    return dict(sorted(found.items()))


def _folder(dataset: Dataset) -> str:
    """Path of the public data in a data folder: ``leaf-classification/prepared/public``."""
    parts = PurePosixPath(dataset.public.resolve()).parts
    if dataset.competition in parts:
        start = len(parts) - 1 - parts[::-1].index(dataset.competition)
        return "/".join(parts[start:])
    return f"{dataset.competition}/prepared/public"


def _listed(stream: Stream) -> Iterator[tuple[str, int]]:
    lines = cast(IO[bytes], io.BufferedReader(stream, 1 << 18))
    while not (found := message(lines)).get("end"):
        yield found["path"], found["size"]


class _Sender:
    """Sends the files that the pod does not have yet."""

    def __init__(self, dataset: Dataset, sizes: dict[str, int], progress: Progress) -> None:
        self._root = dataset.public.resolve()
        self._dataset = dataset
        self._sizes = sizes
        self._progress = progress
        self._total = sum(sizes.values())
        self.sent = 0  # bytes that the pod has

    def send(self, stream: Stream) -> dict[str, Any]:
        """Returns the pod's last message: the digest of what it has."""
        lines = cast(IO[bytes], io.BufferedReader(stream, 1 << 18))
        there = message(lines)["there"]
        batch = bytearray()
        for path, size in self._sizes.items():
            if there.get(path) == size:
                self._advance(size)
                continue
            batch += _line({"path": path, "size": size})
            with (self._root / path).open("rb") as source:
                for content in chunks(source, size):
                    batch += content
                    self._advance(len(content))
                    if len(batch) >= 1 << 20:
                        stream.send(batch)
                        batch.clear()
        stream.send(batch + _line({"end": True}))
        return message(lines)

    def digest(self) -> str:
        """The digest that the pod must have: the manifest's, if there is one, else that of the files here."""
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

    def _advance(self, count: int) -> None:
        self.sent += count
        self._progress(
            min(self.sent, self._total), self._total, f"{self._dataset.competition}: uploading to the cluster"
        )


def _line(said: dict[str, Any]) -> bytes:
    return json.dumps(said).encode() + b"\n"
