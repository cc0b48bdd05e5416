"""Rules: a job's files cannot harm the controller; an isolated job cannot reach anything outside."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

from mlecore.errors import BackendError
from mlecore_jobs.fetching import RELAY_LOG
from mlecore_testing.backends.harness import BackendBench, files
from mlecore_testing.rules import Broken, Undecided

_MEGABYTE = 1 << 20
_OURS = ("fetched-", "public", "build", "answers")  # prefixes of what the kit itself puts into its folder
_TRAPS = """
cd logs
echo fine >fine.log
echo forged >relay.jsonl
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


def hostile(bench: BackendBench) -> Iterator[Broken]:
    handle, _ = bench.run(bench.job(_TRAPS))
    folder, fetched = bench.fetch(handle, "logs", "code", "code/*")
    got = files(folder)
    if got.get("logs/fine.log") != b"fine\n" or got.get("logs/ /-rf") != b"blank\n":
        yield Broken(f"not all regular files were fetched, only: {sorted(got)}", "fetch()")
    for above, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(above, name)
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                yield Broken(f"{path.relative_to(folder)} is not a regular file", "fetch()")
    if any(b"root:" in content for content in got.values()):
        yield Broken("a file from outside its home was fetched", "fetch()")
    refused = "\n".join(fetched.refused)
    if str(RELAY_LOG) in got:
        yield Broken(f"a job without a relay wrote {RELAY_LOG}, and it was fetched as the relay's", "fetch()")
    for name in ("passwd.log", "pipe.log", RELAY_LOG.name):
        if name not in refused:
            yield Broken(f"it does not say that it refused {name}", "fetch()")
    if not refused.replace("\n", "").isprintable():
        yield Broken("its list of refused files has control characters", "fetch()")
    if linked := sorted(files(bench.fetch(handle, "code/passwd")[0])):
        yield Broken(f"through a link instead of a folder it fetched {linked}", "fetch()")
    if others := [path.name for path in folder.parent.iterdir() if not path.name.startswith(_OURS)]:
        yield Broken(f"it wrote outside the folder that it was given: {others}", "fetch()")


def cut(bench: BackendBench) -> Iterator[Broken]:
    script = "truncate -s 1T logs/sparse.log 2>/dev/null || dd if=/dev/zero of=logs/sparse.log bs=1 count=1 seek=1G"
    script += "; head -c 3000000 /dev/zero >logs/large.log; echo small >logs/small.log"
    script += "; for n in 1 2 3 4 5 6 7 8 9; do echo $n >code/$n; done; echo first >submission/submission.csv"
    handle, _ = bench.run(bench.job(script))
    folder, fetched = bench.fetch(handle, "logs", max_bytes=_MEGABYTE)
    stored = sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
    if fetched.bytes > _MEGABYTE or stored > 2 * _MEGABYTE:
        yield Broken(f"with a limit of 1 MiB it fetched {max(fetched.bytes, stored):,} bytes", "fetch()")
    if (got := sorted(files(folder))) != ["logs/small.log"]:
        yield Broken(f"with a limit of 1 MiB it fetched {got}, expected the one file that fits, whole", "fetch()")
    if fetched.complete or not any("large.log" in words for words in fetched.refused):
        yield Broken("it does not say which files the limit kept out", "fetch()")
    folder, fetched = bench.fetch(handle, "submission", "code", max_files=4)
    got = sorted(files(folder))
    if len(got) != 4 or fetched.files != 4 or fetched.complete or not fetched.refused:
        yield Broken(f"with a limit of 4 files it fetched {got} and says {fetched}", "fetch()")
    if "submission/submission.csv" not in got:
        yield Broken("the limit does not keep the files of the first glob, but others", "fetch()")
    _, fetched = bench.fetch(handle, "code", max_files=9)
    if fetched.files != 9 or not fetched.complete:
        yield Broken(f"for nine files with a limit of nine it returned {fetched}", "fetch()")


def apart(bench: BackendBench) -> Iterator[Broken]:
    if bench.sandbox.isolation is None:
        raise Undecided("the backend says that it does not isolate jobs")
    answers = bench.folder / f"answers-{uuid.uuid4().hex}"
    answers.write_text("planted-answer-4711")
    bench.folder.chmod(0o755)
    answers.chmod(0o644)
    search = f"find / -name '{answers.name}' 2>/dev/null"  # minutes on a whole machine, so only where it is needed
    handle, _ = bench.run(bench.job(f"cat '{answers}' || {search}"))
    if answers.name.encode() in bench.output(handle).replace(f"cat: {answers}".encode(), b""):
        yield Broken("a job sees a file of the controller that is not in its data", "isolation")
    if b"planted-answer-4711" in bench.output(handle):
        yield Broken("a job reads a file of the controller that is not in its data", "isolation")


def read_only(bench: BackendBench) -> Iterator[Broken]:
    if bench.sandbox.isolation is None:
        raise Undecided("the backend says that it does not isolate jobs")
    script = "for f in data/new data/train.csv; do (echo x >>$f) 2>/dev/null && echo wrote $f; done; rm -rf data/deeper"
    handle, _ = bench.run(bench.job(f"{script} 2>/dev/null; cat data/deeper/picture.bin | wc -c"))
    output = bench.output(handle).decode()
    if "wrote" in output or "16384" not in output:
        yield Broken(f"a job can change its data: {output!r}", "data/")
    if (bench.dataset.public / "train.csv").read_bytes() != b"id,y\n1,2\n":
        yield Broken("a job has changed the data on the controller's disk", "data/")


_OFFER = """
read -r before </proc/1/oom_score
for name in oom_adj oom_score_adj task/1/oom_adj task/1/oom_score_adj; do
    for value in 15 1000; do echo $value >/proc/1/$name; done
done 2>/dev/null
read -r after </proc/1/oom_score
echo $before $after
"""


def init_kept(bench: BackendBench) -> Iterator[Broken]:
    """An init that the kernel ends first, when memory is short, takes its job down with it: a free retry."""
    if bench.sandbox.isolation is None:
        raise Undecided("the backend says that it does not isolate jobs")
    handle, _ = bench.run(bench.job(_OFFER))
    scores = bench.output(handle).split()
    if len(scores) != 2:
        raise Undecided(f"a job does not see the score of its init: {scores}")
    if abs(int(scores[1]) - int(scores[0])) > 100:
        yield Broken("a job can offer its init to a kernel that is short of memory", "/proc/1/oom_adj")


_LOCKED = """
printf 'id,y\\n1,2\\n' >submission/submission.csv
mkdir -p code/a/b/c logs/kept && echo deep >code/a/b/c/deep.py && echo log >logs/kept/a.log && echo top >logs/top.log
chmod 0 submission/submission.csv code/a/b/c/deep.py code/a/b/c code/a/b logs/kept code submission
chmod 0444 logs/top.log; chmod 0400 logs
chmod 0 .mlecore . 2>/dev/null
"""


def locked(bench: BackendBench) -> Iterator[Broken]:
    """A bad result must not be erased by making it impossible to collect. Twice: watching a run fetches, too."""
    handle, _ = bench.run(bench.job(_LOCKED))
    expected = {
        "submission/submission.csv": b"id,y\n1,2\n",
        "code/a/b/c/deep.py": b"deep\n",
        "logs/kept/a.log": b"log\n",
        "logs/top.log": b"top\n",
    }
    for _ in range(2):
        try:
            folder, fetched = bench.fetch(handle, "submission/*.csv", "code", "logs")
        except BackendError as error:
            yield Broken(f"a job keeps its files from being fetched: {error.message}", "fetch()")
            return
        if missing := sorted(expected.keys() - files(folder).keys()):
            yield Broken(f"files that a job has locked are not fetched: {missing}; {fetched.refused}", "fetch()")


_ASK = """
import os, urllib.request
for url in ("http://forbidden.invalid/", "http://allowed.invalid/"):
    try:
        urllib.request.urlopen(url, timeout=120)
    except OSError as error:
        print(url, error)
"""


def relay(bench: BackendBench) -> Iterator[Broken]:
    """The log must hold what the relay saw, even if the job writes a file of that name."""
    if bench.sandbox.network.level == "absent":
        raise Undecided("the backend says that it does not restrict the network, so there is no relay")
    script = f'mkdir -p logs; echo forged >{RELAY_LOG}; command -v python3 >/dev/null && exec python3 -c "$ASK"'
    job = bench.job(script, env={"ASK": _ASK}, network="llm", allow=("allowed.invalid:80",))
    bench.require(job.resources)
    handle, _ = bench.run(job)
    output = bench.output(handle).decode("utf-8", "replace")
    if "http://forbidden.invalid/ HTTP Error 403" not in output:
        yield Broken(f"the relay does not refuse a host that is not on its list: {output!r}", 'network="llm"')
    if "http://allowed.invalid/ HTTP Error 403" in output:
        yield Broken("the relay refuses a host on its list", 'network="llm"')
    log = files(bench.fetch(handle, "logs/*")[0]).get(str(RELAY_LOG), b"")
    if b"forbidden.invalid" not in log or b"forged" in log:
        yield Broken(f"{RELAY_LOG} is not the relay's log: {log[:300]!r}", "fetch()")
