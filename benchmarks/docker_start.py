"""The backend docker: how soon an agent starts beside `docker run` of the same image, and what 100 short runs cost.

    python benchmarks/docker_start.py [--rounds 10] [--runs 100] [--parallel 4]

Needs a Docker engine with the base image. "First instruction" is the agent's own clock when its program begins, against
this machine's when the command or the call began. Image and data are ready beforehand; `mlecore run` and `docker run`
both include the start of their own process.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from _measure import scratch
from mle_backend_docker.docker_backend import DockerBackend

import mlecore.sandbox
from mlecore.agents import Recipe
from mlecore.backends import Dataset, Image, Job

CLOCK = ("/bin/date", "+%s.%N")
MLECORE = (sys.executable, "-c", "from mlecore.cli import main; main()")
HARDENED = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--network", "none")


def docker_run(ref: str, *flags: str) -> float:
    began = time.time()
    argv = ["docker", "run", "--rm", *flags, "--entrypoint", CLOCK[0], ref, *CLOCK[1:]]
    out = subprocess.run(argv, capture_output=True, text=True, check=True)
    return float(out.stdout) - began


def call(backend: DockerBackend, image: Image, folder: Path) -> float:
    """From start() to the first instruction, with everything that a sandbox has."""
    job = Job(
        name=f"mle-{uuid.uuid4().hex[:12]}-1", group="bench", image=image, data=str(folder), argv=CLOCK,
        dataset=Dataset(competition="c", edition="v1", public=folder, digest="d"),
        tools={"init": Path(str(mlecore.sandbox.__file__)).parent / "init"},
    )  # fmt: skip
    began = time.time()
    handle = backend.start(job)
    try:
        return float(b"".join(backend.logs(handle, follow=True))) - began
    finally:
        backend.remove(handle)


def plan(group: str, *words: str) -> list[str]:
    argv = [*MLECORE, "run", "--agent", "command", "-A", "argv=sh agent.sh", "--competition", "optical-digits"]
    return [*argv, "--backend", "docker", "--time-limit", "10m", "--group", group, *words]


def whole(folder: Path, group: str) -> float:
    """From `mlecore run` to the first instruction."""
    began = time.time()
    subprocess.run(plan(group), cwd=folder, check=True, capture_output=True)
    [said] = (folder / "runs" / group).glob("*/logs/clock")
    return float(said.read_text()) - began


def line(name: str, measure: Callable[[], float], rounds: int) -> float:
    taken = [measure() for _ in range(rounds)]
    median = statistics.median(taken)
    print(f"{name:44} median {median:6.3f} s   best {min(taken):6.3f}   worst {max(taken):6.3f}", flush=True)
    return median


def many(folder: Path, runs: int, parallel: int) -> None:
    began = time.perf_counter()
    cpus = f"{(os.cpu_count() or 1) / parallel:g}"
    argv = plan("many", "--seeds", str(runs), "--max-parallel", str(parallel), "--cpus", cpus)
    process = subprocess.Popen(argv, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    if os.waitstatus_to_exitcode(status):
        sys.exit("the runs did not all come to their end")
    cpu = usage.ru_utime + usage.ru_stime
    print(f"{runs} runs, {parallel} at a time: {seconds:.1f} s, {1000 * seconds / runs:.0f} ms a run")
    print(f"controller, with grading: {1000 * cpu / runs:.0f} ms of CPU a run, peak {usage.ru_maxrss / 1024:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--parallel", type=int, default=4)
    options = parser.parse_args()
    with scratch() as folder:
        folder.chmod(0o755)
        os.environ["MLECORE_DATA"] = str(folder / "data")
        public = folder / "public"
        public.mkdir()
        (folder / "agent.sh").write_text(
            "date +%s.%N >logs/clock\ncp /opt/mlecore/sample.csv submission/submission.csv\n"
        )
        backend = DockerBackend({})
        image = backend.build(Recipe(programs=("sh",)), folder / "build.log")
        subprocess.run([*MLECORE, "prepare", "optical-digits"], check=True, capture_output=True)
        whole(folder, "warm-up")
        plain = line("docker run", lambda: docker_run(image.ref), options.rounds)
        line("docker run, hardened, no network", lambda: docker_run(image.ref, *HARDENED), options.rounds)
        start = line("start()", lambda: call(backend, image, public), options.rounds)
        total = line("mlecore run", lambda: whole(folder, f"one-{uuid.uuid4().hex[:8]}"), options.rounds)
        print(f"beside docker run: start() {start - plain:+.3f} s, mlecore run {total - plain:+.3f} s")
        many(folder, options.runs, options.parallel)


if __name__ == "__main__":
    main()
