"""What an agent that means harm tries from inside, with what a process of its own can do."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from mlecore_jobs.supervise import keyring
from mlecore_sandboxes import folders

KEYCTL = {"x86_64": 250, "aarch64": 219}.get(os.uname().machine)
_JOIN, _READ = 1, 11


def quickly(monkeypatch: pytest.MonkeyPatch, module: str = "deadline", **seconds: float) -> None:
    """Have supervisors wait less than they do."""
    from mlecore_sandboxes import supervision

    settings = "; ".join(f"m.{name} = {value}" for name, value in seconds.items())
    launch = supervision._LAUNCH.replace("main(*", f"import mlecore_jobs.supervise.{module} as m; {settings}; main(*")
    assert launch != supervision._LAUNCH
    monkeypatch.setattr(supervision, "_LAUNCH", launch)


# ---------------------------------------------------------------- keys and descriptors


@pytest.mark.skipif(KEYCTL is None, reason="the number of keyctl is not known here")
def test_a_supervisor_leaves_the_controllers_keyring() -> None:
    """In a process of its own, with a key in its session keyring."""
    script = f"""
        import ctypes, sys
        sys.path.insert(0, {str(Path(keyring.__file__).parents[1])!r})
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syscall({KEYCTL}, {_JOIN}, None) < 0:
            print("no keyrings"); sys.exit()
        number = {KEYCTL} - 2
        libc.syscall(number, b"user", b"mlecore-test", b"secret", ctypes.c_long(6), ctypes.c_long(-3))
        def keys():
            return libc.syscall({KEYCTL}, {_READ}, ctypes.c_long(-3), None, ctypes.c_long(0))
        before = keys()
        from mlecore_jobs.supervise import keyring
        keyring.leave()
        print(before, keys())
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    if "no keyrings" in done.stdout:
        pytest.skip("this kernel has no keyrings for us")
    assert done.stdout.split() == ["4", "0"], done.stderr


def test_standard_input_cannot_be_written(any_lab: Any) -> None:
    script = (
        "cat; for way in /proc/self/fd/0 /dev/stdin; do (echo more >>$way) 2>/dev/null && echo wrote; done; echo end"
    )
    handle = any_lab.start(script, stdin=b"words\n")
    any_lab.wait(handle)
    assert any_lab.printed(handle) == "words\nend\n"
    assert (folders.folder_of(handle) / "stdin").read_bytes() == b"words\n"


# ---------------------------------------------------------------- init


TAKE_INIT = """
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
prlimit, ptrace, write = {"x86_64": (302, 101, 311), "aarch64": (261, 117, 271)}[os.uname().machine]
second = (ctypes.c_uint64 * 2)(1, 1)
long = ctypes.c_long
print(libc.syscall(long(prlimit), long(1), long(0), ctypes.byref(second), None))
print(libc.syscall(long(ptrace), long(0x4206), long(1), None, None))
print(libc.syscall(long(write), long(1), None, long(0), None, long(0), long(0)))
for name in ("mem", "oom_score_adj"):
    for folder in ("/proc/1", "/proc/1/task/1"):
        try:
            os.open(f"{folder}/{name}", os.O_WRONLY)
            print(0)
        except OSError:
            print(-1)
"""


@pytest.mark.sandbox
@pytest.mark.skipif(KEYCTL is None, reason="the numbers of calls are not known here")
def test_init_cannot_be_taken_over(lab: Any) -> None:
    status, output = lab.run(argv=("python3", "-c", TAKE_INIT))
    assert output.split() == ["-1"] * 7
    assert (status.exit_code, status.infra_failure) == (0, False)


# ---------------------------------------------------------------- the clock


FREEZE = """
import contextlib, os, signal, time
began = time.monotonic()
while True:
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGSTOP)
    time.sleep(0.01)
"""
IGNORING = ("/bin/sh", "-c", "trap '' TERM; exec python3 -c \"$0\"")  # before Python has started, which may take long


@pytest.mark.sandbox
def test_an_agent_that_stops_init_s_clock_gains_nothing(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It freezes all that init could be woken by, without pause."""
    quickly(monkeypatch, SLACK=0.5)
    status, _ = lab.run(argv=(*IGNORING, FREEZE), time_limit=1.0, grace=0.5)
    assert status.phase == "exited" and not status.infra_failure
    assert status.timed_out or status.exit_code == 124


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_forged_report_does_not_hide_time(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent freezes init's clock, works beyond its limit, and ends well by itself."""
    quickly(monkeypatch, SLACK=60.0, OVER=1.0)
    script = FREEZE.replace("while True:", "while time.monotonic() < began + 4:")
    status, _ = lab.run(argv=(*IGNORING, script), time_limit=1.0, grace=60.0)
    assert status.seconds is not None and status.seconds >= 4
    assert status.timed_out or status.exit_code == 124


# ---------------------------------------------------------------- memory and disk that hide


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "hide",
    [
        "import os\nfd = os.memfd_create('x')\nfor _ in range(30): os.write(fd, bytes(10_000_000)); time.sleep(0.03)",
        "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.shmat.restype = ctypes.c_void_p\n"
        "at = libc.shmat(libc.shmget(0, ctypes.c_size_t(300_000_000), 0o1600), None, 0)\n"
        "ctypes.memset(at, 1, 300_000_000)\nlibc.shmdt(ctypes.c_void_p(at))",
        "import ctypes\nlibc = ctypes.CDLL(None)\nfor _ in range(150): libc.semget(0, 32_000, 0o1600)",
        "import ctypes\nlibc = ctypes.CDLL(None)\ntext = ctypes.create_string_buffer(bytes([1]) + bytes(8191))\n"
        "for _ in range(40_000): libc.msgsnd(libc.msgget(0, 0o1600), text, ctypes.c_size_t(8184), 0o4000)",
        "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.mmap.restype = ctypes.c_void_p\nlong = ctypes.c_size_t\n"
        "size = 150 << 30\nat = libc.mmap(None, long(size), 1, 0x4022, -1, long(0))\n"
        "libc.madvise(ctypes.c_void_p(at), long(size), 15)\n"
        "for place in range(0, size, 1 << 21): ctypes.string_at(at + place, 1)",
    ],
    ids=["memfd", "sysv", "semaphores", "messages", "tables"],
)
def test_memory_that_no_process_has_mapped_counts(lab: Any, hide: str) -> None:
    script = f"import time\n{hide}\nprint('hidden', flush=True)\ntime.sleep(300)"
    status, output = lab.run(argv=("python3", "-c", script), memory=150_000_000)
    assert status.oom and not status.infra_failure, output


@pytest.mark.sandbox
@pytest.mark.parametrize("mapped", [False, True])
def test_unlinked_files_count(lab: Any, mapped: bool) -> None:
    script = f"""
import ctypes, os, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
for name in ("a", "b"):
    file = os.open(f"code/{{name}}", os.O_RDWR | os.O_CREAT)
    os.unlink(f"code/{{name}}")
    os.write(file, bytes(9_000_000))
    if {mapped}:
        libc.mmap(None, ctypes.c_size_t(9_000_000), 1, 1, file, ctypes.c_long(0))
        os.close(file)
time.sleep(300)
"""
    status, _ = lab.run(argv=("python3", "-c", script), disk=15_000_000)
    assert (status.exit_code, status.reason) == (137, "wrote more than its 15000000 bytes")


@pytest.mark.sandbox
def test_a_folder_that_cannot_be_read_counts(lab: Any) -> None:
    script = "mkdir code/deep; i=0; while [ $i -lt 20 ]; do head -c 1000000 /dev/zero >code/deep/$i; i=$((i+1)); done"
    status, _ = lab.run(f"{script}; chmod 0 code/deep; sleep 300", disk=10_000_000)
    assert (status.exit_code, status.reason) == (137, "wrote more than its 10000000 bytes")


@pytest.mark.sandbox
def test_every_place_that_can_be_written_is_limited(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    quickly(monkeypatch, "limits", DISK_EVERY=0.5)
    _, output = lab.run(argv=("python3", "-c", lab.WRITABLE))
    places = output.splitlines()[0].split()
    assert places == ["/dev/shm", "/home", "/tmp"]
    for number, place in enumerate(places):
        limits = {"memory": 100_000_000, "disk": 50_000_000, "name": f"mle-test-{number + 2}"}
        status, output = lab.run(argv=("python3", "-c", lab.WRITABLE, place), **limits)
        assert status.exit_code and "kept" not in output


@pytest.mark.sandbox
def test_empty_files_in_memory_count(lab: Any) -> None:
    script = "import time\nfor n in range(90_000): open(f'/dev/shm/{n}', 'w').close()\ntime.sleep(300)"
    status, output = lab.run(argv=("python3", "-c", script), memory=60_000_000)
    assert status.oom, output


@pytest.mark.sandbox
def test_each_file_counts_as_a_block(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    quickly(monkeypatch, "limits", DISK_EVERY=0.5)
    script = "import time\nfor n in range(2000): open(f'code/{n}', 'w').close()\ntime.sleep(300)"
    status, _ = lab.run(argv=("python3", "-c", script), disk=6_000_000)
    assert (status.exit_code, status.reason) == (137, "wrote more than its 6000000 bytes")


@pytest.mark.sandbox
def test_empty_files_count(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlecore_sandboxes import layout

    quickly(monkeypatch, "limits", DISK_EVERY=0.5)
    monkeypatch.setattr(layout, "_max_files", lambda folder: 1000)
    script = "import os, time\nfor n in range(2000): open(f'code/{n}', 'w').close()\ntime.sleep(300)"
    status, _ = lab.run(argv=("python3", "-c", script))
    assert (status.exit_code, status.reason) == (137, "made more than its 1000 files")


# ---------------------------------------------------------------- the whole network


@pytest.fixture
def slirp() -> None:
    from mlecore_jobs.supervise import slirp

    if not slirp.is_there():
        pytest.skip("slirp4netns is not installed")


def _addresses() -> list[str]:
    """Of this machine, but for its loopback."""
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        try:
            link.connect(("192.0.2.1", 9))
        except OSError:
            return []
        return [link.getsockname()[0]]


@pytest.mark.sandbox
@pytest.mark.usefixtures("slirp")
def test_an_open_network_is_not_the_machine_s_own(lab: Any) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as hidden, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(b"\0mlecore-test-abstract")
        port = hidden.getsockname()[1]
        script = f"""
import socket
print("mlecore-test-abstract" in open("/proc/net/unix").read())
for host in ("127.0.0.1", "10.0.2.2"):
    try:
        socket.create_connection((host, {port}), timeout=3).close()
        print(host)
    except OSError:
        pass
print(open("/etc/resolv.conf").read().split())
"""
        status, output = lab.run(argv=("python3", "-c", script), network="open")
    assert status.exit_code == 0, output
    assert output.splitlines() == ["False", "['nameserver', '10.0.2.3']"]


@pytest.mark.sandbox
@pytest.mark.usefixtures("slirp")
def test_an_open_network_reaches_others(lab: Any) -> None:
    import socket
    import threading

    address = next(iter(_addresses()), None)
    if address is None:
        pytest.skip("this machine has no address but its loopback")
    with socket.create_server((address, 0)) as server:
        threading.Thread(target=lambda: server.accept()[0].sendall(b"hello"), daemon=True).start()
        ask = f"import socket; print(socket.create_connection({server.getsockname()!r}, timeout=120).recv(5))"
        _, output = lab.run(argv=("python3", "-c", ask), network="open")
    assert output == "b'hello'\n"
