"""Real sshds behind links that are cut and slowed: nothing is lost, and errors say what to do."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mle_backend_ssh import asyncssh_link, host

from mlecore.model.agents import Recipe
from mlecore.model.backends import Backend, Dataset, Handle, Job
from mlecore.plugins.opening import open_backend
from mlecore_jobs import INSIDE
from mlecore_testing.backends import check_backend
from mlecore_testing.backends.harness import shell_job, until

_spec = importlib.util.spec_from_file_location("ssh_hosts", Path(__file__).with_name("ssh_hosts.py"))
assert _spec is not None and _spec.loader is not None
ssh_hosts = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(ssh_hosts)

pytestmark = [
    pytest.mark.skipif(bool(ssh_hosts.missing()), reason=ssh_hosts.missing() or "there are hosts"),
    pytest.mark.slow,
]

INIT = INSIDE / "init"


@pytest.fixture
def make_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], Any]]:
    monkeypatch.setenv("MLECORE_VM_STATE", str(tmp_path / "controller"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setattr(host, "RETRY_PAUSE", 0.5)
    monkeypatch.setattr(host, "_PAUSE", 0.2)
    made: list[Any] = []

    def make(count: int) -> Any:
        try:
            hosts = ssh_hosts.Hosts(tmp_path / "hosts", count)
        except ssh_hosts.NoHosts as error:
            pytest.skip(str(error))
        made.append(hosts)
        monkeypatch.setenv("HOME", str(hosts.home))
        return hosts

    yield make
    for hosts in made:
        for one in hosts.hosts:
            one.restore()
        backend = pool(hosts)
        for handle in backend.list_jobs("g").values():
            backend.remove(handle)
        hosts.close()


def pool(hosts: Any, **options: str) -> Backend:
    addresses = ",".join(one.address for one in hosts.hosts)
    return open_backend("ssh", {"host": addresses, "isolation": "none", **options}).backend


def job(backend: Backend, folder: Path, *argv: str, size: int = 10) -> Job:
    public = folder / "public"
    public.mkdir(exist_ok=True)
    (public / "train.bin").write_bytes(os.urandom(size))
    dataset = Dataset(competition="c", edition="v1", public=public, digest=f"d{size}")
    image, data = backend.build(Recipe(), folder / "build.log"), backend.stage_data(dataset, lambda *_: None)
    given = {"image": image, "dataset": dataset, "data": data}
    return shell_job(name="mle-1", argv=argv, time_limit=300.0, grace=1.0, **given)


def phase(backend: Backend, handle: Handle) -> str:
    return backend.status([handle])[handle].phase


@pytest.mark.sandbox
def test_the_kit(make_hosts: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host.Host, "_gateway_python", lambda _: sys.executable)  # a host has no network to install it
    (one,) = make_hosts(1).hosts
    host_table = [{"address": one.address, "python": sys.executable}]
    skipped = check_backend("ssh", {"host": json.dumps(host_table)})
    assert {skip.rule for skip in skipped} == {"gateway"}  # the scripted model is on this machine's loopback


def test_an_unknown_host_key_says_what_to_do(make_hosts: Callable[[int], Any]) -> None:
    hosts = make_hosts(1)
    known = hosts.known.read_text()
    hosts.known.write_text("")
    (problem,) = pool(hosts).preflight()
    assert problem.fatal and "host key" in problem.description and "compare the fingerprint" in problem.fix
    hosts.known.write_text(known)


def test_a_backend_that_nobody_uses_any_more_leaves_no_session(make_hosts: Callable[[int], Any]) -> None:
    hosts = make_hosts(1)
    for _ in range(3):
        pool(hosts).capacity()
    gc.collect()
    until(lambda: len(hosts.hosts[0].processes()) == 1)  # sshd itself


def test_a_job_runs_on_while_its_link_is_cut(
    make_hosts: Callable[[int], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asyncssh_link, "_KEEPALIVE", 2.0)
    monkeypatch.setattr(asyncssh_link, "_CONNECTED", 8.0)
    hosts = make_hosts(1)
    backend = pool(hosts)
    go = tmp_path / "go"
    script = f"echo one; until [ -e {go} ]; do sleep 0.1; done; echo two; echo 1 > submission/s.csv"
    handle = backend.start(job(backend, tmp_path, "sh", "-c", script))
    said: list[bytes] = []
    reader = threading.Thread(target=lambda: said.extend(backend.logs(handle, follow=True)), daemon=True)
    reader.start()
    until(lambda: said == [b"one\n"])
    hosts.hosts[0].cut()
    until(lambda: "does not answer" in backend.status([handle])[handle].reason)
    assert phase(backend, handle) == "running"
    go.touch()
    hosts.hosts[0].restore()
    until(lambda: phase(backend, handle) == "exited")
    reader.join(240)
    assert b"".join(said) == b"one\ntwo\n"
    assert backend.fetch(handle, ["submission"], tmp_path / "into", 100, 10).files == 1
