"""Backend `kubernetes`: each run is a Job of a cluster, which schedules it, gives it GPUs, and runs it without us.

pods.py says what a run's pod looks like and where its files are, network.py what it can reach, ending.py how ends are
distinguished, watch.py how all that is known without asking, tracked.py what is watched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from mle_backend_kubernetes import describing, fetching, inventory, preflight, removing, statuses, stopping
from mle_backend_kubernetes.claims import Claims
from mle_backend_kubernetes.cluster import Cluster
from mle_backend_kubernetes.data import Data
from mle_backend_kubernetes.images import Images
from mle_backend_kubernetes.logs import Logs
from mle_backend_kubernetes.probing import Probe
from mle_backend_kubernetes.reader import Reader
from mle_backend_kubernetes.settings import OPTIONS, Settings
from mle_backend_kubernetes.starting import Starter
from mle_backend_kubernetes.tracked import Tracked
from mlecore.agents import Recipe
from mlecore.backends import (
    Backend,
    Dataset,
    Fetched,
    Handle,
    Image,
    Job,
    JobStatus,
    Problem,
    Progress,
    Resources,
    Sandbox,
)
from mlecore.options import Option


class KubernetesBackend(Backend):
    """Thread-safe. Runs wait for room by themselves, so it has no capacity of its own."""

    summary: ClassVar[str] = "Jobs of a Kubernetes cluster, with GPUs and queues"
    options: ClassVar[tuple[Option, ...]] = OPTIONS

    def __init__(self, options: Mapping[str, str]) -> None:
        self.settings = Settings.of(options)
        self.cluster = Cluster(self.settings.context, self.settings.namespace)
        self.tracked = Tracked.of(self.cluster)
        pods = self.tracked.pods
        self.images = Images(self.settings)
        self._statuses = statuses.Statuses(self.cluster, self.settings, self.tracked)
        self._reader = Reader(self.cluster, self.settings, self.images, self.tracked)
        claims = Claims(self.cluster, self.settings, self.tracked.claims)
        self._probe = Probe(self.cluster, self.settings, self.images, pods)
        self._starter = Starter(self.cluster, self.settings, self.images, claims, self._reader, self._probe)
        self._logs = Logs(self.cluster, pods, self._statuses, self._reader)
        self._data = Data(self.cluster, self.settings, self.images, claims, pods)

    def describe(self) -> Sandbox:
        return describing.describe(self.cluster, self.settings, self._probe)

    def preflight(self, requested: Sequence[Resources] = ()) -> list[Problem]:
        return preflight.problems(self.cluster, self.settings, self.images, requested)

    def stage_data(self, dataset: Dataset, progress: Progress) -> str:
        return self._data.stage_data(dataset, progress)

    def build(self, recipe: Recipe, log: Path) -> Image:
        return self.images.build(recipe, log)

    def start(self, job: Job) -> Handle:
        return self._starter.start(job)

    def list_jobs(self, group: str) -> dict[str, Handle]:
        return statuses.list_jobs(self.cluster, group)

    def status(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        return self._statuses.of(handles)

    def logs(self, handle: Handle, offset: int = 0, follow: bool = False) -> Iterator[bytes]:
        return self._logs.read(handle, offset, follow)

    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
        return fetching.fetch(self._reader, handle, globs, into, max_bytes, max_files)

    def stop(self, handle: Handle, grace: float) -> None:
        stopping.stop(self.cluster, self.settings, self.tracked.pods, handle, grace)

    def inventory(self) -> Sequence[str]:
        return inventory.lines(self.cluster, self.settings)

    def remove(self, handle: Handle) -> None:
        removing.remove(self.cluster, self.tracked, handle)
