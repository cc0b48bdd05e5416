"""Runs in the cluster: what becomes of them when somebody takes their pod away, and that nothing is lost or left."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mle_backend_kubernetes import exec as exec_module
from mle_backend_kubernetes import manifests, network

from mlecore.backends import Job
from mlecore.errors import BackendUnreachable

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = [pytest.mark.kubernetes, pytest.mark.slow, pytest.mark.xdist_group("kubernetes-2")]

WORKS = "echo 1 >submission/submission.csv; echo begun; sleep 300"


def test_a_pod_that_somebody_deletes_is_a_failure_of_the_cluster_and_what_it_wrote_is_there(lab: Lab) -> None:
    handle = lab.start(WORKS)
    lab.said(handle, "begun")
    lab.cluster.delete(lab.cluster.path("pods", lab.pod(handle)))
    status = lab.wait(handle)
    assert status.infra_failure, status
    assert lab.fetch(handle, "submission") == {"submission/submission.csv": b"1\n"}
    assert lab.output(handle) == b"begun\n"


def test_an_evicted_pod_is_a_failure_of_the_cluster_also_for_who_was_away(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    handle = lab.start(WORKS)
    lab.said(handle, "begun")
    pod = lab.pod(handle)
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
    lab.cluster.create(lab.cluster.path("pods", pod, "eviction"), eviction)
    assert lab.wait(handle).infra_failure
    assert make_lab().wait(handle).infra_failure  # another process, which has seen nothing of it


def test_a_run_beyond_its_memory_says_so(lab: Lab) -> None:
    status = lab.wait(lab.start("head -c 600000000 /dev/zero | tail -n 1 | wc -c; exit 9", memory=100 * 2**20))
    assert (status.exit_code, status.oom, status.infra_failure) == (9, True, False)


def test_one_who_was_away_finds_how_a_run_ended_and_what_it_left(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    handle = lab.start("echo done >logs/a; exit 3")
    lab.wait(handle)
    later = make_lab()
    assert later.backend.list_jobs(lab.group) == {handle.name: handle}
    assert later.wait(handle).exit_code == 3
    assert later.fetch(handle, "logs/a") == {"logs/a": b"done\n"}


def test_a_start_that_was_cut_off_is_finished_by_the_next(
    make_lab: Callable[..., Lab], monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = make_lab()

    def cut(*args: Any, **values: Any) -> None:
        raise BackendUnreachable("the controller was killed here")

    def cut_at(module: Any, step: str) -> Job:
        job = lab.job("echo once")
        with monkeypatch.context() as patch:
            patch.setattr(module, step, cut)
            with pytest.raises(BackendUnreachable):
                lab.backend.start(job)
        return job

    jobs = [cut_at(manifests, "config_map"), cut_at(network, "policies")]
    next_controller = make_lab()
    handles = [next_controller.backend.start(job) for job in jobs]
    for job, handle in zip(jobs, handles, strict=True):
        assert lab.wait(handle).exit_code == 0
        assert lab.backend.start(job) == handle
        assert lab.output(handle) == b"once\n"


def test_files_and_output_come_while_it_runs_and_go_on_when_connections_break(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = "n=0; while [ $n -lt 60 ]; do n=$((n+1)); echo line $n; sleep 0.1; done"
    script = f"head -c 9000000 /dev/urandom >logs/big; cksum <logs/big; {lines}"
    handle = lab.start(script)
    lab.said(handle, "line 1\n")
    count, original = [0], exec_module.Stream._next

    def breaking(stream: exec_module.Stream) -> None:
        count[0] += 1
        if count[0] % 25 == 0:
            stream._socket.shutdown()
        original(stream)

    monkeypatch.setattr(exec_module.Stream, "_next", breaking)
    content = lab.fetch(handle, "logs")["logs/big"]
    followed = b"".join(lab.backend.logs(handle, follow=True)).decode().splitlines()
    assert count[0] > 50
    assert followed[1:] == [f"line {number}" for number in range(1, 61)]
    (tmp_path / "big").write_bytes(content)
    with (tmp_path / "big").open("rb") as file:
        assert subprocess.run(["cksum"], stdin=file, capture_output=True, text=True).stdout.strip() == followed[0]


def test_files_too_large_for_a_config_map_are_there_before_the_agent_begins(lab: Lab, tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(os.urandom(3_000_000))
    script = "wc -c <agent/large; cat /opt/mlecore/train.csv"
    handle = lab.start(script, files={"agent/large": large}, tools=_tools(lab))
    assert lab.wait(handle).exit_code == 0
    assert lab.output(handle) == b"3000000\nid,target\n1,0\n"


def _tools(lab: Lab) -> dict[str, Any]:
    """With one that is among the data, and not sent again."""
    return {**lab.job().tools, "train.csv": lab.dataset.public / "train.csv"}


def test_keys_are_in_the_environment_only_and_gone_with_the_run(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-planted-4711")
    handle = lab.start('[ "$TEST_KEY" = sk-$(echo planted)-4711 ] && echo has it', secrets=("TEST_KEY",))
    lab.wait(handle)
    assert lab.output(handle) == b"has it\n"
    shown = str(lab.cluster.get(lab.cluster.path("jobs", handle.name)))
    shown += str(lab.cluster.get(lab.cluster.path("pods", lab.pod(handle))))
    shown += str(lab.cluster.get(lab.cluster.path("configmaps", handle.name)))
    assert "sk-planted" not in shown


def test_a_run_sees_no_token_and_no_root(lab: Lab) -> None:
    look = "id -u; ls /var/run/secrets 2>/dev/null; touch /usr/x 2>/dev/null && echo wrote"
    handle = lab.start(f"{look}; grep CapEff /proc/self/status")
    lab.wait(handle)
    assert lab.output(handle).split() == [b"1000", b"CapEff:", b"0000000000000000"]


def test_what_an_agent_prints_on_a_terminal(lab: Lab) -> None:
    handle = lab.start("[ -t 1 ] && echo a terminal", terminal=True)
    lab.wait(handle)
    assert lab.output(handle).split() == [b"a", b"terminal"]


def test_stopping_is_no_failure_of_the_cluster_and_the_output_stays(lab: Lab) -> None:
    handle = lab.start(f"trap '' TERM; {WORKS}")
    lab.said(handle, "begun")
    lab.backend.stop(handle, 1.0)
    status = lab.wait(handle, seconds=30)
    assert (status.infra_failure, status.reason) == (False, "stopped by mlecore")
    assert lab.output(handle) == b"begun\n"
