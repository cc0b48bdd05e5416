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

from mlecore.errors import BackendUnreachable
from mlecore.model.backends import Job

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
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "n=0; while [ $n -lt 60 ]; do n=$((n+1)); echo line $n; sleep 0.1; done"
    parts = "head -c 4000000 /dev/urandom >code/all; split -b 200000 code/all logs/part; cksum <code/all"
    handle = lab.start(f"{parts}; {lines}")
    lab.said(handle, "line 1\n")
    count, original = [0], exec_module.Stream._next

    def breaking(stream: exec_module.Stream) -> None:
        count[0] += 1
        if count[0] % 25 == 0:
            stream._socket.shutdown()
        original(stream)

    monkeypatch.setattr(exec_module.Stream, "_next", breaking)
    files = lab.fetch(handle, "logs")
    followed = b"".join(lab.backend.logs(handle, follow=True)).decode().splitlines()
    assert count[0] > 50 and len(files) == 20
    assert followed[1:] == [f"line {number}" for number in range(1, 61)]
    whole = b"".join(files[name] for name in sorted(files))
    assert subprocess.run(["cksum"], input=whole, capture_output=True).stdout.decode().strip() == followed[0]


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


def test_what_an_agent_prints_on_a_terminal(lab: Lab) -> None:
    handle = lab.start("[ -t 1 ] && echo a terminal", terminal=True)
    lab.wait(handle)
    assert lab.output(handle).split() == [b"a", b"terminal"]
