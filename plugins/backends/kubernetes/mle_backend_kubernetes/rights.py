"""Which rights are needed, and which of them we lack: asks the cluster about each before anything starts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from attrs import frozen

from mle_backend_kubernetes.cluster import Cluster


@frozen
class Right:
    """One verb on one kind of object, in the namespace."""

    group: str
    resource: str
    verb: str
    subresource: str = ""

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}{'/' * bool(self.subresource)}{self.subresource}"


NEEDED = tuple(
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


def missing(cluster: Cluster) -> list[str]:
    """The rights that we lack, as text."""
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda right: _has(cluster, right), NEEDED))
    return [str(right) for right, has in zip(NEEDED, answers, strict=True) if not has]


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
