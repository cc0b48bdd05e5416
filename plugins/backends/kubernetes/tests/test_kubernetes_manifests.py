"""What the cluster is asked for is valid, small, and keeps to the standard "restricted"."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kubernetes_validate
import pytest
from mle_backend_kubernetes import manifests
from mle_backend_kubernetes.kubernetes_backend import KubernetesBackend
from mle_backend_kubernetes.settings import Settings

from mlecore.errors import BackendError, UsageError
from mlecore.model.options import read_settings
from mlecore_testing.backends.harness import shell_job

if TYPE_CHECKING:
    from conftest import Lab

POD_SPEC = {
    "nodeSelector": {"gpu": "h200"},
    "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}},
    "runtimeClassName": "nvidia",
    "priorityClassName": "batch",
    "serviceAccountName": "runs",
    "imagePullSecrets": [{"name": "a"}, {"name": "b"}],
    "containers": [{"name": "agent", "stdinOnce": True}],
}
OPTIONS = {"queue": "gpus", "ephemeral-storage": "10GiB", "pod-template": json.dumps({"spec": POD_SPEC})}


def made(tmp_path: Path, options: dict[str, str] | None = None, **resources: Any) -> dict[str, Any]:
    argv, labels = ("python", "-c", "print('$(HOME) $$ $x')"), {"run": "baseline--toy--0"}
    job = shell_job(name="mle-abc-1", data="claim/public", argv=argv, tools={}, labels=labels, **resources)
    settings = read_settings(Settings, options or {}, "backend kubernetes")
    template = manifests.agent_template(
        job,
        settings,
        image="image",
        helper="helper",
        read_only=True,
        data={"name": "data", "subPath": "public"},
        variables={"A": "$(B)"},
        hosts=[],
        staging={"MLECORE_WAIT_FOR": "[]"},
    )
    return manifests.job_object(job, settings, template)


@pytest.mark.parametrize("options", [{}, OPTIONS, {"output": "pod"}])
@pytest.mark.parametrize("resources", [{}, {"gpus": 8, "cpus": 4, "memory": 2**36, "disk": 2**40, "secrets": ("KEY",)}])
def test_jobs_are_valid_and_small(tmp_path: Path, options: dict[str, str], resources: dict[str, Any]) -> None:
    found = made(tmp_path, options, **resources)
    kubernetes_validate.validate(found, "1.34", strict=True)
    assert len(json.dumps(found)) < 10_000


@pytest.mark.kubernetes
@pytest.mark.slow
@pytest.mark.xdist_group("kubernetes-2")
@pytest.mark.parametrize("options", [OPTIONS, {"output": "pod"}])
def test_the_server_takes_them_and_knows_every_key(lab: Lab, tmp_path: Path, options: dict[str, str]) -> None:
    job = made(tmp_path, options, gpus=8, cpus=4, memory=2**36, disk=2**40, secrets=("KEY",))
    only_try = {"dryRun": "All", "fieldValidation": "Strict"}
    assert lab.cluster.request("POST", lab.cluster.path("jobs"), body=job, query=only_try)["metadata"]["uid"]


@pytest.mark.kubernetes
@pytest.mark.slow
@pytest.mark.xdist_group("kubernetes-2")
def test_a_patch_with_a_misspelt_key_is_refused(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(**{"pod-template": '{"spec": {"schedulerNmae": "mine"}}'})
    with pytest.raises(BackendError, match="schedulerNmae"):
        lab.start()


def test_where_options_go_in_a_run_s_pod(tmp_path: Path) -> None:
    labels = {"mlecore.org/job": "other", "group": "b"}
    patch = json.dumps({"metadata": {"labels": labels}, "spec": POD_SPEC})
    template = made(tmp_path, {"user": "1234:5", "labels": "team=a", "pod-template": patch})["spec"]["template"]
    spec, (agent,) = template["spec"], template["spec"]["containers"]
    assert {name: spec[name] for name in POD_SPEC if name != "containers"}.items() <= POD_SPEC.items()
    assert agent["stdinOnce"] and agent["image"] == "image"
    assert (spec["securityContext"]["runAsUser"], spec["securityContext"]["runAsGroup"]) == (1234, 5)
    wanted = {"team": "a", "group": "b", "mlecore.org/job": "mle-abc-1"}  # by which it is found
    assert wanted.items() <= template["metadata"]["labels"].items()


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("user", "0", "root"),
        ("shm", "much", "size"),
        ("keep", "long", "duration"),
        ("labels", "gpu", "name=value"),
        ("pod-template", "[]", "table"),
        ("pod-template", "{", "pod-template"),
        ("pod-template", '{"spec": {"tolerations": {}}}', "tolerations must be a list"),
        ("registry", "https://example.com", "scheme"),
    ],
)
def test_a_bad_value_is_refused_with_the_option_s_name(name: str, value: str, word: str) -> None:
    with pytest.raises(UsageError, match=word) as raised:
        KubernetesBackend({name: value})
    assert f"option {name}={value}" in str(raised.value)


def test_the_deadline_leaves_time_to_wait_to_stage_and_to_be_collected(tmp_path: Path) -> None:
    options = {"wait": "2h", "keep": "3h", "output": "pod"}
    found = made(tmp_path, options, time_limit=600.0, grace=10.0)["spec"]
    staging = int(manifests.STAGING)
    assert found["activeDeadlineSeconds"] == 610 + staging + 5 * 3600
    keeper = found["template"]["spec"]["containers"][1]
    assert (keeper["name"], keeper["command"][-2:]) == ("keeper", ["wait", str(610 + 3 * 3600)])
    on_claim = made(tmp_path, {"wait": "2h", "keep": "3h"}, time_limit=600.0, grace=10.0)["spec"]
    assert on_claim["activeDeadlineSeconds"] == 610 + staging + 2 * 3600
    assert (found["backoffLimit"], found["template"]["spec"]["restartPolicy"]) == (0, "Never")


@pytest.mark.parametrize(
    ("options", "storage", "volume"),
    [
        ({}, None, {"persistentVolumeClaim": {"claimName": "mle-abc-1"}}),
        ({"ephemeral-storage": "1GiB"}, 2**30, {"persistentVolumeClaim": {"claimName": "mle-abc-1"}}),
        ({"output": "pod"}, 2**31, {"emptyDir": {"sizeLimit": str(2**31)}}),
        ({"output": "pod", "ephemeral-storage": "1GiB"}, 2**31 + 2**30, {"emptyDir": {"sizeLimit": str(2**31)}}),
    ],
)
def test_what_a_run_may_write_and_where(
    tmp_path: Path, options: dict[str, str], storage: int | None, volume: dict[str, Any]
) -> None:
    pod = made(tmp_path, options, disk=2**31)["spec"]["template"]["spec"]
    limits = pod["containers"][0]["resources"]
    wanted = {"ephemeral-storage": str(storage)} if storage else None
    assert (limits.get("requests"), limits.get("limits")) == (wanted, wanted)
    assert {"name": "claim", **volume} in pod["volumes"]


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
