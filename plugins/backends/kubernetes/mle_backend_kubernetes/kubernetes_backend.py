"""Backend `kubernetes`: each run is a Job of a cluster, which schedules it, gives it GPUs, and runs it without mlecore.

manifests.py has the objects that are created, network.py what a run reaches, files.py how its files are read,
cluster_cache.py what is known of the cluster, and outcome.py how a run's end is judged.
"""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, ClassVar

from attrs import evolve

from mle_backend_kubernetes import archive, gateway, manifests, names, network, nodes, outcome, preflight
from mle_backend_kubernetes.cluster import Cluster, Exists, NotFound
from mle_backend_kubernetes.cluster_cache import ClusterCache, Pod, kueue_api
from mle_backend_kubernetes.cluster_cache import Job as CachedJob
from mle_backend_kubernetes.data import Claims, Data
from mle_backend_kubernetes.exec import Broken, blocks, execute
from mle_backend_kubernetes.files import Files, NotStarted
from mle_backend_kubernetes.images import Images
from mle_backend_kubernetes.program.messages import OUTPUT
from mle_backend_kubernetes.refusals import Refusals
from mle_backend_kubernetes.settings import Settings
from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.agents import Recipe
from mlecore.model.backends import (
    GONE,
    Backend,
    Dataset,
    Enforcement,
    Handle,
    Image,
    Job,
    JobStatus,
    Problem,
    Progress,
    Resources,
    Sandbox,
)
from mlecore.model.options import Option, declared, read_settings
from mlecore_jobs.fetching import Fetched
from mlecore_sandboxes.containers import INIT_MARGIN, handle_of, id_of, place_of
from mlecore_sandboxes.variables import environment, secret_values

KUBELET_TIMEOUT = 60.0  # seconds that a node may take to report that a pod has ended
LOG_TRIES = 5


class KubernetesBackend(Backend):
    """Thread-safe. The cluster queues runs itself, so the backend has no capacity of its own."""

    summary: ClassVar[str] = "Jobs of a Kubernetes cluster, with GPUs and queues"
    options: ClassVar[tuple[Option, ...]] = declared(Settings)

    def __init__(self, options: Mapping[str, str]) -> None:
        self.settings = read_settings(Settings, options, "backend kubernetes")
        self.cluster = Cluster(self.settings.context, self.settings.namespace)
        self.cache = ClusterCache(self.cluster)
        self.images = Images(self.settings)
        self._files = Files(self.cluster, self.settings, self.images, self.cache)
        self._claims = Claims(self.cluster, self.settings)
        self._data = Data(self.cluster, self.settings, self.images, self._claims, self.cache.pods)
        self._probe = network.Probe(self.cluster, self.settings, self.images, self.cache.pods)
        self._gpu_models = nodes.GpuModels(self.cluster, self.settings)
        self._refusals = Refusals(self.cluster)
        self._confirmed: set[str] = set()  # uids of ended pods whose Job has been read since they ended

    def describe(self) -> Sandbox:
        """Runs two pods, once, to find out whether the cluster enforces NetworkPolicies."""
        settings, verdict = self.settings, self._probe.verdict()
        disk = Enforcement(level="absent", how="a claim of the size; the storage class may not enforce it")
        if settings.output == "pod":
            disk = Enforcement(level="watched", how="the kubelet evicts a pod that writes more")
        return Sandbox(
            isolation="container",
            user=f"not root, {settings.user[0]}:{settings.user[1]}",
            time=Enforcement(level="watched", how="init, the controller beyond that, and the Job's deadline"),
            cpus=Enforcement(level="enforced", how="cgroup"),
            memory=Enforcement(level="enforced", how="cgroup"),
            processes=Enforcement(level="absent", how="pods have no such limit; the kubelet's podPidsLimit may apply"),
            disk=disk,
            network=Enforcement(level="enforced" if verdict.enforced else "absent", how=verdict.description),
            network_verified=bool(verdict.enforced),
            details={
                "kubernetes": self.cluster.version,
                "namespace": self.cluster.namespace,
                "runtime_class": str(settings.pod_spec.get("runtimeClassName", "default")),
                "queue": settings.queue or "none",
                "gpu_resource": settings.gpu_resource,
                "output": settings.output,
            },
        )

    def preflight(self, requested: Sequence[Resources] = ()) -> list[Problem]:
        return preflight.problems(self.cluster, self.settings, self.images, requested)

    def inventory(self) -> Sequence[str]:
        found = [f"Kubernetes {self.cluster.version} at {self.cluster.configuration.host},"]
        found[0] += f" namespace {self.cluster.namespace}"
        for look in (self._nodes, self._storage, self._queues):
            try:
                found.append(look())
            except BackendError as error:  # no permission to list them
                found.append(f"not known: {error.message}")
        return found

    def _nodes(self) -> str:
        usable = nodes.nodes(self.cluster, self.settings)
        gpus = sum(node.gpus for node in usable)
        free = sum(nodes.free_gpus(self.cluster, self.settings, usable).values()) if gpus else 0
        with_gpus, gpu = sum(node.gpus > 0 for node in usable), self.settings.gpu_resource
        return f"nodes: {len(usable)}, {with_gpus} of them with {gpu}: {gpus}, of which {free} are free"

    def _storage(self) -> str:
        return "storage classes: " + (self._names("/apis/storage.k8s.io/v1/storageclasses") or "none")

    def _queues(self) -> str:
        if (path := kueue_api(self.cluster)) is None:
            return "Kueue: not installed"
        path = f"{path}/namespaces/{self.cluster.namespace}/localqueues"
        return "Kueue: " + (self._names(path) or "no queue in the namespace")

    def _names(self, path: str) -> str:
        return ", ".join(sorted(each["metadata"]["name"] for each in self.cluster.items(path)))

    def stage_data(self, dataset: Dataset, progress: Progress) -> str:
        return self._data.stage_data(dataset, progress)

    def build(self, recipe: Recipe, log: Path) -> Image:
        return self.images.build(recipe, log)

    def start(self, job: Job) -> Handle:
        """Start a job, once, even if another controller starts it too or an earlier start was interrupted.

        Creating the Job, suspended, claims the name. All that it needs is created next, owned by the Job, so that it is
        deleted with it; then the Job is unsuspended. Anybody can repeat each step.
        """
        names.check(job)
        secrets = secret_values(job)
        packed, from_data = archive.pack(job)
        with packed:
            created = self._create_job(job, from_data)
            handle = handle_of(job.name, created["metadata"]["uid"], self.cluster.id)
            if names.READY not in (created["metadata"].get("annotations") or {}):
                try:
                    self._create_parts(job, handle, secrets, packed)
                    self._release(job)
                except BackendUnreachable:
                    raise
                except BackendError:
                    self._delete("jobs", job.name, propagationPolicy="Foreground")  # it never ran
                    raise
        return handle

    def _create_job(self, job: Job, from_data: Mapping[str, str]) -> dict[str, Any]:
        """The suspended Job; an existing one if it is this job's."""
        attachment = network.attachment(self.cluster, job)
        folder = job.data.partition("/")[2]  # stage_data() returned a claim, and perhaps a folder in it
        template = manifests.agent_template(
            job,
            self.settings,
            image=job.image.ref,
            helper=self.images.helper(),
            read_only=not job.resources.writable_root and self.images.built_here(job.image.ref),
            data={"name": "data", **({"subPath": folder} if folder else {})},
            variables=environment(
                job,
                user="nonroot",
                user_home=manifests.USER_HOME,
                proxy=attachment.proxy,
                gateway=attachment.gateway,
            ),
            hosts=attachment.hosts,
            staging={
                "MLECORE_FROM_DATA": json.dumps(dict(from_data)),
                "MLECORE_POLICY": json.dumps(network.awaited(self.cluster, job, self._probe.known)),
                "MLECORE_WAIT_FOR": json.dumps(attachment.waited_for),
            },
        )
        try:
            return self.cluster.create(self.cluster.path("jobs"), manifests.job_object(job, self.settings, template))
        except Exists:
            found = self.cluster.get(self.cluster.path("jobs", job.name))
        if (found["metadata"].get("labels") or {}).get(names.JOB) != job.name:
            raise BackendError(
                f"there is a Job named {job.name} that mlecore did not start",
                fix=f"kubectl delete job {job.name} -n {self.cluster.namespace}",
            )
        if found["metadata"].get("deletionTimestamp"):
            raise BackendUnreachable(f"the Job {job.name} is being deleted")
        return found

    def _create_parts(self, job: Job, handle: Handle, secrets: Mapping[str, str], packed: IO[bytes]) -> None:
        """Everything that the Job's pod needs. Claims come first, as they take the longest."""
        ensure, path, has_model = self.cluster.ensure, self.cluster.path, job.resources.network == "llm"
        owners, labels = names.owned(handle), names.labels(job, "part", self.settings.labels)
        claims = []
        if self.settings.output == "claim":
            space = self.settings.storage or job.resources.disk or manifests.STORAGE
            claims.append(self._claims.create(job.name, space, labels, owners=owners))
        if has_model:
            claims.append(self._claims.create(names.gateway(job.name), gateway.SPACE, labels, owners=owners))
        content = archive.programs(has_model)
        size = packed.seek(0, 2)
        if in_config_map := size <= archive.SMALL:
            packed.seek(0)
            content = {**content, "files.tar.gz": packed.read()}
        ensure(path("configmaps"), manifests.config_map(job.name, content, labels, owners))
        if secrets:
            values = {name: value.encode() for name, value in secrets.items()}
            ensure(path("secrets"), manifests.secret_object(job.name, values, labels, owners))
        for policy in network.policies(self.cluster, job, labels, owners):
            ensure(path("networkpolicies"), policy)
        if has_model:
            gateway.start(self.cluster, self.settings, self.images, job, owners)
        for claim in claims:
            self._claims.wait_until_bound(claim)
        if not in_config_map:
            self._files.upload(handle, packed)

    def _release(self, job: Job) -> None:
        """Mark the Job as complete, and unsuspend it unless its queue does."""
        change: dict[str, Any] = {"metadata": {"annotations": {names.READY: _now()}}}
        if self.settings.queue is None:
            change["spec"] = {"suspend": False}
        self.cluster.patch(self.cluster.path("jobs", job.name), change)

    def list_jobs(self, group: str) -> dict[str, Handle]:
        """Includes a start that was interrupted when only its service existed, so that it is removed, too."""
        selector = f"{names.GROUP}={group}"
        services = self.cluster.items(self.cluster.path("services"), labelSelector=selector)
        jobs = self.cluster.items(self.cluster.path("jobs"), labelSelector=selector)
        found = {each["metadata"]["labels"][names.JOB]: "" for each in services if not _deleting(each)}
        found |= {each["metadata"]["name"]: each["metadata"]["uid"] for each in jobs if not _deleting(each)}
        return {name: handle_of(name, uid, self.cluster.id) for name, uid in found.items()}

    def status(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        """From the cache: the cluster is asked only about Jobs that are not in it, and once at each end."""
        for handle in handles:
            if place_of(handle) != self.cluster.id:
                raise BackendError(
                    f"{handle.name} runs in another cluster or namespace than {self.cluster.namespace} at"
                    f" {self.cluster.configuration.host}",
                    fix="Use the one it was started in (KUBECONFIG, -B context=NAME, -B namespace=NAME).",
                )
        return {handle: self._status(handle) for handle in handles}

    def _status(self, handle: Handle) -> JobStatus:
        """As the cluster has it; whether an infrastructure failure was a preemption, only Kueue's workload tells."""
        status = self._status_in_cluster(handle)
        if status.infra_failure and (why := self.cache.workloads.preempted(id_of(handle))):
            return evolve(status, preempted=True, in_doubt=False, reason=f"Kueue preempted it: {why}")
        return status

    def _status_in_cluster(self, handle: Handle) -> JobStatus:
        uid = id_of(handle)
        if self.cache.jobs.is_gone(uid):
            return GONE
        job, pod = self.cache.jobs.get(uid), self.cache.pods.agent(uid)
        if job is not None and job.deleting:
            return GONE
        if pod is not None and not outcome.needs_job(pod):
            return self._status_of_pod(pod, None)
        job = self._job(handle, pod)
        if job is None or job.deleting:
            return GONE
        status = outcome.of_job(job) if pod is None else self._status_of_pod(pod, job)
        if status.phase != "pending":
            return status
        if pod is None and job.started and (rejected := self._refusals.status(job)) is not None:
            return rejected
        waiting = self.cache.workloads.waiting(job)
        return evolve(status, reason=f"{status.reason}: {waiting}") if waiting else status

    def _status_of_pod(self, pod: Pod, job: CachedJob | None) -> JobStatus:
        status = outcome.of_pod(pod, job)
        return evolve(status, hardware=self._gpu_models.hardware(pod)) if status.phase == "exited" else status

    def _job(self, handle: Handle, pod: Pod | None) -> CachedJob | None:
        """From the cache, but read once after its pod's end: the watch over Jobs may lag behind the one over pods."""
        if pod is None or not outcome.is_over(pod) or pod.uid in self._confirmed:
            return self.cache.jobs.of(handle)
        found = self.cache.jobs.ask(handle)
        self._confirmed.add(pod.uid)
        return found

    def logs(self, handle: Handle, offset: int = 0, follow: bool = False) -> Iterator[bytes]:
        """From the file on the run's volume, which is complete; on a terminal from the kubelet, which keeps the end."""
        failures = 0
        while True:
            try:
                ended = not follow or self._has_ended(handle)
                for chunk in self._read_log(handle, offset, follow=not ended):
                    offset += len(chunk)
                    failures = 0
                    if chunk:
                        yield chunk
                    elif self._has_ended(handle):
                        break
                if ended:
                    return
            except NotStarted:
                if not follow:
                    return
            except (Broken, BackendUnreachable) as error:
                failures += 1
                if not follow and (failures > LOG_TRIES or not isinstance(error, Broken)):
                    raise BackendUnreachable(f"the output of {handle.name} cannot be read: {error}") from error
            time.sleep(min(10.0, 0.2 * 2 ** min(failures, 10)))

    def _has_ended(self, handle: Handle) -> bool:
        return self.status([handle])[handle].phase in ("exited", "gone")

    def _read_log(self, handle: Handle, offset: int, follow: bool) -> Iterator[bytes]:
        """Over one connection; yields an empty chunk now and then while there is no output."""
        pod = self.cache.pods.agent(id_of(handle))
        if pod is None or not pod.terminal:
            with self._files.execute(handle, "give", OUTPUT, str(offset), *["follow"] * follow) as stream:
                yield from blocks(stream)
            return
        query = {"container": names.AGENT, "follow": str(follow).lower()}
        with self.cluster.stream(self.cluster.path("pods", pod.name, "log"), 24 * 3600.0, **query) as response:
            for chunk in response.stream(1 << 16):
                if len(chunk) > offset:
                    yield chunk[offset:]
                offset = max(0, offset - len(chunk))

    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
        return self._files.fetch(handle, globs, into, max_bytes, max_files)

    def stop(self, handle: Handle, grace: float) -> None:
        """Mark the Job as stopped by mlecore, and delete its pod; the kubelet does the rest, and nobody waits for it.

        With ``output=pod``, deleting the pod would delete the files, so the agent gets the signal and is waited for.
        """
        uid, pods = id_of(handle), self.cache.pods
        pod = pods.agent(uid)
        change: dict[str, Any] = {"metadata": {"annotations": {names.STOPPED: _now()}}}
        if pod is None:
            change["spec"] = {"suspend": True}  # prevents a pod, and deletes one that is not in the cache yet
        try:
            self.cluster.patch(self.cluster.path("jobs", handle.name), change)
        except NotFound:
            return
        if pod is None or _has_ended(pod):
            return
        if self.settings.output == "pod" and pod.running:
            self._signal(pod, "kill -TERM 1")
            if not pods.until(lambda: _has_ended(pods.agent(uid)), grace + INIT_MARGIN):
                self._signal(pod, "kill -KILL -1")
            if pods.until(lambda: _has_ended(pods.agent(uid)), KUBELET_TIMEOUT):
                return
        self._delete("pods", pod.name, gracePeriodSeconds=math.ceil(grace + INIT_MARGIN))

    def _signal(self, pod: Pod, command: str) -> None:
        """Through a shell of the agent's own image: nothing else runs in its process namespace."""
        shell = ["/bin/sh", "-c", command]
        with contextlib.suppress(Broken, BackendError), execute(self.cluster, pod.name, names.AGENT, shell) as stream:
            stream.read()

    def remove(self, handle: Handle) -> None:
        """Delete the Job; the cluster deletes what it owns before it, which nobody waits for.

        It takes the cluster seconds, or minutes if a node is lost.
        """
        uid, files_pod = id_of(handle), names.files(handle.name)
        if not uid:  # a start that was interrupted before there was a Job
            self._delete("services", names.gateway(handle.name))
            return
        with contextlib.suppress(Exists):  # another Job of that name
            self._delete("jobs", handle.name, propagationPolicy="Foreground", preconditions={"uid": uid})
        self.cache.forget(uid)
        # After an outage the garbage collector may overlook this pod. It would keep its claim, and that the Job.
        if self.cache.pods.find(files_pod) is not None:
            self._delete("pods", files_pod)

    def _delete(self, kind: str, name: str, **options: Any) -> None:
        self.cluster.delete(self.cluster.path(kind, name), **options)


def _has_ended(pod: Pod | None) -> bool:
    return pod is None or pod.gone or pod.ended is not None


def _deleting(found: Mapping[str, Any]) -> bool:
    return "deletionTimestamp" in found["metadata"]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
