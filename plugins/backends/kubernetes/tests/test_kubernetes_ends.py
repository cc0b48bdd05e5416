"""Whose doing an end was, from what a cluster says of a pod and its Job."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from mle_backend_kubernetes.cluster import Cluster
from mle_backend_kubernetes.cluster_cache import Job, Workload, after_pull, job_of, pod_of, workload_of
from mle_backend_kubernetes.names import JOB, QUEUE, ROLE, STOPPED
from mle_backend_kubernetes.nodes import GpuModels
from mle_backend_kubernetes.outcome import of_job, of_pod
from mle_backend_kubernetes.settings import Settings

from mlecore.errors import BackendError
from mlecore.model.backends import ARGV_KILLED, Hardware
from mlecore_jobs.hardware import measured

LONG_AGO = "2026-01-01T00:00:00Z"


def pod(state: dict[str, Any] | None = None, limits: dict[str, str] | None = None, **status: Any) -> dict[str, Any]:
    """A pod as the API server writes it."""
    statuses = [{"name": "agent", "state": state}] if state else []
    return {
        "metadata": {"name": "p", "uid": "u", "labels": {JOB: "mle-a-1", ROLE: "agent"}},
        "spec": {"nodeName": "n", "containers": [{"name": "agent", "resources": {"limits": limits or {}}}]},
        "status": {"phase": "Running", "containerStatuses": statuses, **status},
    }


def ended(code: int, reason: str = "Error") -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "reason": reason, "startedAt": LONG_AGO, "finishedAt": LONG_AGO}}


def disrupted(reason: str, message: str = "") -> dict[str, Any]:
    return {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message}]}


def job(*conditions: dict[str, str], queue: str = "", **annotations: str) -> Job:
    meta = {"name": "mle-a-1", "uid": "j", "labels": {QUEUE: queue}, "annotations": annotations}
    status = {"conditions": [{"status": "True", **each} for each in conditions]}
    return job_of({"metadata": meta, "spec": {"suspend": bool(queue)}, "status": status})


def deleted(raw: dict[str, Any], at: str = "2099-01-01T00:00:00Z") -> dict[str, Any]:
    raw["metadata"]["deletionTimestamp"] = at
    return raw


@pytest.mark.parametrize(
    ("raw", "code", "infra", "oom", "timed_out"),
    [
        (pod(ended(0, "Completed")), 0, False, False, False),
        (pod(ended(7)), 7, False, False, False),
        (pod(ended(124)), 124, False, False, False),
        (pod(ended(137, "OOMKilled")), 137, False, True, False),
        (pod(ended(0, "OOMKilled")), 0, False, False, False),  # it got over a killed child
        (pod(ended(137)), 137, True, False, False),  # init never exits so by itself
        (pod(ended(255, "Unknown")), 255, True, False, False),
        (pod(ended(137, "ContainerStatusUnknown")), 137, True, False, False),
        (pod(ended(143), **disrupted("PreemptionByScheduler")), 143, True, False, False),
        (pod(ended(143), **disrupted("EvictionByEvictionAPI")), 143, True, False, False),
        (pod(ended(137), phase="Failed", reason="DeadlineExceeded"), 137, False, False, True),
        (
            pod(phase="Failed", reason="Evicted", message="Usage of EmptyDir exceeds the limit"),
            ARGV_KILLED,
            False,
            False,
            False,
        ),
        (pod(phase="Failed", reason="UnexpectedAdmissionError", message="no GPU"), None, True, False, False),
    ],
)
def test_a_pod_says_whose_doing_its_end_was(
    raw: dict[str, Any], code: int | None, infra: bool, oom: bool, timed_out: bool
) -> None:
    status = of_pod(pod_of(raw), None)
    assert (status.phase, status.exit_code) == ("exited", code)
    assert (status.infra_failure, status.oom, status.timed_out) == (infra, oom, timed_out)


def test_a_pod_s_clock_is_the_cluster_s_and_only_a_first_process_killed_by_nobody_known_is_in_doubt() -> None:
    state = ended(124)
    state["terminated"]["finishedAt"] = "2026-01-01T00:01:05Z"
    assert of_pod(pod_of(pod(state)), None).seconds == 65.0
    doubts = [of_pod(pod_of(pod(ended(137, reason))), None).in_doubt for reason in ("Error", "OOMKilled")]
    assert doubts == [True, False]


def staged(said: str, limits: dict[str, str]) -> Hardware | None:
    """Of a pod whose stage said this, in a cluster whose nodes we may not read."""
    statuses = [
        {"name": "other", "state": {"terminated": {"message": "{}"}}},
        {"name": "stage", "state": {"terminated": {"message": said}}},
    ]
    cluster = Cluster()
    cluster.get = _forbidden  # type: ignore[method-assign]
    return GpuModels(cluster, Settings()).hardware(pod_of(pod(ended(0), limits, initContainerStatuses=statuses)))


def _forbidden(path: str, **query: Any) -> dict[str, Any]:
    raise BackendError("you may not get nodes")


def test_hardware_is_the_pod_s_limits_and_what_was_seen_of_its_node_before_the_agent_began() -> None:
    said = json.dumps(measured(None, None))
    node = staged(said, {})
    assert node is not None and node.cpus == len(os.sched_getaffinity(0)) and node.kernel.startswith("Linux")
    limited = staged(said, {"cpu": "500m", "memory": "1Ki", "nvidia.com/gpu": "2"})
    assert limited is not None
    assert (limited.cpus, limited.memory, limited.gpus) == (0.5, 1024, ("nvidia.com/gpu",) * 2)
    assert (limited.cpu, limited.kernel) == (node.cpu, node.kernel)
    assert staged("", {}) is None and staged("[1]", {}) is None


@pytest.mark.parametrize(
    ("limits", "infra", "oom"), [({}, False, True), ({"memory": "1Gi", "ephemeral-storage": "1Gi"}, True, False)]
)
def test_a_run_without_a_limit_may_have_caused_its_eviction(limits: dict[str, str], infra: bool, oom: bool) -> None:
    words = "The node was low on resource: memory. Threshold quantity: 100Mi"
    raw = pod(limits=limits, phase="Failed", message=words, **disrupted("TerminationByKubelet"))
    status = of_pod(pod_of(raw), None)
    assert (status.infra_failure, status.in_doubt, status.oom) == (infra, infra, oom)


def test_a_pod_that_somebody_deleted_is_no_agent_s_doing_but_one_that_we_stopped_is_no_failure() -> None:
    raw = deleted(pod(ended(143)))
    assert of_pod(pod_of(raw), job()).infra_failure
    stopped = of_pod(pod_of(raw), job(**{STOPPED: "now"}))
    assert (stopped.infra_failure, stopped.reason) == (False, "stopped by mlecore")


def test_a_pod_on_a_lost_node_is_given_up() -> None:
    running = {"running": {"startedAt": LONG_AGO}}
    assert of_pod(pod_of(deleted(pod(running))), job()).phase == "running"
    past = (datetime.now(UTC) - timedelta(minutes=5)).isoformat()
    status = of_pod(pod_of(deleted(pod(running), past)), job())
    assert (status.phase, status.infra_failure) == ("exited", True)


def pulling(reason: str, message: str) -> dict[str, Any]:
    return pod({"waiting": {"reason": reason, "message": message}}, phase="Pending")


@pytest.mark.parametrize(
    ("failure", "stuck"), [("lab/agent:1: not found", True), ("dial tcp: connection refused", False)]
)
def test_between_two_pulls_the_last_one_s_failure_counts(failure: str, stuck: bool) -> None:
    failed = pod_of(pulling("ErrImagePull", failure))
    between = pod_of(pulling("ImagePullBackOff", "Back-off pulling image lab/agent:1"))
    status = of_pod(after_pull(failed, between), None)
    assert status.stuck == stuck and failure in status.reason
    assert ("push it" in status.reason) == stuck
    told = pod_of(pulling("ImagePullBackOff", "Back-off pulling image: ErrImagePull: timed out"))
    assert not of_pod(after_pull(failed, told), None).stuck  # newer clusters tell it themselves
    assert not of_pod(between, None).stuck  # seen for the first time: nobody knows why
    set_up = pod_of(pulling("ContainerCreating", ""))
    assert after_pull(failed, set_up) == set_up


def ended_with(code: int) -> dict[str, str]:
    words = f"Container agent for pod ns/p failed with exit code {code} matching FailJob rule at index 1"
    return {"type": "Failed", "reason": "PodFailurePolicy", "message": words}


@pytest.mark.parametrize(
    ("condition", "code", "infra"),
    [
        ({"type": "Complete"}, 0, False),
        (ended_with(7), 7, False),
        (ended_with(124), 124, False),
        (ended_with(143), 143, True),  # by SIGTERM, and somebody deleted its pod: not the other way round
        (ended_with(247), 247, True),  # the same, of an agent that ignores SIGTERM
        (ended_with(137), 137, True),
        (
            {
                "type": "Failed",
                "reason": "PodFailurePolicy",
                "message": "Pod ns/p has condition DisruptionTarget matching FailJob rule at index 0",
            },
            None,
            True,
        ),
        ({"type": "Failed", "reason": "BackoffLimitExceeded", "message": "too many failures"}, None, True),
        ({"type": "Failed", "reason": "DeadlineExceeded"}, None, True),
    ],
)
def test_a_job_whose_pod_is_gone_remembers_how_it_ended(
    condition: dict[str, str], code: int | None, infra: bool
) -> None:
    status = of_job(job(condition))
    assert (status.phase, status.exit_code, status.infra_failure) == ("exited", code, infra)


def test_a_preemption_is_known_after_kueue_has_admitted_the_job_again() -> None:
    def workload(*conditions: dict[str, str]) -> Workload:
        meta = {"name": "w", "uid": "w", "labels": {"kueue.x-k8s.io/job-uid": "j"}}
        return workload_of({"metadata": meta, "status": {"conditions": list(conditions)}})

    preempted = {"type": "Preempted", "status": "True", "reason": "InClusterQueue", "message": "for w2"}
    admitted = {**preempted, "status": "False", "reason": "QuotaReserved", "message": "Previously: for w2"}
    assert workload(preempted).preempted == workload(admitted).preempted == "for w2"
    assert not workload({"type": "Evicted", "status": "True", "reason": "PodsReadyTimeout"}).preempted
