"""What the cluster is asked for is valid, small, and keeps to the standard "restricted"."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kubernetes_validate
import pytest
from mle_backend_kubernetes import manifests, network, pods
from mle_backend_kubernetes.settings import Settings

from mlecore.backends import Dataset, Demand, Image, Job
from mlecore.errors import BackendError

if TYPE_CHECKING:
    from conftest import Lab

OPTIONS = {
    "node-selector": "gpu=h200",
    "tolerations": "gpu:NoSchedule",
    "runtime-class": "nvidia",
    "priority-class": "batch",
    "service-account": "runs",
    "image-pull-secrets": "a,b",
    "queue": "gpus",
    "ephemeral-storage": "10GiB",
    "pod-template": '{"spec": {"schedulerName": "mine", "containers": [{"name": "agent", "stdinOnce": true}]}}',
}


def made(tmp_path: Path, options: dict[str, str] | None = None, **demand: Any) -> dict[str, Any]:
    job = Job(
        name="mle-abc-1",
        group="g",
        image=Image(ref="image", digest="d"),
        dataset=Dataset(competition="toy", edition="v1", public=tmp_path, digest="d"),
        data="claim/public",
        argv=("python", "-c", "print('$(HOME) $$ $x')"),
        tools={},
        demand=Demand(**demand),
        labels={"run": "baseline--toy--0"},
    )
    settings = Settings.of(options or {})
    template = pods.agent_template(
        job,
        settings,
        image="image",
        helper="helper",
        read_only=True,
        data={"name": "data", "subPath": "public"},
        variables={"A": "$(B)"},
        secret="mle-abc-1" if demand.get("secrets") else None,
        hosts=[],
        staging={"MLECORE_WAIT_FOR": "[]"},
    )
    return manifests.job_object(job, settings, template)


@pytest.mark.parametrize("options", [{}, OPTIONS, {"output": "pod"}])
@pytest.mark.parametrize("demand", [{}, {"gpus": 8, "cpus": 4, "memory": 2**36, "disk": 2**40, "secrets": ("KEY",)}])
def test_jobs_are_valid_and_small(tmp_path: Path, options: dict[str, str], demand: dict[str, Any]) -> None:
    found = made(tmp_path, options, **demand)
    kubernetes_validate.validate(found, "1.34", strict=True)
    assert len(json.dumps(found)) < 10_000


@pytest.mark.kubernetes
@pytest.mark.slow
@pytest.mark.xdist_group("kubernetes")
@pytest.mark.parametrize("options", [{}, OPTIONS, {"output": "pod"}])
def test_the_server_takes_them_and_knows_every_key(lab: Lab, tmp_path: Path, options: dict[str, str]) -> None:
    job = made(tmp_path, options, gpus=8, cpus=4, memory=2**36, disk=2**40, secrets=("KEY",))
    only_try = {"dryRun": "All", "fieldValidation": "Strict"}
    assert lab.cluster.request("POST", lab.cluster.path("jobs"), body=job, query=only_try)["metadata"]["uid"]


@pytest.mark.kubernetes
@pytest.mark.slow
@pytest.mark.xdist_group("kubernetes")
def test_a_patch_with_a_misspelt_key_is_refused(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(**{"pod-template": '{"spec": {"schedulerNmae": "mine"}}'})
    with pytest.raises(BackendError, match="schedulerNmae"):
        lab.start()


def test_claims_maps_keys_and_policies_are_valid() -> None:
    owners = [{"apiVersion": "batch/v1", "kind": "Job", "name": "a", "uid": "u", "blockOwnerDeletion": True}]
    for found in (
        manifests.claim_object("a", 1, {}, Settings.of({"storage-class": "fast"}), "ReadWriteMany", owners),
        manifests.config_map("a", {"x": b"\0"}, {}, owners),
        manifests.secret_object("a", {"x": b"\0"}, {}, owners),
        network.policy("a", {}, {"a": "b"}, [], [{}], owners),
    ):
        kubernetes_validate.validate(found, "1.34", strict=True)


def test_every_container_is_without_rights(tmp_path: Path) -> None:
    pod = made(tmp_path, {"output": "pod"})["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in (*pod["initContainers"], *pod["containers"]):
        rights = container["securityContext"]
        assert rights["capabilities"] == {"drop": ["ALL"]} and rights["allowPrivilegeEscalation"] is False
        assert rights["readOnlyRootFilesystem"] is True


def test_requests_equal_limits_and_gpus_are_the_agent_s_alone(tmp_path: Path) -> None:
    options = {"gpu-resource": "nvidia.com/mig-3g.40gb"}
    pod = made(tmp_path, options, gpus=2, cpus=1.5, memory=2**30)["spec"]["template"]["spec"]
    (agent,) = pod["containers"]
    wanted = {"cpu": "1500m", "memory": str(2**30), "nvidia.com/mig-3g.40gb": "2"}
    assert agent["resources"] == {"requests": wanted, "limits": wanted}
    assert "nvidia.com/mig-3g.40gb" not in pod["initContainers"][0]["resources"]["limits"]


def test_text_of_an_agent_is_no_reference_to_a_variable(tmp_path: Path) -> None:
    (agent,) = made(tmp_path)["spec"]["template"]["spec"]["containers"]
    assert agent["command"][-1] == "print('$$(HOME) $$$$ $$x')"
    assert {"name": "A", "value": "$$(B)"} in agent["env"]


def test_a_patch_changes_the_pod_but_not_what_it_is_found_by(tmp_path: Path) -> None:
    patch = '{"metadata": {"labels": {"mlecore.org/job": "other", "team": "a"}}, "spec": {"schedulerName": "mine"}}'
    template = made(tmp_path, {"pod-template": patch})["spec"]["template"]
    assert template["spec"]["schedulerName"] == "mine"
    assert template["metadata"]["labels"]["mlecore.org/job"] == "mle-abc-1"
    assert template["metadata"]["labels"]["team"] == "a"
