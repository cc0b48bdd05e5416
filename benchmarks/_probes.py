"""What an adversary tries in a sandbox, each as one job: a script that goes beyond a limit, or breaks a rule.

Scripts of limits say ``reached`` once they are far beyond, and ``stayed`` when they have been there for long. Every
other script says what it got.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, frozen

STAY = 12.0  # seconds
MEMORY = 200 << 20  # bytes; scripts take twice as much
DISK = 60 << 20
Kind = Literal["limit", "time", "retry", "got"]


@frozen(kw_only=True)
class Probe:
    """One job. ``kind`` says how its output is read."""

    area: str
    name: str
    script: str  # Python
    kind: Kind = "limit"
    resources: Mapping[str, Any] = field(factory=dict)


def limits() -> list[Probe]:
    return [*_memory(), *_disk(), *_processes(), *_time()]


_STAY = f"""
print("reached", flush=True)
time.sleep({STAY})
import os
try:
    if os.waitpid(-1, os.WNOHANG)[0]: raise SystemExit("a child was killed")
except ChildProcessError: pass
print("stayed", flush=True)
"""
_CALLS = """
import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = libc.shmat.restype = ctypes.c_void_p
SIZE = 400 << 20
"""


def _memory() -> list[Probe]:
    tries = {
        "one process": "kept = bytearray(SIZE)",
        "eight processes": """
for _ in range(8):
    if not os.fork():
        kept = bytearray(SIZE // 8)
        time.sleep(60)
time.sleep(2)""",
        "shared and mapped": """
import mmap
kept = mmap.mmap(-1, SIZE)
for at in range(0, SIZE, 4096): kept[at] = 1""",
        "a memfd that nobody maps": """
kept = os.memfd_create("x")
for _ in range(SIZE >> 20): os.write(kept, bytes(1 << 20))""",
        "SysV segments that nobody maps": """
for _ in range(8):
    at = libc.shmat(libc.shmget(0, ctypes.c_size_t(SIZE // 8), 0o1600), None, 0)
    ctypes.memset(at, 1, SIZE // 8)
    libc.shmdt(ctypes.c_void_p(at))""",
        "files in /dev/shm": """
for n in range(8):
    with open(f"/dev/shm/{n}", "wb") as out:
        for _ in range(SIZE >> 23): out.write(bytes(1 << 20))""",
        "a tmpfs of its own": """
if libc.unshare(0x10000000 | 0x00020000) or libc.mount(b"x", b"/tmp", b"tmpfs", 0, None):
    raise SystemExit("refused")
with open("/tmp/x", "wb") as out:
    for _ in range(SIZE >> 20): out.write(bytes(1 << 20))""",
        "secret memory (memfd_secret)": """
import resource
def take(size):
    kept = libc.syscall(447, 0)
    if kept < 0: return False
    os.ftruncate(kept, size)
    at = libc.mmap(None, ctypes.c_size_t(size), 3, 1, kept, ctypes.c_long(0))
    if at == 2**64 - 1: return False
    ctypes.memset(at, 1, size)
    return True
most = min(8 << 20, resource.getrlimit(resource.RLIMIT_MEMLOCK)[0])  # a process's share
if not take(4096): raise SystemExit("refused")
for _ in range(SIZE // most):
    if not os.fork():
        take(most)
        time.sleep(60)
time.sleep(2)""",
        "huge pages (memfd, mmap, SysV)": """
size = ctypes.c_size_t(1 << 21)
libc.shmat.restype = ctypes.c_void_p
def ways():
    yield libc.mmap(None, size, 3, 0x40022, -1, ctypes.c_long(0))
    kept = libc.memfd_create(b"x", 4)
    if kept >= 0:
        os.ftruncate(kept, 1 << 21)
        yield libc.mmap(None, size, 3, 1, kept, ctypes.c_long(0))
    yield libc.shmat(libc.shmget(0, size, 0o5600), None, 0)
got = 0
while got < SIZE >> 21 and (found := [at for at in ways() if at != 2**64 - 1]):
    for at in found: ctypes.memset(at, 1, 1 << 21)
    got += len(found)
if not got: raise SystemExit("refused, or the machine has none")""",
        "buffers of sockets": """
import resource, socket
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
kept = []
for _ in range(min(most // 2 - 50, 4000)):
    one, two = socket.socketpair()
    one.setblocking(False)
    try:
        while True: one.send(bytes(1 << 16))
    except BlockingIOError:
        kept.append((one, two))
if len(kept) < 2000: raise SystemExit("refused")""",
    }
    return [
        Probe(area="memory", name=name, script=_CALLS + script + _STAY, resources={"memory": MEMORY})
        for name, script in tries.items()
    ]


_FILL = """
def fill(out):
    for _ in range(30):
        os.write(out, bytes(1 << 20))
"""


def _disk() -> list[Probe]:
    tries = {
        "four files": 'for n in range(4): fill(os.open(f"code/{n}", os.O_CREAT | os.O_WRONLY))',
        "unlinked and open": """
for n in range(4):
    fill(os.open(f"code/{n}", os.O_CREAT | os.O_WRONLY))
    os.unlink(f"code/{n}")""",
        "unlinked and mapped": """
kept = []
for n in range(4):
    out = os.open(f"code/{n}", os.O_CREAT | os.O_RDWR)
    fill(out)
    kept.append(libc.mmap(None, ctypes.c_size_t(30 << 20), 1, 1, out, ctypes.c_long(0)))
    os.unlink(f"code/{n}")
    os.close(out)""",
        "a folder that cannot be read": """
os.mkdir("code/x")
for n in range(4): fill(os.open(f"code/x/{n}", os.O_CREAT | os.O_WRONLY))
os.chmod("code/x", 0)""",
        "in /tmp": 'for n in range(4): fill(os.open(f"/tmp/{n}", os.O_CREAT | os.O_WRONLY))',
        "deep below": """
for _ in range(300):
    os.mkdir("d" * 100)
    os.chdir("d" * 100)
for n in range(4): fill(os.open(str(n), os.O_CREAT | os.O_WRONLY))""",
    }
    return [
        Probe(area="disk", name=name, script=_CALLS + _FILL + script + _STAY, resources={"disk": DISK})
        for name, script in tries.items()
    ]


BUSY = """
import os, time
os.sched_setaffinity(0, range(os.cpu_count()))
begun = time.monotonic()
for _ in range(4):
    if not os.fork():
        while time.monotonic() < begun + 5: pass
        os._exit(0)
for _ in range(4): os.wait()
used = os.times()
print(f"CPUs {(used.children_user + used.children_system) / (time.monotonic() - begun):.2f}")
"""  # prints how many CPUs it got


def _processes() -> list[Probe]:
    forks = """
import os, time
for _ in range(200):
    if not os.fork(): time.sleep(60)
"""
    threads = """
import threading, time
for _ in range(200): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
"""
    return [
        Probe(area="processes", name="forks", script=forks + _STAY, resources={"processes": 64}),
        Probe(area="processes", name="threads", script=threads + _STAY, resources={"processes": 64}),
        Probe(area="cpus", name="affinity undone", script=BUSY, kind="got", resources={"cpus": 1.0}),
    ]


LIMIT, GRACE = 4.0, 1.0  # seconds
_WORK = """
import contextlib, ctypes, os, signal, time
begun = time.monotonic()
libc = ctypes.CDLL(None, use_errno=True)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
def work(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        print(f"{time.monotonic() - begun:.1f}", flush=True)
        time.sleep(0.1)
"""


def _time() -> list[Probe]:
    tries = {
        "SIGTERM ignored": "work(60)",
        "all but itself stopped, again and again": """
while True:
    with contextlib.suppress(ProcessLookupError): os.kill(-1, signal.SIGSTOP)
    work(0.1)""",
        "orphans of orphans in new sessions": """
if os.fork(): work(60)
while True:
    if os.fork(): os._exit(0)
    os.setsid()
    work(0.2)""",
        "init traced and held": """
number = {"x86_64": 101, "aarch64": 117}[os.uname().machine]
for request in (0x4206, 0x4207):
    libc.syscall(ctypes.c_long(number), ctypes.c_long(request), ctypes.c_long(1), None, None)
os.makedirs(".mlecore", exist_ok=True)
open(".mlecore/exit.json", "w").write('{"exit_code": 0, "timed_out": false, "seconds": 0.5}')
work(60)""",
        "init at the lowest priority": """
os.setpriority(os.PRIO_PROCESS, 1, 19)
with contextlib.suppress(OSError): os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))
for _ in range(4):
    if not os.fork():
        while True: pass
work(60)""",
    }
    ends = {
        "kill -9 of everything": "os.kill(-1, 9); os.kill(os.getpid(), 9)",
        "exit code 137": "os._exit(137)",
        "exit code 255": "os._exit(255)",
        "init signalled": "for number in range(1, 65):\n    with contextlib.suppress(OSError): os.kill(1, number)",
        "init's CPU time limited": """
import resource
with contextlib.suppress(OSError): resource.prlimit(1, resource.RLIMIT_CPU, (1, 1))
for _ in range(20000): os.kill(1, signal.SIGCHLD)
work(3)""",
        "init's memory written": """
with contextlib.suppress(OSError):
    out = os.open("/proc/1/mem", os.O_WRONLY)
    for line in open("/proc/1/maps"):
        with contextlib.suppress(OSError): os.pwrite(out, bytes(4096), int(line.split("-")[0], 16))
work(3)""",
        "init offered to a kernel short of memory": """
def score(): return int(open("/proc/1/oom_score").read())
before = score()
for name in ("oom_adj", "oom_score_adj", "task/1/oom_adj", "task/1/oom_score_adj"):
    for value in ("15", "1000"):
        with contextlib.suppress(OSError): open(f"/proc/1/{name}", "w").write(value)
print("offered" if score() > before + 100 else "refused")""",
        "a time limit passed off as a crash": """
open(".mlecore/exit.json", "w").write('{"exit_code": 1, "timed_out": false, "stopped": true, "seconds": 0.5}')
open(".mlecore/hardware.json", "w").write('{"cpus": 9999, "gpus": [{"name": "B200"}]}')
os.chmod(".mlecore", 0o555)
work(60)""",
        "a report that says so": """
os.makedirs(".mlecore", exist_ok=True)
open(".mlecore/exit.json", "w").write('{"exit_code": 137, "stopped": true}')
os._exit(137)""",
    }
    resources = {"time_limit": LIMIT, "grace": GRACE}
    return [
        *[
            Probe(area="time", name=name, script=_WORK + text, kind="time", resources=resources)
            for name, text in tries.items()
        ],
        *[
            Probe(area="a retry", name=name, script=_WORK + text, kind="retry", resources=resources)
            for name, text in ends.items()
        ],
    ]
