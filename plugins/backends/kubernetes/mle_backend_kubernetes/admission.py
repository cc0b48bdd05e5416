"""Would the cluster accept the pod of a run? It is asked with a dry run, which creates nothing.

This finds what otherwise only a run's events tell: PodSecurity, webhooks, a missing service account, a wrong
``-B pod-template``, an exceeded quota.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from mle_backend_kubernetes import manifests
from mle_backend_kubernetes.cluster import Cluster, NotFound
from mle_backend_kubernetes.refusals import fix_of
from mle_backend_kubernetes.settings import Settings
from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.backends import Dataset, Image, Job, Problem, Resources

_NAME = "mle-preflight"
_ADMINISTRATOR = "Change the pod (-B pod-template), or ask the cluster's administrator."


def problems(cluster: Cluster, settings: Settings, requested: Sequence[Resources]) -> Iterator[Problem]:
    """One problem for each rejection; an exceeded quota is none that is fatal, as runs wait for it."""
    for resources in requested or [Resources()]:
        try:
            cluster.try_create(cluster.path("pods"), _pod(settings, resources))
        except NotFound:  # no namespace: reported elsewhere
            return
        except BackendUnreachable as error:  # a quota, or a webhook that does not answer
            yield Problem(description=error.message, fix=error.fix or "Runs wait until it does.", fatal=False)
        except BackendError as error:
            fix = fix_of(error.message) or _ADMINISTRATOR
            yield Problem(description=f"the cluster would reject the pods of runs: {error.message}", fix=fix)


def _pod(settings: Settings, resources: Resources) -> dict[str, object]:
    image = settings.image or settings.helper or f"{settings.registry or 'localhost'}/{_NAME}"
    job = Job(
        name=_NAME,
        group=_NAME,
        image=Image(ref=image, digest=""),
        dataset=Dataset(competition="", edition="", public=Path(), digest=""),
        data=_NAME,
        argv=("true",),
        tools={},
        resources=resources,
    )
    template = manifests.agent_template(
        job,
        settings,
        image=image,
        helper=settings.helper or image,
        read_only=not resources.writable_root,
        data={"name": "data"},
        variables={},
        hosts=[],
        staging={},
    )
    template["metadata"]["name"] = _NAME
    return {"apiVersion": "v1", "kind": "Pod", **template}
