"""What an engine does to runs: it restarts, is killed, is slow, loses answers, has no room left, maps user ids.

Each test has its own engine, beside the one that is here, and may treat it badly.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mle_backend_docker import starting
from mle_backend_docker.docker_backend import DockerBackend

from mlecore.errors import BackendError, BackendUnreachable
from mlecore_sandboxes.containers import engine as engine_module
from mlecore_sandboxes.containers.engine import Engine

if TYPE_CHECKING:
    from conftest import Lab, OwnEngine
    from mlecore_testing.disks import Disk

    LabOn = Callable[[Engine, Path], Lab]

pytestmark = pytest.mark.docker


@pytest.fixture
def own_lab(own: OwnEngine, tmp_path: Path, lab_on: LabOn) -> Iterator[Lab]:
    tmp_path.chmod(0o755)
    lab = lab_on(Engine(own.host), tmp_path)
    yield lab
    if own.process is None:
        own.start()
    lab.clear()


def test_a_restart_without_live_restore_is_an_infrastructure_failure(own: OwnEngine, own_lab: Lab) -> None:
    before = own_lab.start("echo result >submission/submission.csv; exit 3")
    own_lab.wait(before)
    handle = own_lab.start(
        "trap 'exit 0' TERM; echo half >submission/submission.csv; echo up; while :; do sleep 0.1; done"
    )
    own_lab.said(handle, "up")
    own.end(signal.SIGKILL)
    with pytest.raises(BackendUnreachable):
        own_lab.backend.status([handle])
    own.start()
    status = own_lab.wait(handle)
    assert status.infra_failure and "engine" in status.reason
    # What had ended before is a result still, and can be fetched.
    again = own_lab.backend.status([before])[before]
    assert (again.exit_code, again.infra_failure) == (3, False)
    assert own_lab.backend.fetch(before, ["submission"], own_lab.folder / "out", 1000, 1000).files == 1
    assert set(own_lab.backend.list_jobs(own_lab.group)) == {before.name, handle.name}


def test_an_engine_that_stops_in_order_is_never_the_agents_crash(own: OwnEngine, own_lab: Lab) -> None:
    """While it stops, it still answers who is connected, and its containers end one by one."""
    handle = own_lab.start("trap 'exit 1' TERM; echo up; while :; do sleep 0.1; done")
    stubborn = own_lab.start("trap '' TERM; echo up; while :; do sleep 0.1; done", grace=5.0)
    for each in (handle, stubborn):
        own_lab.said(each, "up")
    assert own.process is not None
    own.process.send_signal(signal.SIGTERM)
    answers = []
    while own.process.poll() is None:
        with contextlib.suppress(BackendUnreachable):
            answers.append(own_lab.backend.status([handle])[handle])
    own.end()
    own.start()
    answers += own_lab.backend.status([handle, stubborn]).values()
    ended = [status for status in answers if status.phase != "running"]
    assert len(ended) > 1 and all(status.infra_failure for status in ended), ended


def test_a_containers_runtime_that_is_killed_is_an_infrastructure_failure(own: OwnEngine, own_lab: Lab) -> None:
    handle = own_lab.start("echo up; sleep 1000")
    own_lab.said(handle, "up")
    init = own_lab.engine.api.inspect_container(handle.name)["State"]["Pid"]
    shim = int(Path(f"/proc/{init}/stat").read_text().rpartition(")")[2].split()[1])
    assert b"shim" in Path(f"/proc/{shim}/cmdline").read_bytes()
    os.kill(shim, signal.SIGKILL)
    assert own_lab.wait(handle).infra_failure


@pytest.mark.slow
def test_a_power_loss_is_an_infrastructure_failure(own: OwnEngine, disk: Disk, tmp_path: Path, lab_on: LabOn) -> None:
    """What the engine knew of a container is gone, or of some moment before: the attempt is lost either way."""
    own.end()
    tmp_path.chmod(0o755)
    doomed = type(own)(own.folder, disk.at / "data")
    try:
        doomed.start()
        doomed.load()
        os.sync()
        lab = lab_on(Engine(doomed.host), tmp_path)
        handle = lab.start("echo half >submission/submission.csv; echo up; sleep 1000")
        lab.said(handle, "up")
        working = processes_of(doomed)
        disk.lose_power()
        for pid in working | processes_of(doomed):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        doomed.end(signal.SIGKILL)
        doomed.start()
        lab = lab_on(Engine(doomed.host), tmp_path)
        status = lab.backend.status([handle])[handle]
        assert status.phase == "gone" or (status.phase == "exited" and status.infra_failure), status
        lab.backend.remove(handle)
        assert lab.wait(lab.start("echo id,y >submission/submission.csv")).exit_code == 0
        lab.clear()
    finally:
        doomed.close()
        own.start()


def processes_of(own: OwnEngine) -> set[int]:
    """The engine's containerd, the runtimes of its containers, and what runs in them."""
    parents, found = {}, set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if str(own.folder).encode() in (folder / "cmdline").read_bytes():
                found.add(int(folder.name))
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


class Toxic:
    """A socket in front of an engine's that passes everything on until a test says otherwise."""

    def __init__(self, folder: Path, to: str) -> None:
        self.path = folder / "toxic.sock"
        self.to = to
        self.hang = threading.Event()
        self.swallow = b""  # the answer to a request with these bytes is lost, once
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(self.path))
        self.server.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            upstream = socket.socket(socket.AF_UNIX)
            upstream.connect(self.to)
            state = {"swallow": False}
            for source, sink, asks in ((client, upstream, True), (upstream, client, False)):
                threading.Thread(target=self._pump, args=(source, sink, asks, state), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, asks: bool, state: dict[str, bool]) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if asks and self.swallow and self.swallow in data:
                    self.swallow, state["swallow"] = b"", True
                if not asks and state["swallow"]:
                    break
                while self.hang.is_set():
                    time.sleep(0.05)
                sink.sendall(data)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def toxic(lab: Lab, tmp_path: Path) -> Iterator[tuple[Toxic, DockerBackend]]:
    made = Toxic(tmp_path, lab.engine.host.removeprefix("unix://"))
    yield made, DockerBackend({}, Engine(f"unix://{made.path}"))
    made.hang.clear()
    made.server.close()


def test_a_slow_engine_is_asked_again_and_not_taken_for_a_no(
    lab: Lab, toxic: tuple[Toxic, DockerBackend], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, backend = toxic
    handle = lab.start("sleep 1000")
    assert backend.status([handle])[handle].phase == "running"
    place.hang.set()
    with monkeypatch.context() as patch:
        patch.setattr(engine_module, "SECONDS", 5.0)
        patch.setattr(backend.engine.api, "timeout", 5.0)
        with pytest.raises(BackendUnreachable, match="did not answer within 5 s"):
            backend.status([handle])
    place.hang.clear()
    assert backend.status([handle])[handle].phase == "running"


@pytest.mark.parametrize(
    "lost", [b"/containers/create", b"/archive?path=%2Fhome", b"/archive?path=%2Fopt", b"/start HTTP"]
)
def test_a_start_whose_answer_is_lost_is_repeated_without_harm(
    lab: Lab, toxic: tuple[Toxic, DockerBackend], monkeypatch: pytest.MonkeyPatch, lost: bytes
) -> None:
    monkeypatch.setattr(starting, "CREATOR_TIMEOUT", 0.2)
    place, backend = toxic
    job = lab.job("echo ran")
    assert backend.preflight([job.resources]) == []
    place.swallow = lost
    with pytest.raises(BackendUnreachable):
        backend.start(job)
    assert place.swallow == b""
    handle = backend.start(job)
    assert lab.printed(handle) == "ran\n"
    assert lab.left()["containers"] == [f"/{job.name}"]


def test_a_full_disk_is_reported_and_the_output_of_running_jobs_can_be_fetched(
    own: OwnEngine, tmp_path: Path, lab_on: LabOn
) -> None:
    own.end()
    disk, folder = tmp_path / "disk.img", tmp_path / "small"
    folder.mkdir()
    tmp_path.chmod(0o755)
    subprocess.run(["truncate", "-s", "250M", disk], check=True)
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", disk], check=True)
    if subprocess.run(["mount", "-o", "loop", disk, folder], capture_output=True).returncode:
        own.start()
        pytest.skip("no loop devices here")
    small = type(own)(own.folder, folder)
    try:
        small.start()
        small.load()
        lab = lab_on(Engine(small.host), tmp_path)
        handle = lab.start("echo 1 >submission/submission.csv; cat /dev/zero >/tmp/fill; sleep 600")
        deadline = time.monotonic() + 60
        while (free := os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize) > 1 << 20:
            assert time.monotonic() < deadline, f"{free} bytes are still free"
            time.sleep(0.1)
        with pytest.raises(BackendError, match="disk is full") as error:
            for _ in range(20):
                lab.start("true", files={"agent/x": os.urandom(1 << 20)})
        assert "mlecore images prune" in str(error.value)
        assert lab.backend.status([handle])[handle].phase == "running"
        fetched = lab.backend.fetch(handle, ["submission"], tmp_path / "out", 1000, 1000)
        assert fetched.files == 1
        lab.backend.stop(handle, 0.2)
        lab.clear()
    finally:
        small.close()
        subprocess.run(["umount", "-l", folder])
        own.start()


def test_user_namespaces_change_nothing_for_a_run(own: OwnEngine, tmp_path: Path, lab_on: LabOn) -> None:
    if "dockremap:" not in Path("/etc/subuid").read_text():
        pytest.skip("no user dockremap with subordinate ids here")
    own.end()
    own.flags = ("--userns-remap=default",)
    own.start()
    try:
        own.load()
        tmp_path.chmod(0o755)
        lab = lab_on(Engine(own.host), tmp_path)
        script = "cat data/train.csv; touch submission/x logs/y agent/z /tmp/t && echo wrote; cat agent/f"
        handle = lab.start(script, files={"agent/f": b"file"})
        said = lab.printed(handle)
        assert said.startswith("id,target\n1,0\nwrote\n") and said.endswith("file")
        assert lab.backend.fetch(handle, ["submission", "logs"], tmp_path / "out", 1000, 1000).files == 2
        assert "user namespace" in lab.backend.describe().user
        lab.clear()
    finally:
        own.end()
        own.flags = ()
        own.start()


def test_no_engine_at_all_is_a_problem_with_its_fix(tmp_path: Path) -> None:
    [problem] = DockerBackend({}, Engine(f"unix://{tmp_path}/none")).preflight()
    assert "does not answer" in problem.description and "DOCKER_HOST" in problem.fix


def test_an_engine_elsewhere_is_refused(tmp_path: Path) -> None:
    [problem] = DockerBackend({}, Engine("tcp://192.0.2.9:2376")).preflight()
    assert "another machine" in problem.description
