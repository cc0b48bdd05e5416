"""Rules: all of a job ends when its time is up or it is stopped; removing it leaves nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

from mlecore.errors import BackendError
from mlecore_testing.backends.harness import PATIENCE, BackendBench, files
from mlecore_testing.rules import Broken

_STUBBORN = """
trap '' TERM
(trap '' TERM; while :; do echo tick; sleep 0.1; done) &
printf 'id,y\\n1,2\\n' >submission/submission.csv
echo ready
while :; do sleep 0.1; done
"""


def time_limit(bench: BackendBench) -> Iterator[Broken]:
    handle, status = bench.run(bench.job("echo begun; sleep 1000", time_limit=1.0))
    if status.exit_code != 124:
        yield Broken(f"a job whose time was up has the exit code {status.exit_code}, expected init's 124", "status()")
    if status.infra_failure:
        yield Broken("a job whose time was up counts as an infrastructure failure", "status()")
    if status.seconds is not None and not 0.5 < status.seconds < PATIENCE:
        yield Broken(f"a job with a limit of 1 s ran for {status.seconds} s, it says", "status()")
    left = files(bench.fetch(handle, ".mlecore")[0])
    try:
        if not json.loads(left[".mlecore/exit.json"])["timed_out"]:
            yield Broken("exit.json does not say that the time was up", ".mlecore/exit.json")
    except (KeyError, ValueError):
        yield Broken("there is no exit.json that can be read", ".mlecore/exit.json")


_FORGED = """
trap '' TERM
echo '{"exit_code": 0, "timed_out": false, "stopped": true, "seconds": 0.1}' >.mlecore/exit.json
echo '{"cpus": 9999, "memory": 1, "gpus": [{"name": "B200"}]}' >.mlecore/hardware.json
chmod 0555 .mlecore
while :; do sleep 0.1; done
"""


def forged(bench: BackendBench) -> Iterator[Broken]:
    """What a job says of its end and its hardware must not change what the backend says."""
    _, status = bench.run(bench.job(_FORGED, time_limit=2.0))
    if status.infra_failure:
        yield Broken("a job that forged its report counts as an infrastructure failure", "status()")
    if status.exit_code != 124 and not status.timed_out:
        yield Broken(f"a job that forged its report does not count as out of time: {status}", "status()")
    if status.seconds is not None and status.seconds < 1.5:
        yield Broken(f"a job that ran for 2 s ran for {status.seconds} s, it says", "status()")
    if status.hardware is not None and (status.hardware.cpus == 9999 or status.hardware.gpus):
        yield Broken(f"it believes what a job says of its hardware: {status.hardware}", "status()")


def stop(bench: BackendBench) -> Iterator[Broken]:
    handle = bench.start(_STUBBORN)
    bench.said(handle, "ready")
    bench.wait(handle, "running")  # a cluster's nodes say so a little later
    folder, _ = bench.fetch(handle, "submission")
    if "submission/submission.csv" not in files(folder):
        yield Broken("files of a running job are not fetched", "fetch()")
    start = time.monotonic()
    bench.backend.stop(handle, 1.0)
    status = bench.wait(handle)
    if (took := time.monotonic() - start) > PATIENCE / 2:
        yield Broken(f"with a grace of 1 s it took {took:.0f} s", "stop()")
    if status.exit_code == 0:
        yield Broken("a job that was killed has the exit code 0", "status()")
    output = bench.output(handle)
    bench.backend.stop(handle, 1.0)
    time.sleep(0.5)
    if len(bench.output(handle)) != len(output):
        yield Broken("a process that ignores SIGTERM still runs after its job was stopped", "stop()")
    if b"ready" not in output or "submission/submission.csv" not in files(bench.fetch(handle, "submission")[0]):
        yield Broken("output or files are lost after stopping", "stop()")


def removed(bench: BackendBench) -> Iterator[Broken]:
    ended, _ = bench.run(bench.job("echo done; mkdir logs/locked; echo x >logs/locked/y; chmod 0 logs/locked"))
    running = bench.start("echo up; sleep 1000")
    bench.said(running, "up")
    for what, handle in (("that has ended", ended), ("that runs", running)):
        bench.backend.remove(handle)
        bench.backend.remove(handle)
        bench.backend.stop(handle, 0)
        if (phase := bench.status(handle).phase) != "gone":
            yield Broken(f"a job {what} is {phase} after it was removed, expected gone", "remove()")
        if handle.name in bench.another().list_jobs(bench.group):
            yield Broken(f"a job {what} is still found after it was removed", "list_jobs()")
        try:
            fetched_files = bench.fetch(handle, "logs")[1].files
        except BackendError:
            fetched_files = 0
        if fetched_files:
            yield Broken(f"files of a job {what} are there after it was removed", "fetch()")
