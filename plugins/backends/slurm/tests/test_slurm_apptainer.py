"""Apptainer makes the sandbox where users may create no namespaces, and runs finished images, by an ordinary user."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Lab, OrdinaryUser

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("apptainer") is None, reason="Apptainer is not installed: scripts/apptainer/build.sh"
    ),
]

# As root: users of this process and its children can create no user namespaces. The setuid program still works, as
# root may install such a filter without no_new_privs.
_LOCKED = """
import ctypes, os, struct, sys
def line(code, yes, no, value): return struct.pack("=HBBI", code, yes, no, value)
unshare, clone, clone3 = {"x86_64": (272, 56, 435), "aarch64": (97, 220, 435)}[os.uname().machine]
program = b"".join([
    line(0x20, 0, 0, 0), line(0x15, 0, 1, clone3), line(0x06, 0, 0, 0x50000 | 38),
    line(0x15, 1, 0, unshare), line(0x15, 0, 3, clone),
    line(0x20, 0, 0, 16), line(0x45, 0, 1, 0x10000000), line(0x06, 0, 0, 0x50000 | 28),
    line(0x06, 0, 0, 0x7FFF0000),
])
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_char_p)]
filter = Filter(len(program) // 8, program)
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(22, 2, ctypes.byref(filter), 0, 0) == 0, os.strerror(ctypes.get_errno())
os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[1]))
os.execv(sys.argv[3], sys.argv[3:])
"""

_BENCH = """
import json, os, sys
from pathlib import Path
from mlecore.registry.loading import load
from mlecore_testing.backends.harness import BackendBench

work = Path(sys.argv[1])
options = {"state": str(work / "state"), "poll": "0.5", **json.loads(sys.argv[2])}
bench = BackendBench(load("backend", "slurm"), options, work)
"""


@pytest.fixture
def script(make_lab: Callable[..., Lab], ordinary_user: OrdinaryUser) -> Callable[..., Any]:
    """Run a program with ``bench``, of an ordinary user; what it prints at last, as JSON."""
    make_lab()  # skips where no cluster answers

    def run(text: str, *, before: tuple[str, ...] = (), **options: str) -> Any:
        program = [ordinary_user.python, "-c", _BENCH + text, str(ordinary_user.work), json.dumps(options)]
        if before:
            user = ordinary_user.user
            argv = [*before, str(user.pw_uid), str(user.pw_gid), *program]
            env = {"PATH": os.environ["PATH"], "HOME": str(ordinary_user.work)}
            done = subprocess.run(argv, env=env, cwd="/", capture_output=True, text=True, check=False, umask=0o022)
        else:
            done = ordinary_user.run(*program)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run


_ABOUT = """
planted = work / "planted-answers.csv"
planted.write_text("planted-4711")
look = f"id -u; cat data/train.csv; cat {planted} 2>/dev/null; ls -A {work} 2>/dev/null; cat /proc/1/mem | head -c 1; "
look += "ls /sys /etc; ls /proc | grep -c '^[0-9]'; touch /x || cut -d: -f1 /proc/net/dev | tail -n +3; exit 3"
handle, status = bench.run(bench.job(look, network=NETWORK))
print(json.dumps({"code": status.exit_code, "isolation": status.sandbox.isolation, "user": os.getuid(),
    "network": status.sandbox.network.level, "said": bench.output(handle).decode(), "reason": status.reason}))
bench.clean_up()
"""


@pytest.mark.parametrize("network", ["none", "llm"])
def test_a_run_sees_its_own_and_nothing_else(script: Callable[..., Any], network: str) -> None:
    more = "'llm', allow=('allowed.invalid:443',)" if network == "llm" else "'none'"
    seen = script(_ABOUT.replace("NETWORK", more), isolation="apptainer")
    assert seen["code"] == 3, seen
    assert seen["isolation"].startswith("Apptainer ") and seen["network"] == "enforced"
    said = seen["said"].split("\n")
    assert said[:3] == [str(seen["user"]), "id,y", "1,2"]
    assert "planted" not in seen["said"] and "shadow" not in said
    assert "cat: /proc/1/mem: Permission denied" in said
    assert [line.strip() for line in said if line.strip()][-1] == "lo"


_ENDED = """
import time

def alive():
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if MARK.encode() in words.split(b"\\0") or words.startswith(b"Apptainer") and path.parent.name == apptainer:
            found.append(words.decode())
    return found

apptainer = ""
handle = bench.start(bench.job(f"setsid sleep {MARK} & exec sleep {MARK}", time_limit=900.0))
bench.wait(handle, "running")
state = json.loads((work / "state" / "jobs" / handle.name / "state.json").read_text())
children = f"/proc/{state['sandbox']}/task/{state['sandbox']}/children"
apptainer = Path(children).read_text().split()[0]
while len(alive()) < 3:
    time.sleep(0.1)
END
end = bench.wait(handle, "exited", 120.0)
limit = time.monotonic() + 30
while alive() and time.monotonic() < limit:
    time.sleep(0.1)
left = alive()
bench.backend.remove(handle)
kinds = ("queue", "jobs", "batches", "new", "trash")
folders = [str(path) for kind in kinds for path in (work / "state" / kind).glob("*")]
mounts = [line for line in Path("/proc/mounts").read_text().splitlines() if str(work) in line]
print(json.dumps({"left": left + folders + mounts, "infra": end.infra_failure, "reason": end.reason}))
"""


@pytest.mark.parametrize(
    ("end", "infra"),
    [
        pytest.param('os.kill(state["pid"], 9)', True, id="supervisor killed"),
        pytest.param("os.kill(int(apptainer), 9)", True, id="Apptainer killed"),
        pytest.param("bench.backend.stop(handle, 1.0)", False, id="stopped"),
    ],
)
def test_nothing_is_left_of_a_job_that_is_ended(script: Callable[..., Any], end: str, infra: bool) -> None:
    mark = repr(f"{4000 + os.getpid() % 1000}.{len(end)}")
    ended = script(_ENDED.replace("END\n", f"{end}\n").replace("MARK", mark), isolation="apptainer")
    assert ended["left"] == [] and ended["infra"] is infra, ended


_ON_NODE = """
import subprocess
from mle_backend_slurm import entries
from mle_backend_slurm.entries import Entry
from mlecore_testing.backends.harness import shell_job

entry = Entry(work / "state", "mle-a-1")
job = shell_job("echo ran as $(id -u)", name=entry.name, group="g", image=bench.image, dataset=bench.dataset,
    data=bench.data)
given = {"secrets": {}, "gateway": None, "key": {}}
entries.write_entry(entry, job, {"options": [], "scratch": "", "isolation": "sandbox"}, (), given)
entry.assign("batch", 0)
(work / "state" / "batches" / "batch").mkdir()
(work / "state" / "batches" / "batch" / "members").write_text(entry.name)
program = [sys.executable, "-P", "-m", "mle_backend_slurm.node", "run", str(work / "state"), "batch"]
env = {**os.environ, "SLURM_ARRAY_TASK_ID": "0", "SLURMD_NODENAME": "box7"}
node = subprocess.run(program, env=env, capture_output=True, text=True, timeout=100, check=False)
status = bench.backend.status([entry.handle])[entry.handle]
out = b"".join(bench.backend.logs(entry.handle)).decode()
isolation = status.sandbox and status.sandbox.isolation
print(json.dumps({"code": status.exit_code, "reason": status.reason, "isolation": isolation, "said": out}))
"""


def test_it_is_used_where_no_user_namespaces_can_be_created(script: Callable[..., Any]) -> None:
    locked = (sys.executable, "-c", _LOCKED)
    done = script(_ON_NODE, before=locked)
    assert done["code"] == 0, done
    assert done["isolation"].startswith("Apptainer ") and "(setuid)" in done["isolation"]
    assert done["said"].startswith("ran as ")


_IMAGE = """
from mlecore.agents import Recipe

image = bench.backend.build(Recipe(image=IMAGE), work / "build.log")
again = bench.backend.build(Recipe(image=IMAGE), work / "build.log")
look = "cat /etc/os-release agent/start.sh data/train.csv; echo $PYTHON_VERSION; pwd"
handle, status = bench.run(bench.job(look, image=image))
print(json.dumps({"code": status.exit_code, "reason": status.reason, "said": bench.output(handle).decode(),
    "same": image == again, "digest": image.digest, "files": len(list((work / "state" / "envs").glob("*/image.sif")))}))
bench.clean_up()
"""


@pytest.fixture
def archive(ordinary_user: OrdinaryUser, tmp_path: Path) -> Path:
    """What ``docker save`` writes, of an image of Python with an agent at /home/agent."""
    if shutil.which("docker") is None:
        pytest.skip("no docker here that could save an image")
    names = subprocess.run(
        ["docker", "image", "ls", "--format={{.Repository}}:{{.Tag}}", "python"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    slim = [name for name in names if name.endswith("slim-bookworm")]
    if not slim:
        pytest.skip("docker has no image of Python (docker pull python:3.11-slim-bookworm)")
    (tmp_path / "start.sh").write_text("echo I am an agent\n")
    (tmp_path / "Dockerfile").write_text(f"FROM {slim[0]}\nCOPY start.sh /home/agent/start.sh\n")
    tag = f"mlecore-test-apptainer:{os.getpid()}"
    file = ordinary_user.work / "image.tar"
    try:
        subprocess.run(["docker", "build", "-q", "-t", tag, str(tmp_path)], check=True, capture_output=True)
        subprocess.run(["docker", "save", "-o", str(file), tag], check=True)
    finally:
        subprocess.run(["docker", "image", "rm", tag], check=False, capture_output=True)
    file.chmod(0o644)
    return file


def test_a_finished_image(script: Callable[..., Any], archive: Path) -> None:
    done = script(_IMAGE.replace("=IMAGE)", f"={f'docker-archive:{archive}'!r})"))
    assert done["code"] == 0, done
    assert "Debian GNU/Linux 12" in done["said"] and "I am an agent" in done["said"] and "id,y" in done["said"]
    assert done["same"] and done["files"] == 1 and done["digest"].startswith("sha256:")
