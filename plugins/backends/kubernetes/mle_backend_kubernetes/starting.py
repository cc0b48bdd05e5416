"""Starting a job, once, even if another controller starts it too or an earlier start was interrupted.

Making the Job, suspended, claims the name. All that it needs is made next, with the Job as its owner, so that it goes
when the Job goes; then the Job is let go. Each step can be done again by anybody.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import IO, Any

from mle_backend_kubernetes import archive, gateway, manifests, names, network, pods
from mle_backend_kubernetes.claims import Claims
from mle_backend_kubernetes.cluster import Cluster, Exists
from mle_backend_kubernetes.images import Images
from mle_backend_kubernetes.probing import Probe
from mle_backend_kubernetes.reader import Reader
from mle_backend_kubernetes.settings import Settings
from mlecore import backends
from mlecore.backends import Handle, Job, secret_values
from mlecore.errors import BackendError, BackendUnreachable


class Starter:
    """Starts jobs for one backend."""

    def __init__(
        self, cluster: Cluster, settings: Settings, images: Images, claims: Claims, reader: Reader, probe: Probe
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._images = images
        self._claims = claims
        self._reader = reader
        self._probe = probe

    def start(self, job: Job) -> Handle:
        """See Backend.start."""
        names.check(job)
        secrets = secret_values(job)
        packed, from_data = archive.pack(job)
        with packed:
            made = self._claim(job, from_data)
            if names.READY not in (made["metadata"].get("annotations") or {}):
                try:
                    self._provide(job, made, secrets, packed)
                except BackendUnreachable:
                    raise
                except BackendError:
                    self._cluster.delete(self._path("jobs", job.name), propagationPolicy="Foreground")  # it never ran
                    raise
        return self._handle(made)

    def _claim(self, job: Job, from_data: Mapping[str, str]) -> dict[str, Any]:
        """The Job, which is made here unless it is there."""
        attachment = network.attachment(self._cluster, job)
        template = pods.agent_template(
            job,
            self._settings,
            image=job.image.ref,
            helper=self._images.helper(),
            read_only=not job.resources.writable_root and self._images.built_here(job.image.ref),
            data=_data_mount(job.data),
            variables=backends.environment(
                job,
                user="nonroot",
                user_home=pods.USER_HOME,
                proxy=attachment.proxy,
                gateway=attachment.gateway,
            ),
            secret=job.name if job.resources.secrets else None,
            hosts=attachment.hosts,
            staging={
                "MLECORE_FROM_DATA": json.dumps(dict(from_data)),
                "MLECORE_POLICY": json.dumps(network.awaited(self._cluster, job, self._probe.known)),
                "MLECORE_WAIT_FOR": json.dumps(attachment.waited_for),
            },
        )
        try:
            return self._cluster.create(self._path("jobs"), manifests.job_object(job, self._settings, template))
        except Exists:
            found = self._cluster.get(self._path("jobs", job.name))
        if (found["metadata"].get("labels") or {}).get(names.JOB) != job.name:
            raise BackendError(
                f"a Job named {job.name} is there that mlecore did not start",
                fix=f"kubectl delete job {job.name} -n {self._cluster.namespace}",
            )
        if found["metadata"].get("deletionTimestamp"):
            raise BackendUnreachable(f"the Job {job.name} is just being deleted")
        return found

    def _provide(self, job: Job, made: Mapping[str, Any], secrets: Mapping[str, str], packed: IO[bytes]) -> None:
        """All that the Job's pod needs, and the Job let go."""
        settings, ensure = self._settings, self._cluster.ensure
        owners, labels = names.owned(self._handle(made)), names.labels(job, "part", settings.labels)
        content = archive.programs(job.resources.network == "llm")
        size = packed.seek(0, 2)
        packed.seek(0)
        if fits := size <= archive.SMALL:
            content = {**content, "files.tar.gz": packed.read()}
        made_claims = self._claims_of(job, labels, owners)
        ensure(self._path("configmaps"), manifests.config_map(job.name, content, labels, owners))
        if secrets:
            values = {name: value.encode() for name, value in secrets.items()}
            ensure(self._path("secrets"), manifests.secret_object(job.name, values, labels, owners))
        for policy in network.policies(self._cluster, job, labels, owners):
            ensure(self._path("networkpolicies"), policy)
        if job.resources.network == "llm":
            gateway.start(self._cluster, settings, self._images, job, owners)
        for claim in made_claims:
            self._claims.settle(claim)
        if not fits:
            self._reader.bring(self._handle(made), packed)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        change: dict[str, Any] = {"metadata": {"annotations": {names.READY: now}}}
        if settings.queue is None:
            change["spec"] = {"suspend": False}
        self._cluster.patch(self._path("jobs", job.name), change)

    def _handle(self, made: Mapping[str, Any]) -> Handle:
        return names.handle(made["metadata"]["name"], made["metadata"]["uid"], self._cluster.id)

    def _claims_of(self, job: Job, labels: Mapping[str, str], owners: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Made before all else, as they take the longest."""
        space = self._settings.storage or job.resources.disk or manifests.STORAGE
        wanted = [(job.name, space)] if self._settings.output == "claim" else []
        if job.resources.network == "llm":
            wanted.append((names.gateway(job.name), gateway.SPACE))
        return [self._claims.make(name, size, labels, owners=owners) for name, size in wanted]

    def _path(self, kind: str, name: str = "") -> str:
        return self._cluster.path(kind, name)


def _data_mount(data: str) -> dict[str, Any]:
    """The mount of what ``stage_data`` returned: a claim, and perhaps a folder in it."""
    _, _, folder = data.partition("/")
    return {"name": "data", **({"subPath": folder} if folder else {})}
