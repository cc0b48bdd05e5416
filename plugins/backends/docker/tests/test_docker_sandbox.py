"""The sandbox as an agent sees it: where it can write, who it is, what limits it, what it cannot reach."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = pytest.mark.docker

PLACES = """
import json, os
def can(path):
    try:
        with open(path, "w"): pass
        os.remove(path)
        return True
    except OSError: return False
names = ["/home/submission/x", "/home/code/x", "/home/logs/x", "/home/agent/x", "/tmp/x", "/dev/shm/x",
    "/home/x", "/home/data/x", "/home/data/train.csv", "/opt/mlecore/x", "/opt/mlecore/init", "/x", "/etc/x", "/usr/x"]
print(json.dumps([name for name in names if can(name)]))
"""


def test_it_can_write_in_its_folders_and_nowhere_else(lab: Lab) -> None:
    own = ["/home/submission/x", "/home/code/x", "/home/logs/x", "/home/agent/x", "/tmp/x", "/dev/shm/x"]
    assert lab.ask(PLACES) == own
    assert (lab.dataset.public / "train.csv").read_text() == "id,target\n1,0\n"


def test_its_folders_cannot_be_replaced(lab: Lab) -> None:
    said = lab.run(
        "mv /home/submission /home/logs/s; ln -s /etc /home/l; rm -rf /home/data /opt/mlecore/init; ls /home"
    )
    assert "submission" in said.splitlines() and "l" not in said.splitlines() and "data" in said.splitlines()


def test_a_writable_root_is_writable_where_it_may_be(lab: Lab) -> None:
    said = lab.run("touch /etc/x || id -u; cat /proc/mounts | grep ' / '", writable_root=True)
    assert " rw," in said
    assert "1000" in said.splitlines()  # the root is, but the agent is not root


IDENTITY = """
import json, os
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
out = {key: status[key].split() for key in ("Uid", "Gid", "CapEff", "CapBnd", "CapPrm", "NoNewPrivs", "Seccomp")}
out["init"] = open("/proc/1/cmdline").read().split("\\0")[:2]
out["env"] = sorted(os.environ)
out["pids"] = [int(pid) for pid in os.listdir("/proc") if pid.isdigit()]
print(json.dumps(out))
"""


def test_it_is_nobody_with_no_rights_and_init_is_the_first_process(lab: Lab) -> None:
    seen = lab.ask(IDENTITY, terminal=False)
    assert set(seen["Uid"]) == {"1000"} and set(seen["Gid"]) == {"1000"}
    assert seen["CapEff"] == seen["CapBnd"] == seen["CapPrm"] == ["0000000000000000"]
    assert seen["NoNewPrivs"] == ["1"] and seen["Seccomp"] == ["2"]
    assert seen["init"] == ["/bin/sh", "/opt/mlecore/init"]
    assert max(seen["pids"]) < 100  # its own processes only


def test_any_uid_will_do(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(user="41234:41235")
    said = lab.run(
        "id -u; id -g; touch /home/submission/submission.csv /home/agent/x && echo wrote; echo $HOME; env | wc -l"
    )
    assert said.splitlines()[:4] == ["41234", "41235", "wrote", "/home/agent"]


def test_hardware_is_what_the_engine_gave_it_whatever_the_sandbox_says(lab: Lab) -> None:
    handle = lab.start("echo '{\"cpus\": 9999}' >.mlecore/hardware.json", memory=1 << 28, cpus=0.5)
    measured = lab.wait(handle).hardware
    assert measured is not None and (measured.cpus, measured.memory, measured.gpus) == (0.5, 1 << 28, ())
    assert os.uname().release in measured.kernel
    whole = lab.wait(lab.start()).hardware
    assert whole is not None and whole.cpus == lab.engine.info["NCPU"] and whole.memory == lab.engine.info["MemTotal"]


BOMB = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    try:
        if os.fork() == 0: time.sleep(1000)
    except OSError: pass
"""


def test_a_fork_bomb_that_leaves_init_no_process_ends_in_time(lab: Lab) -> None:
    env = {"PROGRAM": BOMB, "MLECORE_SNAPSHOT_BYTES": "1000", "MLECORE_SNAPSHOT_EVERY": "0.3"}
    handle = lab.start('exec python3 -c "$PROGRAM"', env=env, processes=64, time_limit=3.0, grace=0.5)
    status = lab.wait(handle)
    assert (status.exit_code, status.reason) == (124, "its time was up")


def test_standard_input_and_a_terminal(lab: Lab) -> None:
    assert lab.run("[ -t 1 ] && echo terminal", terminal=True).split() == ["terminal"]
    assert lab.run("[ -t 1 ] || echo none; cat", stdin=b"one\ntwo\n") == "none\none\ntwo\n"


def test_secrets_reach_the_agent_and_no_record_of_the_engine(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    value = "sk-'quoted' $HOME \\ \nsecond line"
    monkeypatch.setenv("OPENAI_API_KEY", value)
    handle = lab.start(
        "python3 -c \"import os, json; print(json.dumps(os.environ['OPENAI_API_KEY']))\"; ls -A .mlecore",
        secrets=("OPENAI_API_KEY",),
    )
    first, *rest = lab.output(handle).splitlines()
    assert json.loads(first) == value
    assert rest == []
    assert "second line" not in json.dumps(lab.engine.api.inspect_container(handle.name))


def test_labels_stand_on_everything(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(labels="team=vision,cost=7")
    lab.start("true", labels={"competition": "toy"}, network="open")
    [found] = lab.engine.api.containers(all=True, filters={"label": ["team=vision", "cost=7", "competition=toy"]})
    assert found["Labels"]["org.mlecore.group"] == lab.group
    assert len(lab.engine.api.volumes(filters={"label": f"org.mlecore.group={lab.group}"})["Volumes"]) == 3


TAKE_INIT = """
import ctypes, json, os, socket, stat
libc = ctypes.CDLL(None, use_errno=True)
prlimit, ptrace, write, ring = {"x86_64": (302, 101, 311, 425), "aarch64": (261, 117, 271, 425)}[os.uname().machine]
limits, long = (ctypes.c_uint64 * 2)(1 << 40, 1 << 40), ctypes.c_long
def fails(call, *arguments): return libc.syscall(long(call), *arguments) < 0
def closed(path):
    try: return not stat.S_ISREG(os.fstat(os.open(path, os.O_WRONLY)).st_mode)  # /dev/null lies over it
    except OSError: return True
def refused(family):
    try:
        socket.socket(family, socket.SOCK_STREAM).close()
        return False
    except OSError: return True
out = [fails(prlimit, long(1), long(0), limits, None), fails(ptrace, long(0x4206), long(1), None, None),
    fails(prlimit, long(1 + 2**32), long(0), limits, None),
    fails(write, long(1), None, long(0), None, long(0), long(0)), fails(ring, long(1), (ctypes.c_char * 120)()),
    closed("/proc/1/mem"), closed("/proc/1/task/1/mem"), closed("/proc/1/oom_score_adj"), closed("/proc/1/oom_adj"),
    closed("/proc/1/task/1/oom_adj"), refused(40)]
child = os.fork()
if not child:
    import time
    time.sleep(60)
out += [fails(prlimit, long(child), long(0), limits, None), fails(ptrace, long(0x4206), long(child), None, None),
    fails(prlimit, long(1), long(0), None, (ctypes.c_uint64 * 2)()), refused(socket.AF_INET)]
os.kill(child, 9)
print(json.dumps(out))
"""


def test_init_cannot_be_taken_over(lab: Lab) -> None:
    """Eleven things that must fail, and four of ordinary programs that must not."""
    from mle_backend_docker.system_calls import is_ours

    if not is_ours(lab.engine):
        pytest.skip("this engine has a profile of system calls that somebody chose, or none")
    assert lab.ask(TAKE_INIT) == [True] * 11 + [False] * 4
    assert lab.backend.describe().details["system_calls"] == "filtered"
