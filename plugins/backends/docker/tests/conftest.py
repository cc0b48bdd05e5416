"""A backend on the engine that is here, jobs for it, and a look afterwards that nothing of them is left."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mle_backend_docker.docker_backend import DockerBackend

from mlecore.errors import BackendError
from mlecore.model.backends import Handle, Job
from mlecore_sandboxes.containers import names
from mlecore_sandboxes.containers.engine import Engine
from mlecore_sandboxes.containers.settings import BASE
from mlecore_testing.backends.harness import INIT
from mlecore_testing.backends.harness import Lab as AnyLab


class Lab(AnyLab[DockerBackend]):
    """One backend with its own group."""

    def __init__(self, engine: Engine, folder: Path, **options: str) -> None:
        super().__init__(folder)
        self.backend = DockerBackend(options, engine)
        self.engine = engine

    def job(self, script: str = "true", **changes: Any) -> Job:
        return super().job(script, **{"tools": {"init": INIT, "sample.csv": b"id,target\n"}, **changes})

    def printed(self, handle: Handle) -> str:
        """What it has printed, at its end."""
        return b"".join(self.backend.logs(handle, follow=True)).decode()

    def let_go(self, handle: Handle) -> None:
        """Tell a job that waits for logs/go to go on."""
        api = self.engine.api
        api.exec_start(api.exec_create(handle.name, ["touch", "/home/logs/go"])["Id"])

    def run(self, script: str, **changes: Any) -> str:
        return self.printed(self.start(script, **changes))

    def ask(self, python: str, **changes: Any) -> Any:
        """Run a Python program inside; the JSON value of its last line."""
        changes["env"] = {"PROGRAM": python, **changes.get("env", {})}
        output = self.run('exec python3 -c "$PROGRAM"', **changes)
        try:
            return json.loads(output.splitlines()[-1])
        except (ValueError, IndexError):
            raise AssertionError(output) from None

    def machine(self) -> str:
        """This machine's address on the engine's default network; an engine may know it only while a container runs."""
        api = self.engine.api
        sleeping = api.create_container(BASE, ["sleep", "60"])["Id"]
        try:
            api.start(sleeping)
            return str(api.inspect_container(sleeping)["NetworkSettings"]["Networks"]["bridge"]["Gateway"])
        finally:
            api.remove_container(sleeping, force=True)

    def left(self) -> dict[str, list[str]]:
        """What the engine has of this group."""
        label = {"label": f"{names.GROUP}={self.group}"}
        api = self.engine.api
        found = {
            "containers": [each["Names"][0] for each in api.containers(all=True, filters=label)],
            "volumes": [each["Name"] for each in api.volumes(filters=label)["Volumes"] or ()],
            "networks": [each["Name"] for each in api.networks(filters=label)],
        }
        return {kind: each for kind, each in found.items() if each}

    def clear(self) -> None:
        """Also sees that nothing is left."""
        super().clear()
        assert self.left() == {}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """One worker has all tests of the engine that is here, which they share, and one those of an engine of their own.

    Without a word, xdist 3.8 cannot with pytest 9.2.
    """
    for item in items:
        if item.get_closest_marker("docker") and not item.get_closest_marker("xdist_group"):
            own = "own" in getattr(item, "fixturenames", ())
            item.add_marker(pytest.mark.xdist_group("docker-own" if own else "docker"))
    yield
    if hasattr(config, "workerinput") and config.getoption("loadgroup", False):
        loose = [item.nodeid for item in items if item.get_closest_marker("xdist_group") and "@" not in item.nodeid]
        if loose:
            raise pytest.UsageError(f"this pytest-xdist does not group tests under this pytest: {loose[0]}")


@pytest.fixture(scope="session")
def engine() -> Engine:
    import docker.errors

    engine = Engine()
    try:
        with engine.request("looking for an engine"):
            engine.api.inspect_image(BASE)
    except docker.errors.NotFound:
        pytest.skip(f"the engine has no image {BASE}")
    except BackendError as error:
        pytest.skip(f"no Docker engine: {error.message}")
    return engine


@pytest.fixture
def make_lab(engine: Engine, tmp_path: Path) -> Iterator[Callable[..., Lab]]:
    tmp_path.chmod(0o755)
    with contextlib.ExitStack() as stack:

        def make(**options: str) -> Lab:
            lab = Lab(engine, tmp_path, **options)
            stack.callback(lab.clear)
            return lab

        yield make


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    return make_lab()


@pytest.fixture
def lab_on() -> Callable[[Engine, Path], Lab]:
    """Makes labs on other engines."""
    return Lab


PACK = """
cd /
for program in sh cat chmod cut date df echo env grep head id ls mkdir mv nproc printf rm sed seq setsid sleep stat \\
    tail touch tr true uname wc
do
    path=$(command -v $program) && [ -f "$path" ] && echo "$path" && ldd "$path" | grep -o '/[^ )]*'
done | sort -u >/tmp/list
printf '/bin/sh\\n/etc/passwd\\n/etc/group\\n' >>/tmp/list
tar --create --dereference --absolute-names --no-recursion --files-from /tmp/list /tmp
"""


class OwnEngine:
    """A dockerd with its own folders, socket and network namespace.

    In the machine's namespace, one with ``--bridge=none`` would delete docker0, the bridge of the engine that is here.
    """

    def __init__(self, folder: Path, data: Path, *flags: str) -> None:
        self.folder, self.data, self.flags = folder, data, flags
        self.process: subprocess.Popen[bytes] | None = None
        self.host = f"unix://{folder}/sock"
        self.network = f"mle{uuid.uuid4().hex[:8]}"
        subprocess.run(["ip", "netns", "add", self.network], check=True, capture_output=True)
        subprocess.run(["ip", "-n", self.network, "link", "set", "lo", "up"], check=True, capture_output=True)

    def start(self) -> None:
        for stale in (self.folder / "pid", self.folder / "exec/containerd/containerd.pid"):
            stale.unlink(missing_ok=True)
        argv = ["nsenter", f"--net=/run/netns/{self.network}", "dockerd", "-H", self.host]
        argv += ["--data-root", str(self.data), "--exec-root", str(self.folder / "exec")]
        argv += ["--pidfile", str(self.folder / "pid"), "--iptables=false"]
        argv += ["--containerd-namespace", "mletest", "--containerd-plugins-namespace", "mletest-plugins", *self.flags]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        for _ in range(900):
            if subprocess.run(["docker", "-H", self.host, "info"], capture_output=True).returncode == 0:
                return
            assert self.process.poll() is None, (self.folder / "log").read_text()[-3000:]
            time.sleep(0.1)
        raise AssertionError((self.folder / "log").read_text()[-3000:])

    def end(self, number: int = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(60)
            self.process = None
            containerd = self.folder / "exec/containerd/containerd.pid"
            for _ in range(2000):  # which ends with the engine, also when that is killed
                if not containerd.exists() or not _running(int(containerd.read_text())):
                    break
                time.sleep(0.05)

    def load(self) -> None:
        """An image by the base image's name, of the few programs that these tests use."""
        pack = ["docker", "run", "--rm", "--network", "none", BASE, "sh", "-c", PACK]
        with subprocess.Popen(pack, stdout=subprocess.PIPE) as packing:
            import_ = ["docker", "-H", self.host, "import", "-", BASE]
            subprocess.run(import_, stdin=packing.stdout, check=True, capture_output=True)

    def close(self) -> None:
        with contextlib.suppress(Exception):
            ids = subprocess.run(
                ["docker", "-H", self.host, "ps", "-aq"], capture_output=True, text=True
            ).stdout.split()
            if ids:
                subprocess.run(["docker", "-H", self.host, "rm", "-fv", *ids], capture_output=True)
        self.end()
        subprocess.run(["ip", "netns", "del", self.network], capture_output=True)
        subprocess.run(["umount", "-l", self.data], capture_output=True)  # live-restore leaves it mounted on itself


def _running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture(scope="module")
def own(engine: Engine) -> Iterator[OwnEngine]:
    """An engine with the base image, loaded once; a test leaves it running, with flags as it wants."""
    if os.getuid() != 0 or not shutil.which("dockerd") or not shutil.which("unshare"):
        pytest.skip("its own engine needs root, dockerd and unshare")
    folder = Path(tempfile.mkdtemp(prefix="mlecore-engine-"))
    folder.chmod(0o711)  # with user namespaces the engine insists that others can go through
    made = OwnEngine(folder, folder / "data")
    try:
        made.start()
        made.load()
        yield made
    finally:
        made.close()
        shutil.rmtree(folder, ignore_errors=True)
