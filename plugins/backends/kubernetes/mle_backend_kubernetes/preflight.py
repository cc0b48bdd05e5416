"""What prevents running here, each problem with its fix, and the rights that are needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from attrs import frozen

from mle_backend_kubernetes import admission, network, nodes
from mle_backend_kubernetes.cluster import Cluster, NotFound
from mle_backend_kubernetes.cluster_cache import kueue_api
from mle_backend_kubernetes.images import NO_REGISTRY, Images
from mle_backend_kubernetes.settings import Settings
from mlecore.errors import BackendError
from mlecore.model.backends import Problem, Resources
from mlecore_sandboxes.containers import is_loopback


@frozen
class Right:
    """One verb on one kind of object, in the namespace."""

    group: str
    resource: str
    verb: str
    subresource: str = ""

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}{'/' * bool(self.subresource)}{self.subresource}"


NEEDED_RIGHTS = tuple(
    Right(group, resource, verb, subresource)
    for group, resource, subresource, verbs in (
        ("batch", "jobs", "", "get list watch create patch delete"),
        ("", "pods", "", "get list watch create delete"),
        ("", "pods", "exec", "create get"),
        ("", "pods", "log", "get"),
        ("", "configmaps", "", "get create"),
        ("", "secrets", "", "create"),
        ("", "persistentvolumeclaims", "", "get list watch create patch delete"),
        ("", "services", "", "get list create patch delete"),
        ("apps", "replicasets", "", "create"),
        ("networking.k8s.io", "networkpolicies", "", "create delete"),
    )
    for verb in verbs.split()
)


def missing_rights(cluster: Cluster) -> list[str]:
    """The rights that the user lacks, as text."""
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda right: _has(cluster, right), NEEDED_RIGHTS))
    return [str(right) for right, has in zip(NEEDED_RIGHTS, answers, strict=True) if not has]


def _has(cluster: Cluster, right: Right) -> bool:
    asked = {
        "namespace": cluster.namespace,
        "group": right.group,
        "resource": right.resource,
        "subresource": right.subresource,
        "verb": right.verb,
    }
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": asked},
    }
    answer = cluster.create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
    return bool(answer["status"]["allowed"])


def problems(cluster: Cluster, settings: Settings, images: Images, requested: Sequence[Resources]) -> list[Problem]:
    """See Backend.preflight."""
    try:
        cluster.version  # noqa: B018
        if refused := missing_rights(cluster):
            return [
                Problem(
                    description=f"missing rights in the namespace {cluster.namespace}: {', '.join(refused)}",
                    fix="Have the Role of docs/kubernetes.md bound to you, or choose another: -B namespace=NAME.",
                )
            ]
    except BackendError as error:
        return [Problem(description=error.message, fix=error.fix or "kubectl cluster-info")]
    found = (
        storage(cluster, settings),
        _namespace(cluster),
        admission.problems(cluster, settings, requested),
        _queue(cluster, settings),
        nodes.problems(cluster, settings, requested),
        _limits(settings, requested),
        network.problems(cluster, requested),
        _models(settings, images, requested),
    )
    return [problem for each in found for problem in each]


def storage(cluster: Cluster, settings: Settings) -> Iterator[Problem]:
    try:
        classes = list(cluster.items("/apis/storage.k8s.io/v1/storageclasses"))
    except BackendError:  # no right to list what is no namespace's
        return
    there = {each["metadata"]["name"] for each in classes}
    if settings.storage_class and settings.storage_class not in there:
        yield Problem(
            description=f"no storage class {settings.storage_class}; available: {', '.join(sorted(there)) or 'none'}",
            fix="-B storage-class=NAME",
        )
    mark = "storageclass.kubernetes.io/is-default-class"
    default = any((each["metadata"].get("annotations") or {}).get(mark) == "true" for each in classes)
    makes_claims = settings.output == "claim" or settings.data_claim is None
    if makes_claims and not settings.storage_class and not default:
        yield Problem(description="the cluster has no default storage class", fix="Name one: -B storage-class=NAME.")


def _namespace(cluster: Cluster) -> Iterator[Problem]:
    try:
        cluster.get(f"/api/v1/namespaces/{cluster.namespace}")
    except NotFound:
        yield Problem(
            description=f"there is no namespace {cluster.namespace}",
            fix="Create it, or name another: -B namespace=NAME",
        )
    except BackendError:  # no right to look
        pass


def _queue(cluster: Cluster, settings: Settings) -> Iterator[Problem]:
    if settings.queue is None:
        return
    path = kueue_api(cluster)
    if path is None:
        yield Problem(
            description="a queue is named, and Kueue is not installed", fix="Leave -B queue out, or install Kueue."
        )
        return
    try:
        cluster.get(f"{path}/namespaces/{cluster.namespace}/localqueues/{settings.queue}")
    except NotFound:
        fix = f"kubectl get localqueues -n {cluster.namespace}, then -B queue=NAME"
        yield Problem(description=f"there is no LocalQueue {settings.queue} in {cluster.namespace}", fix=fix)
    except BackendError as error:
        yield Problem(description=error.message, fix=error.fix or "Ask for the right to read queues.", fatal=False)


def _limits(settings: Settings, requested: Sequence[Resources]) -> Iterator[Problem]:
    if settings.output == "claim" and any(resources.disk for resources in requested):
        yield Problem(
            description="a run's disk is its claim, and most storage classes do not hold it to its size",
            fix="-B output=pod has the kubelet watch it.",
            fatal=False,
        )


def _models(settings: Settings, images: Images, requested: Sequence[Resources]) -> Iterator[Problem]:
    models = [resources.model for resources in requested if resources.model is not None]
    for endpoint in sorted({model.endpoint for model in models if is_loopback(model.endpoint)}):
        yield Problem(
            description=f"{endpoint} is this machine's own loopback address, which no pod reaches",
            fix="Name an address of the model that the cluster reaches.",
        )
    if any(model.max_calls is not None for model in models):
        yield Problem(
            description="gateways in a cluster do not count together, so max-calls is not kept to",
            fix="Lower --max-parallel.",
            fatal=False,
        )
    if models and settings.registry is None and settings.helper is None:
        yield Problem(description="the gateway needs an image, and there is no registry", fix=NO_REGISTRY)
