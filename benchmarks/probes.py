"""Every probe of a backend's sandbox in one command, with a table of what holds.

    python benchmarks/probes.py [--backend vm] [--user] [--kit] [--only AREA]... [-B name=value]...

Tries what ``_probes.py`` has, all that agent dummy looks for (on each kind of network), a key in the controller's
keyring, what an agent leaves that is hard to collect, and a relay that is held by silent clients. ``--kit`` adds the
conformance kit. ``--user``, for root: once more as an ordinary user, in a mount namespace where such a one can read
this Python. It says of each: held (it did not get beyond), ended (it did, and was stopped after so many seconds),
or NOT held. Exit code 1 if anything was not held.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from _probes import BUSY, GRACE, LIMIT, Probe, limits
from attrs import evolve, frozen
from mlecore_testing.backends import check_backend, harm
from mlecore_testing.backends.harness import BackendBench
from mlecore_testing.rules import ConformanceError, Stop

from mlecore.backends import JobStatus
from mlecore.errors import MlecoreError
from mlecore.registry.loading import load

SLACK = 4.0  # seconds beyond limit and grace that a busy machine may take
USER = 64_321
DUMMY = Path(__file__).parents[1] / "plugins/agents/dummy/mle_agent_dummy/work"


@frozen(kw_only=True)
class Result:
    """One row of the table."""

    area: str
    name: str
    held: bool
    words: str


def run(bench: BackendBench, probe: Probe) -> Result:
    job = evolve(bench.job("", **probe.resources), argv=("python3", "-c", probe.script))
    try:
        handle = bench.start(job)
        began = time.monotonic()
        status = bench.wait(handle, "exited", 90.0)
        seconds = status.seconds or time.monotonic() - began  # without the time in a queue
        output = bench.output(handle).decode(errors="replace")
        bench.backend.remove(handle)
    except (Stop, MlecoreError) as error:
        return Result(area=probe.area, name=probe.name, held=False, words=f"NOT held: {error}")
    held, words = JUDGES[probe.kind](output, status, seconds)
    return Result(area=probe.area, name=probe.name, held=held, words=words if held else f"NOT held: {words}")


def _limit(output: str, status: JobStatus, seconds: float) -> tuple[bool, str]:
    if "stayed" in output:
        return False, "went beyond and stayed"
    if "a child was killed" in output:
        return True, "held: a process of it was killed"
    if "reached" in output:
        return True, f"ended after {seconds:.0f} s ({status.reason or status.exit_code})"
    return True, "held"


def _time(output: str, status: JobStatus, seconds: float) -> tuple[bool, str]:
    worked = max((float(word) for word in output.split() if word.replace(".", "").isdigit()), default=0.0)
    over = max(0.0, worked - LIMIT - GRACE)
    words = f"{over:.1f} s beyond limit and grace" if over > 0.5 else "held"
    told = status.timed_out or status.exit_code == 124
    return over < SLACK and told, words if told else f"{words}, and its status does not say so"


def _retry(output: str, status: JobStatus, seconds: float) -> tuple[bool, str]:
    if status.infra_failure:
        return False, f"counts as infrastructure: {status.reason}"
    if "offered" in output:
        return False, "the kernel ends init first"
    if status.hardware is not None and status.hardware.cpus == 9999:
        return False, "its hardware is believed"
    return True, "held"


def _got(output: str, status: JobStatus, seconds: float) -> tuple[bool, str]:
    used = float(output.split()[-1])
    if used >= 1.3:
        return False, f"{used:.1f} CPUs instead of 1"
    outside = float(subprocess.run([sys.executable, "-c", BUSY], capture_output=True, text=True).stdout.split()[-1])
    return True, "held" if outside >= 1.3 else "undecided: this machine is busy, so nobody got more"


JUDGES: dict[str, Callable[[str, JobStatus, float], tuple[bool, str]]] = {
    "limit": _limit,
    "time": _time,
    "retry": _retry,
    "got": _got,
}


def dummy(bench: BackendBench) -> Iterator[Result]:
    """What agent dummy finds on each kind of network."""
    for network in ("none", "llm", "open"):
        yield _dummy(bench, network)


def _dummy(bench: BackendBench, network: str) -> Result:
    given = {f"agent/{path.name}": path for path in DUMMY.iterdir() if path.suffix in (".py", ".sh")}
    job = bench.job("", network=network, allow=("allowed.invalid:443",) if network == "llm" else ())
    tools = {**job.tools, "validate": b"#!/bin/sh\n", "sample.csv": b"id,y\n1,2\n"}
    env = {**job.env, "MLECORE_PROBE_NETWORK": network}
    files = {**given, "instructions.txt": b"words\n"}
    argv = ("/bin/sh", "agent/probe.sh")
    handle, _ = bench.run(evolve(job, argv=argv, tools=tools, env=env, files=files, stdin=b"words\n"))
    into, _ = bench.fetch(handle, "logs")
    findings = json.loads((into / "logs/probe.json").read_text())["findings"]
    bad = [f"{each['check']}: {each['detail']}" for each in findings if not each["ok"]]
    words = f"{len(findings)} checks, {'; '.join(bad) if bad else 'nothing found'}"
    return Result(area="dummy", name=f"network {network}", held=not bad, words=words)


def collecting(bench: BackendBench) -> Iterator[Result]:
    """Whatever lies in the sandbox, fetching ends, and brings what is a file."""
    script = """
import os
os.makedirs("submission", exist_ok=True)
open("submission/submission.csv", "w").write("id,y\\n1,2\\n")
os.symlink("/etc/passwd", "submission/link.csv")
os.mkfifo("submission/pipe.csv")
with open("submission/sparse.csv", "wb") as out:
    for size in (1 << 39, 1 << 33):
        try:
            out.truncate(size)
            break
        except OSError:
            pass
try:
    os.rmdir("logs"); open("logs", "w").close()
except PermissionError:  # home is not its own everywhere
    pass
os.makedirs("code/relay.jsonl/x", exist_ok=True)
for n in range(20000): open(f"code/{n}", "w").close()
os.chdir("code")
for _ in range(2000):
    os.mkdir("d" * 200); os.chdir("d" * 200)
"""
    job = evolve(bench.job(""), argv=("python3", "-c", script))
    handle, _ = bench.run(job)
    began = time.monotonic()
    globs = ("submission/submission.csv", "submission", "logs", "code", ".mlecore")  # what is handed in comes first
    into, fetched = bench.fetch(handle, *globs, max_files=5000)
    seconds = time.monotonic() - began
    got = (into / "submission/submission.csv").is_file() and not (into / "submission/link.csv").exists()
    got = got and b"Error" not in bench.output(handle)
    words = f"{fetched.files} files in {seconds:.1f} s, {len(fetched.refused)} refusals said"
    yield Result(area="collecting", name="links, FIFOs, sparse, many, deep", held=got and seconds < 60, words=words)
    broken = [broken.what for broken in harm.locked(bench)]
    words = f"NOT held: {broken[0]}" if broken else "held"
    yield Result(area="collecting", name="modes of 0, home's too", held=not broken, words=words)


def relay(bench: BackendBench) -> Iterator[Result]:
    """Clients that connect and say nothing do not keep others out."""
    script = """
import os, socket, time, urllib.error, urllib.parse, urllib.request
at = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
kept = []
for _ in range(400):
    try:
        kept.append(socket.create_connection((at.hostname, at.port), timeout=5))
        kept[-1].sendall(b"CONN")
    except OSError:
        break
begun = time.monotonic()
try:
    urllib.request.urlopen("http://forbidden.invalid/", timeout=10)
except OSError as error:
    print(getattr(error, "code", error), f"{time.monotonic() - begun:.1f}")
"""
    job = bench.job("", network="llm", allow=("allowed.invalid:443",))
    handle, _ = bench.run(evolve(job, argv=("python3", "-c", script)))
    output = bench.output(handle).decode(errors="replace").strip()
    yield Result(area="relay", name="400 silent clients", held=output.startswith("403"), words=f"answer: {output}")


def host(bench: BackendBench) -> Iterator[Result]:
    """What listens on this machine's own loopback, and in its keyring."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        script = f"import socket; socket.create_connection(('127.0.0.1', {port}), timeout=3); print('reached')"
        for network in ("none", "open"):
            handle, _ = bench.run(evolve(bench.job("", network=network), argv=("python3", "-c", script)))
            reached = b"reached" in bench.output(handle)
            words = "NOT held: reached" if reached else "held"
            yield Result(area="network", name=f"the machine's 127.0.0.1 under {network}", held=not reached, words=words)


def results(bench: BackendBench, only: Sequence[str], kit: bool) -> Iterator[Result]:
    for probe in limits():
        if not only or probe.area in only:
            yield run(bench, probe)
    for step in (dummy, collecting, relay, host):
        if only and step.__name__ not in only:
            continue
        try:
            yield from step(bench)
        except (Stop, MlecoreError, OSError, ValueError) as error:
            yield Result(area=step.__name__, name="", held=False, words=f"NOT held: {error}")
    if kit:
        try:
            skipped = check_backend(bench.name, bench.given)
            words = f"all rules hold, {len(skipped)} could not be tried"
        except ConformanceError as error:
            skipped, words = [], f"NOT held: {', '.join(error.broken)}"
        yield Result(area="kit", name="all rules", held="NOT" not in words, words=words)


def as_user(arguments: list[str]) -> int:
    """This program once more, as a user without rights; private mounts make this Python readable."""
    closed = next((path for path in (*Path(sys.base_prefix).parents,) if not path.stat().st_mode & 1), None)
    with tempfile.TemporaryDirectory(prefix="mlecore-probes-") as folder:
        for name in ("home", "bridge"):
            (Path(folder) / name).mkdir()
            os.chown(Path(folder) / name, USER, USER)
        Path(folder).chmod(0o755)
        steps = ["mount --make-rprivate /"]
        if closed is not None:
            prefix = sys.base_prefix
            steps += [
                f"mount --bind {prefix} {folder}/bridge",
                f"mount -t tmpfs -o mode=755 mlecore-probes {closed}",
                f"mkdir -p {prefix}",
                f"mount --move {folder}/bridge {prefix}",
            ]
        again = shlex.join([sys.executable, str(Path(__file__).resolve()), *arguments])
        become = f"setpriv --reuid={USER} --regid={USER} --clear-groups --inh-caps=-all"
        steps.append(f"exec {become} env HOME={folder}/home TMPDIR={folder}/home {again}")
        argv = ["unshare", "--mount", "sh", "-e", "-c", "\n".join(steps)]
        return subprocess.run(argv, check=False, cwd=folder).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="vm")
    parser.add_argument("-B", dest="options", action="append", default=[], metavar="name=value")
    parser.add_argument("--user", action="store_true")
    parser.add_argument("--kit", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="AREA", help="memory, disk, time, dummy ...")
    given = parser.parse_args()
    if given.user and os.geteuid() == 0:
        return as_user([word for word in sys.argv[1:] if word != "--user"])
    rows: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="mlecore-probes-") as folder:
        Path(folder).chmod(0o755)
        os.environ["MLECORE_VM_STATE"] = f"{folder}/state"
        options = dict(word.split("=", 1) for word in given.options)
        bench = BackendBench(load("backend", given.backend), options, Path(folder))
        sandbox = bench.sandbox
        print(f"{given.backend}: {sandbox.isolation}; jobs are {sandbox.user}; {dict(sandbox.details)}")
        for name, limit in sandbox.limits().items():
            print(f"  {name:10} {limit.level:9} {limit.how}")
        try:
            for row in results(bench, given.only, given.kit):
                rows.append(row)
                print(f"| {row.area} | {row.name} | {row.words} |", flush=True)
        finally:
            bench.clean_up()
    print(f"{len(rows)} probes, {sum(not row.held for row in rows)} not held")
    return int(any(not row.held for row in rows))


if __name__ == "__main__":
    sys.exit(main())
