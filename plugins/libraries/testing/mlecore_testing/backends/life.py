"""Rules: a job runs as described, once, and any process can find it and follow its output."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from attrs import evolve

from mlecore.model.backends import Resources
from mlecore_sandboxes.variables import environment
from mlecore_testing.backends.harness import PATIENCE, BackendBench, files
from mlecore_testing.rules import Broken

_OWN = ("HOME", "USER", "LOGNAME", "TMPDIR", "MLECORE_OPT", "CUDA_VISIBLE_DEVICES")  # differ between backends
_SCRIPT = """
echo "home: $(pwd)"
cat agent/note.txt
cat data/description.md data/deeper/picture.bin | wc -c
echo "value: $KIT_VALUE"
echo "input: $(cat)"
echo complaint >&2
printf 'id,y\\n1,2\\n' >submission/submission.csv
mkdir code/deeper && echo 'print()' >code/deeper/main.py
echo line >>logs/a.log
exit 7
"""


def life(bench: BackendBench) -> Iterator[Broken]:
    value = "a 'quoted' \"value\" with $HOME and\ttab"
    job = bench.job(_SCRIPT, files={"agent/note.txt": b"a note\n"}, stdin=b"some input")
    handle, status = bench.run(
        bench.job(_SCRIPT, files=job.files, stdin=job.stdin, env={**job.env, "KIT_VALUE": value})
    )
    if status.exit_code != 7:
        yield Broken(f"its exit code is {status.exit_code}, expected 7", "status()")
    output = bench.output(handle).decode("utf-8", "replace")
    for line in (
        f"home: {bench.backend.home(handle.name)}",
        "a note",
        "16393",  # bytes of both files of the data
        f"value: {value}",
        "input: some input",
        "complaint",
    ):
        if line not in output.splitlines():
            yield Broken(f"no line {line!r} in {output!r}", "logs()")
    folder, fetched = bench.fetch(handle, "submission/*.csv", "logs", "code", "agent/*.txt", "nothing/*")
    expected = {
        "submission/submission.csv": b"id,y\n1,2\n",
        "code/deeper/main.py": b"print()\n",
        "logs/a.log": b"line\n",
        "agent/note.txt": b"a note\n",
    }
    if (got := files(folder)) != expected:
        yield Broken(f"it fetched {sorted(got)}, expected {sorted(expected)} as the job wrote them", "fetch()")
    if fetched.files != len(expected) or fetched.bytes != sum(map(len, expected.values())) or not fetched.complete:
        yield Broken(f"it returned {fetched}, expected {len(expected)} files and complete", "fetch()")
    if "exit.json" not in " ".join(files(bench.fetch(handle, ".mlecore")[0])):
        yield Broken("init left no .mlecore/exit.json, or it was not fetched", "fetch()")


def once(bench: BackendBench) -> Iterator[Broken]:
    job = bench.job("echo started; cat data/train.csv; sleep 2")
    first = bench.start(job)
    with ThreadPoolExecutor(3) as pool:
        again = [*pool.map(lambda _: bench.backend.start(job), range(3)), bench.another().start(job)]
    if any(handle != first for handle in again):
        yield Broken(f"starting a job again gave other handles: {first}, {set(again)}", "start()")
    bench.wait(first)
    bench.another().start(job)
    if (count := bench.output(first).count(b"started")) != 1:
        yield Broken(f"a job that was started six times under one name ran {count} times", "start()")


def found(bench: BackendBench) -> Iterator[Broken]:
    handle = bench.start("echo one")
    other = bench.start("echo two", group=f"{bench.group}0")
    elsewhere = bench.another()
    mine = elsewhere.list_jobs(bench.group)
    if mine.get(handle.name) != handle:
        yield Broken(f"it does not find {handle.name} of its group", "list_jobs()")
    if other.name in mine:
        yield Broken("it finds a job of another group whose name begins the same", "list_jobs()")
    removed = bench.start("echo three")
    bench.backend.remove(removed)
    statuses = elsewhere.status([handle, other, removed])
    if set(statuses) != {handle, other, removed}:
        yield Broken(f"asked for the status of three handles, it returned {len(statuses)}", "status()")
    elif statuses[removed].phase != "gone":
        yield Broken(f"a job that was removed is {statuses[removed].phase}, expected gone", "status()")
    bench.wait(handle)
    deadline = time.monotonic() + PATIENCE  # it may see things a little later
    while elsewhere.status([handle])[handle].phase != "exited" or b"one" not in b"".join(elsewhere.logs(handle)):
        if time.monotonic() > deadline:
            yield Broken("another process does not see how the job ended, or its output", "status(), logs()")
            return
        time.sleep(0.2)


def logs(bench: BackendBench) -> Iterator[Broken]:
    handle = bench.start(
        bench.job(r"i=0; while [ $i -lt 5 ]; do printf 'a\000\377\033[2J%s\r\n' $i; i=$((i+1)); sleep 0.2; done")
    )
    followed = b"".join(bench.backend.logs(handle, follow=True))
    expected = b"".join(b"a\x00\xff\x1b[2J%d\r\n" % i for i in range(5))
    if followed != expected:
        yield Broken(f"the output, followed to the end, is {followed!r}, expected {expected!r}", "logs(follow=True)")
    bench.wait(handle)
    for offset in (0, 3, len(expected) - 1, len(expected), len(expected) + 100):
        if (part := b"".join(bench.backend.logs(handle, offset))) != expected[offset:]:
            yield Broken(f"the output from byte {offset} is {part!r}, expected {expected[offset:]!r}", "logs(offset)")
    large, _ = bench.run(bench.job("head -c 3000000 /dev/zero; echo; echo end"))
    # Docker's log driver "local" loses the end of a line that is so long
    if (output := bench.output(large).replace(b"\n", b"")) != bytes(3_000_000) + b"end":
        yield Broken(f"a line of 3,000,000 bytes was returned with {len(output) - 3:,}", "logs()")


def variables(bench: BackendBench) -> Iterator[Broken]:
    resources = Resources(time_limit=45.0, grace=2.5, cpus=1, memory=1 << 29)
    bench.require(resources)
    job = bench.job("touch $HOME/kit $TMPDIR/kit && echo writable; env", env={"MLECORE_GRACE": "0", "LANG": "C"})
    job = evolve(job, resources=resources)
    handle, _ = bench.run(job)
    lines = bench.output(handle).decode("utf-8", "replace").splitlines()
    there = dict(line.partition("=")[::2] for line in lines)
    expected = environment(job, home=bench.backend.home(job.name))
    for name, value in expected.items():
        if name not in there:
            yield Broken(f"a job has no variable {name}", "environment()")
        elif name not in _OWN and there[name] != value:
            yield Broken(f"{name} is {there[name]!r}, expected {value!r}", "environment()")
    if "writable" not in lines:
        yield Broken(
            f"it cannot write in HOME or TMPDIR, {there.get('HOME')} and {there.get('TMPDIR')}", "environment()"
        )


def secrets(bench: BackendBench) -> Iterator[Broken]:
    os.environ |= {"MLECORE_KIT_KEY": "planted-key-4711", "MLECORE_KIT_OTHER": "unnamed-key-4711"}
    try:
        job = bench.job('[ "$MLECORE_KIT_KEY" = planted-key-4711 ] && echo has it; env', secrets=("MLECORE_KIT_KEY",))
        handle, _ = bench.run(job)
        output = bench.output(handle)
        told = repr((handle, bench.status(handle), bench.backend.describe(), bench.backend.list_jobs(bench.group)))
    finally:
        for name in ("MLECORE_KIT_KEY", "MLECORE_KIT_OTHER"):
            os.environ.pop(name)
    if b"has it" not in output:
        yield Broken("the secret that the job names is not in its environment", "start()")
    if b"unnamed-key-4711" in output:
        yield Broken("a variable of the controller that the job does not name is in its environment", "start()")
    if "planted-key-4711" in told:
        yield Broken(
            "the value of a secret is in what the backend says about the job", "list_jobs(), status(), describe()"
        )
