"""Several hosts as one backend: where jobs go, what happens when a host does not answer, and that none runs twice."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from mle_backend_ssh import host as host_module
from mle_backend_ssh import placing, ssh_backend
from mle_backend_ssh.host import Host
from mle_backend_ssh.hosts import HostSettings
from mle_backend_ssh.ssh_backend import SshBackend

from mlecore.errors import BackendUnreachable
from mlecore.model.agents import Recipe
from mlecore.model.backends import Dataset, Handle, JobStatus, Resources
from mlecore_testing.backends.harness import shell_job, until


class Lab:
    """Hosts that are processes of this machine."""

    def __init__(self, folder: Path, make_link: Callable[[str], Any], settings: list[HostSettings]) -> None:
        self.folder = folder
        self.settings = settings
        self.links = {each.address: make_link(each.address) for each in settings}
        self.backend = self.another()
        public = folder / "public"
        public.mkdir(exist_ok=True)
        (public / "train.csv").write_text("id,y\n")
        self.dataset = Dataset(competition="c", edition="v1", public=public, digest="d")

    def another(self) -> SshBackend:
        """As another controller sees it."""

        settings = [evolve(each, python=sys.executable) for each in self.settings]
        return SshBackend(settings, lambda each: self.links[each.address], "none")

    def ready(self) -> None:
        """Data and environment are on every host."""
        self.image = self.backend.build(Recipe(), self.folder / "build.log")
        self.data = self.backend.stage_data(self.dataset, lambda *_: None)
        for host in self.backend._hosts.values():
            with suppress(BackendUnreachable):
                self.backend._send(host, self.dataset)

    def start(self, name: str, *argv: str, **resources: Any) -> Handle:
        given = {"image": self.image, "dataset": self.dataset, "data": self.data, "argv": argv or ("sleep", "600")}
        return self.backend.start(shell_job(**given, **{"name": name, "time_limit": 600.0, "grace": 0.2, **resources}))

    def status(self, handle: Handle) -> JobStatus:
        return self.backend.status([handle])[handle]


@pytest.fixture
def make_lab(
    tmp_path: Path, make_link: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Lab]]:
    monkeypatch.setenv("MLECORE_VM_STATE", str(tmp_path / "controller"))
    monkeypatch.setattr(host_module, "RETRY_PAUSE", 0.05)
    monkeypatch.setattr(host_module, "_PAUSE", 0.01)
    labs: list[Lab] = []

    def make(*settings: HostSettings) -> Lab:
        lab = Lab(tmp_path, make_link, list(settings) or [HostSettings(address="gpu1"), HostSettings(address="gpu2")])
        labs.append(lab)
        lab.ready()
        return lab

    yield make
    for lab in labs:
        for name, link in lab.links.items():
            link.up = True
            host = Host(HostSettings(address=link.name, python=sys.executable), link, {"isolation": "none"})
            for handle in host.call("list_jobs", "g").values():
                host.call("remove", handle)
            assert name


def host_of(handle: Handle) -> str:
    return handle.id.partition(" ")[0]


@pytest.mark.slow
def test_jobs_are_spread_and_found_by_another_controller(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    first, second = lab.start("mle-1"), lab.start("mle-2")
    assert {host_of(first), host_of(second)} == {"gpu1", "gpu2"}
    assert lab.another().list_jobs("g") == {"mle-1": first, "mle-2": second}
    assert lab.start("mle-1") == first
    lab.backend = lab.another()
    assert lab.start("mle-1") == first
    lab.backend.stop(first, 0.1)
    assert lab.status(first).phase == "exited"
    assert lab.another().status([second])[second].phase == "running"


@pytest.mark.slow
def test_a_silent_host_holds_up_no_start(make_lab: Callable[..., Lab], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placing, "_SLOW", 0.05)
    lab, over = make_lab(), threading.Event()
    monkeypatch.setattr(lab.backend._hosts["gpu1"], "load", lambda: over.wait(3600) and {})
    try:
        assert {host_of(lab.start(f"mle-{number}")) for number in range(2)} == {"gpu2"}
        assert not over.is_set()
    finally:
        over.set()


@pytest.mark.slow
def test_a_host_that_was_down_builds_when_it_gets_a_job(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    lab.links["gpu2"].up = False
    lab.backend = lab.another()
    lab.ready()
    assert "gpu2" not in lab.image.ref
    lab.links["gpu2"].up = True
    until(lambda: lab.backend._hosts["gpu2"].down is None)
    lab.links["gpu1"].up = False
    assert host_of(lab.start("mle-1")) == "gpu2"


@pytest.mark.slow
def test_slots_and_gpus_decide_where_there_is_room(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(HostSettings(address="gpu1", slots=1), HostSettings(address="gpu2", slots=2))
    handles = [lab.start(f"mle-{number}") for number in range(3)]
    assert sorted(map(host_of, handles)) == ["gpu1", "gpu2", "gpu2"]
    with pytest.raises(BackendUnreachable, match="no host has room for mle-4"):
        lab.start("mle-4")
    lab.backend.remove(handles[0])
    assert host_of(lab.start("mle-4")) == host_of(handles[0])


@pytest.mark.slow
def test_a_host_that_does_not_answer_keeps_its_jobs_for_a_while(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    first, second = lab.start("mle-1", "sh", "-c", "sleep 1; echo done"), lab.start("mle-2")
    lab.links[host_of(first)].up = False
    seen = lab.backend.status([first, second])
    assert (seen[first].phase, seen[second].phase) == ("running", "running")
    assert "does not answer" in seen[first].reason
    assert {host_of(lab.start("mle-3"))} == {"gpu1", "gpu2"} - {host_of(first)}
    lab.links[host_of(first)].up = True
    until(lambda: lab.status(first).phase == "exited")
    assert b"".join(lab.backend.logs(first)) == b"done\n"


@pytest.mark.slow
def test_a_job_given_up_is_removed_when_its_host_is_back(
    make_lab: Callable[..., Lab], monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = make_lab()
    first = lab.start("mle-1")
    link = lab.links[host_of(first)]
    link.up = False
    assert lab.status(first).phase == "running"
    monkeypatch.setattr(ssh_backend, "_LOST_AFTER", 0.0)
    assert lab.status(first).phase == "gone"
    again = lab.start("mle-1")
    assert host_of(again) != host_of(first)
    link.up = True
    there = Host(HostSettings(address=link.name, python=sys.executable), link, {"isolation": "none"})
    until(lambda: there.call("list_jobs", "g") == {})
    assert lab.backend.list_jobs("g") == {"mle-1": again}
    assert lab.status(again).phase == "running"


@pytest.mark.slow
def test_nothing_is_given_up_while_no_host_answers(
    make_lab: Callable[..., Lab], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it is our own network that is down."""
    lab = make_lab()
    first, second = lab.start("mle-1"), lab.start("mle-2")
    for link in lab.links.values():
        link.up = False
    lab.backend.status([first, second])
    monkeypatch.setattr(ssh_backend, "_LOST_AFTER", 0.0)
    assert {status.phase for status in lab.backend.status([first, second]).values()} == {"running"}


@pytest.mark.slow
def test_a_host_that_refuses_a_job_is_passed_over(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    broken = lab.links["gpu1"].home / ".local/state/mlecore/vm/jobs"
    broken.parent.mkdir(parents=True, exist_ok=True)
    broken.write_text("a file in the way")
    try:
        handles = [lab.start("mle-1"), lab.start("mle-2")]
    finally:
        broken.unlink()
    assert {host_of(handle) for handle in handles} == {"gpu2"}


@pytest.mark.slow
def test_what_is_wrong_with_one_host_is_a_warning(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    lab.links["gpu1"].up = False
    fatal = [problem for problem in lab.backend.preflight([Resources(network="open")]) if problem.fatal]
    assert fatal == []
    lab.links["gpu2"].up = False
    fatal = [problem for problem in lab.another().preflight() if problem.fatal]
    assert [problem.description for problem in fatal] == ["gpu1: does not answer", "gpu2: does not answer"]


@pytest.mark.slow
def test_each_job_sees_its_gpus_only_and_none_has_another_ones(make_lab: Callable[..., Lab]) -> None:
    """The ids need no device here: without a sandbox, a GPU is a number in CUDA_VISIBLE_DEVICES."""
    lab = make_lab(HostSettings(address="gpu1", gpus=("0", "3")), HostSettings(address="gpu2", gpus=("1",)))
    assert set(lab.backend.capacity().gpus) == {"gpu1/0", "gpu1/3", "gpu2/1"}
    script = ("sh", "-c", 'echo "$CUDA_VISIBLE_DEVICES"; sleep 60')
    handles = [lab.start(f"mle-{number}", *script, gpus=1) for number in range(3)]

    def seen(handle: Handle) -> tuple[str, bytes]:
        until(lambda: b"".join(lab.backend.logs(handle)).endswith(b"\n"))
        return host_of(handle), b"".join(lab.backend.logs(handle))

    assert sorted(map(seen, handles)) == [("gpu1", b"0\n"), ("gpu1", b"3\n"), ("gpu2", b"1\n")]
    assert seen(lab.start("mle-none", *script)) in [("gpu1", b"\n"), ("gpu2", b"\n")]
    with pytest.raises(BackendUnreachable, match="no host has room"):
        lab.start("mle-more", *script, gpus=1)
    lab.backend.remove(handles[0])
    assert host_of(lab.start("mle-more", *script, gpus=1)) == host_of(handles[0])
