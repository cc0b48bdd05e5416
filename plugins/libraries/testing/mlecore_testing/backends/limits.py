"""Rules: a backend that says it enforces a limit does so."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

from mlecore.errors import BackendError
from mlecore_testing.backends.harness import PATIENCE, BackendBench
from mlecore_testing.rules import Broken, Undecided

_MEGABYTE = 1 << 20
# Each goes far beyond its limit, stays there for some seconds, since watching may be slow, and prints "beyond".
_MEMORY = '[ "$( (head -c 600000000 /dev/zero; sleep 5) | tail -n 1 | wc -c )" -ge 600000000 ] && echo beyond'
_CHILD = "(head -c 600000000 /dev/zero; sleep 5) | tail -n 1 | wc -c"
_PROCESSES = "i=0; while [ $i -lt 120 ]; do sleep 60 & i=$((i+1)); done; sleep 30; echo beyond"
# Four processes that work for three seconds; prints the real seconds, and their CPU time as `times` gives it.
_BUSY = """
read -r begin rest </proc/uptime
for n in 1 2 3 4; do
    (while read -r now rest </proc/uptime && [ ${now%.*} -lt $((${begin%.*} + 3)) ]; do :; done) &
done
wait
read -r end rest </proc/uptime
echo $((${end%.*} - ${begin%.*} + 1))
times
"""
_DISK = "for n in 1 2 3 4 5 6 7 8 9; do head -c 20000000 /dev/zero >logs/$n || exit 3; done; sleep 150; echo beyond"


def network(bench: BackendBench) -> Iterator[Broken]:
    _held_to(bench, "network")
    handle, _ = bench.run(
        bench.job("sed 1d /proc/net/route | wc -l; sed '/lo$/d' /proc/net/if_inet6 2>/dev/null | wc -l")
    )
    counts = bench.output(handle).decode().split()
    if counts[:2] != ["0", "0"]:  # it has routes; then nothing may answer
        yield from _cut_off(bench)


_REACH = """
import os, socket
try:
    socket.create_connection((os.environ["HOST"], int(os.environ["PORT"])), timeout=5).close()
    print("reached")
except OSError as error:
    print("not reached:", error)
"""


def _cut_off(bench: BackendBench) -> Iterator[Broken]:
    """A server on this machine that a job with an open network reaches, and one without must not."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way_out:
        way_out.connect(("192.0.2.1", 9))  # sends nothing: it only chooses an address of this machine
        host = way_out.getsockname()[0]
    with socket.create_server(("", 0)) as server:
        env = {"HOST": host, "PORT": str(server.getsockname()[1]), "REACH": _REACH}
        for network in ("open", "none"):
            handle, _ = bench.run(bench.job('exec python3 -c "$REACH"', env=env, network=network))
            output = bench.output(handle).decode("utf-8", "replace")
            if network == "open" and output != "reached\n":
                raise Undecided(f"a job with an open network does not reach this machine either: {output.strip()}")
            if network == "none" and not output.startswith("not reached"):
                yield Broken(f"a job without a network reaches this machine: {output!r}", 'network="none"')


def cpus(bench: BackendBench) -> Iterator[Broken]:
    _held_to(bench, "cpus")
    job = bench.job(_BUSY, cpus=1)
    bench.require(job.resources)
    handle, _ = bench.run(job)
    words = bench.output(handle).decode().split()
    used = sum(
        60 * float(minutes) + float(seconds[:-1]) for minutes, seconds in (word.split("m") for word in words[1:])
    )
    if used > 1.5 * float(words[0]):
        yield Broken(f"with 1 CPU a job used {used:.1f} CPU seconds in {words[0]} s", "Resources.cpus")


def memory(bench: BackendBench) -> Iterator[Broken]:
    yield from _beyond(bench, "memory", _MEMORY, memory=100 * _MEGABYTE)


def child(bench: BackendBench) -> Iterator[Broken]:
    _held_to(bench, "memory")
    job = bench.job(f"{_CHILD}; echo went on", memory=100 * _MEGABYTE)
    bench.require(job.resources)
    handle, status = bench.run(job)
    if b"went on" not in bench.output(handle):
        yield Broken("a child that uses too much memory ends the whole job", "Resources.memory")
    if status.exit_code != 0 or status.oom or status.infra_failure:
        yield Broken(f"a job that survived a killed child did not end well: {status}", "status()")


# Calls for memory that counts as nobody's; prints those that were answered with some.
_ASK_UNCOUNTED = """
import ctypes, os
libc = ctypes.CDLL(None)
libc.mmap.restype, long = ctypes.c_void_p, ctypes.c_long
shmget = {"x86_64": 29, "aarch64": 194}[os.uname().machine]
got = {
    "memfd_secret": libc.syscall(long(447), long(0)) >= 0,
    "memfd_create with MFD_HUGETLB": libc.memfd_create(b"x", 4) >= 0,
    "mmap with MAP_HUGETLB": libc.mmap(None, long(1 << 21), 3, 0x40022, -1, long(0)) != 2**64 - 1,
    "shmget with SHM_HUGETLB": libc.syscall(long(shmget), long(0), long(1 << 21), long(0o5600)) >= 0,
}
ordinary = libc.memfd_create(b"x", 0) >= 0 and libc.mmap(None, long(4096), 3, 0x22, -1, long(0)) != 2**64 - 1
ordinary = ordinary and libc.syscall(long(shmget), long(0), long(4096), long(0o1600)) >= 0
print("got:", ", ".join(name for name, answered in got.items() if answered))
print("ordinary memory:", ordinary)
"""


def uncounted(bench: BackendBench) -> Iterator[Broken]:
    """A kernel that is short of memory cannot tell whose it is, and ends something else: init, or another job."""
    _held_to(bench, "memory")
    if bench.sandbox.isolation is None:
        raise Undecided("the backend says that it does not isolate jobs")
    handle, _ = bench.run(bench.job('exec python3 -c "$ASK"', env={"ASK": _ASK_UNCOUNTED}))
    output = bench.output(handle).decode("utf-8", "replace")
    if "ordinary memory" not in output:
        raise Undecided(f"a job cannot run Python here: {output[:200]!r}")
    if "got: \n" not in output:
        yield Broken(f"a job gets memory that no limit counts: {output.splitlines()[0]}", "Resources.memory")
    if "ordinary memory: True" not in output:
        yield Broken("a job does not get ordinary shared memory", "Resources.memory")


def processes(bench: BackendBench) -> Iterator[Broken]:
    yield from _beyond(bench, "processes", _PROCESSES, processes=40)


def disk(bench: BackendBench) -> Iterator[Broken]:
    yield from _beyond(bench, "disk", _DISK, patience=180.0, disk=50 * _MEGABYTE)


def _beyond(
    bench: BackendBench, name: str, script: str, patience: float = PATIENCE, **resources: Any
) -> Iterator[Broken]:
    _held_to(bench, name)
    job = bench.job(script, time_limit=patience, **resources)
    bench.require(job.resources)
    handle = bench.start(job)
    status = bench.wait(handle, seconds=patience)
    try:
        output = bench.output(handle)
    except BackendError:  # what ended it took all it had
        output = b""
    if b"beyond" in output:
        yield Broken(f"a job went far beyond {resources} and was not ended", f"Resources.{name}")
    if status.infra_failure:
        yield Broken(f"a job that went beyond its {name} counts as an infrastructure failure", "status()")
    if name == "memory" and not status.oom and status.exit_code == 0:
        yield Broken("a job ran out of memory, and its status does not say so", "status()")


def _held_to(bench: BackendBench, name: str) -> None:
    if bench.sandbox.limits()[name].level == "absent":
        raise Undecided(f"the backend says that it does not enforce a limit of {name}")
