"""Rules: what a job leaves cannot hurt the controller; where the place isolates, a job cannot reach out of itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from mlecore.backends import Handle
from mlecore.errors import BackendError
from mlecore.testing.backends.harness import BackendBench, files
from mlecore.testing.rules import Broken, Undecided

_MEGABYTE = 1 << 20
_OURS = ("fetched-", "public", "build")  # how the names begin of what the harness itself puts into its folder
_TRAPS = """
cd logs
echo fine >fine.log
ln -s /etc/passwd passwd.log
ln -s / root
ln -s ../data data
ln -s loop loop
mkfifo pipe.log
mkdir -p "odd name/$(printf 'new\\nline')" && echo odd >"odd name/$(printf 'new\\nline')/$(printf '\\033[2J')"
mkdir -p ' ' && echo blank >' /-rf'
ln fine.log hard.log
cd ..
rm -rf code && ln -s /etc code
"""


def hostile(harness: BackendBench) -> Iterator[Broken]:
    handle, _ = harness.run(harness.job(_TRAPS))
    folder, fetched = harness.fetch(handle, "logs", "code", "code/*")
    got = files(folder)
    if got.get("logs/fine.log") != b"fine\n" or got.get("logs/ /-rf") != b"blank\n":
        yield Broken(f"regular files do not come out; what does: {sorted(got)}", "fetch()")
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(place, name)
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                yield Broken(f"{path.relative_to(folder)} is no regular file", "fetch()")
    if any(b"root:" in content for content in got.values()):
        yield Broken("a file from outside of its home came out", "fetch()")
    refused = "\n".join(fetched.refused)
    for name in ("passwd.log", "pipe.log"):
        if name not in refused:
            yield Broken(f"it does not say that it refused {name}", "fetch()")
    if not refused.replace("\n", "").isprintable():
        yield Broken("what it refused is told with characters that can upset a terminal", "fetch()")
    for glob in ("../*", "/etc/passwd", "logs/../../*", "code/passwd"):
        if brought := _brought(harness, handle, glob):
            yield Broken(f"asked for {glob} it brought {brought}", "fetch()")
    if strangers := [path.name for path in folder.parent.iterdir() if not path.name.startswith(_OURS)]:
        yield Broken(f"it wrote beside the folder that it was given: {strangers}", "fetch()")


def cut(harness: BackendBench) -> Iterator[Broken]:
    script = "truncate -s 1T logs/sparse.log 2>/dev/null || dd if=/dev/zero of=logs/sparse.log bs=1 count=1 seek=1G"
    handle, _ = harness.run(harness.job(f"{script}; head -c 3000000 /dev/zero >logs/large.log"))
    folder, fetched = harness.fetch(handle, "logs", limit=_MEGABYTE)
    brought = sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
    if fetched.bytes > _MEGABYTE or brought > 2 * _MEGABYTE:
        yield Broken(f"with a limit of 1 MiB it brought {max(fetched.bytes, brought):,} bytes", "fetch()")
    if fetched.complete:
        yield Broken("it says that all came, though the limit cut it", "fetch()")


def read_only(harness: BackendBench) -> Iterator[Broken]:
    if not harness.isolated:
        raise Undecided("the place says that it does not isolate jobs")
    script = "for f in data/new data/train.csv; do (echo x >>$f) 2>/dev/null && echo wrote $f; done; rm -rf data/deeper"
    handle, _ = harness.run(harness.job(f"{script} 2>/dev/null; cat data/deeper/picture.bin | wc -c"))
    output = harness.output(handle).decode()
    if "wrote" in output or "16384" not in output:
        yield Broken(f"a job can change its data: {output!r}", "data/")
    if (harness.dataset.public / "train.csv").read_bytes() != b"id,y\n1,2\n":
        yield Broken("a job has changed the data on the controller's disk", "data/")


def network(harness: BackendBench) -> Iterator[Broken]:
    if not harness.isolated or not harness.facts.get("network_enforced", True):
        raise Undecided("the place says that it does not shut off the network")
    handle, _ = harness.run(
        harness.job("sed 1d /proc/net/route | wc -l; sed '/lo$/d' /proc/net/if_inet6 2>/dev/null | wc -l")
    )
    counts = harness.output(handle).decode().split()
    if counts and counts[0] != "0":
        yield Broken(f"a job without a network has {counts[0]} routes out", 'network="none"')


def memory(harness: BackendBench) -> Iterator[Broken]:
    if not harness.isolated:
        raise Undecided("the place says that it does not isolate jobs")
    job = harness.job("head -c 600000000 /dev/zero | tail -n 1 | wc -c", memory=100 * _MEGABYTE)
    harness.able(job)
    handle, status = harness.run(job)
    if b"600000000" in harness.output(handle) and not status.oom:
        yield Broken("a job held 600 MB with a limit of 100 MiB", "Job.memory")


def _brought(harness: BackendBench, handle: Handle, glob: str) -> list[str]:
    """What comes for a pattern that leads out of home; refusing the pattern is right, too."""
    try:
        return sorted(files(harness.fetch(handle, glob)[0]))
    except BackendError:
        return []
