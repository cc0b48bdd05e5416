"""Rules: a job runs as it was described, once, and can be found and followed by anybody."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from mlecore.testing.backends.harness import BackendBench, files
from mlecore.testing.rules import Broken

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


def life(harness: BackendBench) -> Iterator[Broken]:
    value = "a 'quoted' \"value\" with $HOME and\ttab"
    job = harness.job(_SCRIPT, files={"agent/note.txt": b"a note\n"}, stdin=b"some input")
    handle, status = harness.run(
        harness.job(_SCRIPT, files=job.files, stdin=job.stdin, env={**job.env, "KIT_VALUE": value})
    )
    if status.exit_code != 7:
        yield Broken(f"its exit code is {status.exit_code}, expected 7", "status()")
    output = harness.output(handle).decode("utf-8", "replace")
    for line in (
        f"home: {harness.backend.home(handle.name)}",
        "a note",
        "16393",  # bytes of both files of the data
        f"value: {value}",
        "input: some input",
        "complaint",
    ):
        if line not in output.splitlines():
            yield Broken(f"no line {line!r} in {output!r}", "logs()")
    folder, fetched = harness.fetch(handle, "submission/*.csv", "logs", "code", "agent/*.txt", "nothing/*")
    expected = {
        "submission/submission.csv": b"id,y\n1,2\n",
        "code/deeper/main.py": b"print()\n",
        "logs/a.log": b"line\n",
        "agent/note.txt": b"a note\n",
    }
    if (got := files(folder)) != expected:
        yield Broken(f"it brought {sorted(got)}, expected {sorted(expected)} as the job wrote them", "fetch()")
    if fetched.files != len(expected) or fetched.bytes != sum(map(len, expected.values())) or not fetched.complete:
        yield Broken(f"it says {fetched}, expected {len(expected)} files and all of them", "fetch()")
    if "exit.json" not in " ".join(files(harness.fetch(handle, ".mlecore")[0])):
        yield Broken("init left no .mlecore/exit.json, or it does not come out", "fetch()")


def once(harness: BackendBench) -> Iterator[Broken]:
    job = harness.job("echo started; cat data/train.csv; sleep 2")
    first = harness.start(job)
    with ThreadPoolExecutor(3) as pool:
        again = [*pool.map(lambda _: harness.backend.start(job), range(3)), harness.another().start(job)]
    if any(handle != first for handle in again):
        yield Broken(f"other handles for a job that has been started: {first}, {set(again)}", "start()")
    harness.wait(first, "exited")
    harness.another().start(job)
    if (count := harness.output(first).count(b"started")) != 1:
        yield Broken(f"a job that was started six times under one name ran {count} times", "start()")


def found(harness: BackendBench) -> Iterator[Broken]:
    handle = harness.start(harness.job("echo one"))
    other = harness.start(harness.job("echo two", group=f"{harness.group}0"))
    elsewhere = harness.another()
    mine = elsewhere.find(harness.group)
    if mine.get(handle.name) != handle:
        yield Broken(f"it does not find {handle.name} of its group", "find()")
    if other.name in mine:
        yield Broken("it finds a job of another group, whose name only begins alike", "find()")
    removed = harness.start(harness.job("echo three"))
    harness.backend.remove(removed)
    statuses = elsewhere.status([handle, other, removed])
    if set(statuses) != {handle, other, removed}:
        yield Broken(f"asked for three handles, it answers for {len(statuses)}", "status()")
    elif statuses[removed].phase != "gone":
        yield Broken(f"a job that was removed is {statuses[removed].phase}, expected gone", "status()")
    harness.wait(handle, "exited")
    if elsewhere.status([handle])[handle].phase != "exited" or b"one" not in b"".join(elsewhere.logs(handle)):
        yield Broken("another process does not see how the job ended, or its output", "status(), logs()")


def logs(harness: BackendBench) -> Iterator[Broken]:
    handle = harness.start(
        harness.job(r"i=0; while [ $i -lt 5 ]; do printf 'a\000\377\033[2J%s\r\n' $i; i=$((i+1)); sleep 0.2; done")
    )
    followed = b"".join(harness.backend.logs(handle, follow=True))
    expected = b"".join(b"a\x00\xff\x1b[2J%d\r\n" % i for i in range(5))
    if followed != expected:
        yield Broken(f"followed to the end, it is {followed!r}, expected {expected!r}", "logs(follow=True)")
    harness.wait(handle, "exited")
    for offset in (0, 3, len(expected) - 1, len(expected), len(expected) + 100):
        if (part := b"".join(harness.backend.logs(handle, offset))) != expected[offset:]:
            yield Broken(f"from byte {offset} on it is {part!r}, expected {expected[offset:]!r}", "logs(offset)")
    large, _ = harness.run(harness.job("head -c 3000000 /dev/zero; echo; echo end"))
    # Docker's log driver "local" loses the end of a line that is so long
    if (output := harness.output(large).replace(b"\n", b"")) != bytes(3_000_000) + b"end":
        yield Broken(f"a line of 3,000,000 bytes came out with {len(output) - 3:,}", "logs()")


def secrets(harness: BackendBench) -> Iterator[Broken]:
    os.environ |= {"MLECORE_KIT_KEY": "planted-key-4711", "MLECORE_KIT_OTHER": "unnamed-key-4711"}
    try:
        job = harness.job('[ "$MLECORE_KIT_KEY" = planted-key-4711 ] && echo has it; env', secrets=("MLECORE_KIT_KEY",))
        handle, _ = harness.run(job)
        output = harness.output(handle)
        told = repr((handle, harness.status(handle), harness.backend.describe(), harness.backend.find(harness.group)))
    finally:
        for name in ("MLECORE_KIT_KEY", "MLECORE_KIT_OTHER"):
            os.environ.pop(name)
    if b"has it" not in output:
        yield Broken("the key that the job names is not in its environment", "start()")
    if b"unnamed-key-4711" in output:
        yield Broken("a variable of the controller that the job does not name is in its environment", "start()")
    if "planted-key-4711" in told:
        yield Broken("a key's value is in what the backend tells about the job", "find(), status(), describe()")
