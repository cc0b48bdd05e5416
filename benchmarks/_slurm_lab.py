"""An experiment on a Slurm cluster that is put to the test: its controller, its runs, and wrapped commands."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from _slurm_cluster import processes_with, slurm, until
from mle_backend_slurm.entries import Entry

from mlecore.runs.record import RunRecord
from mlecore.runs.store import load_group

sys.path[:0] = [str(Path(__file__).parents[1] / "tests"), str(Path(__file__).parents[1] / "tests" / "controller")]
import disks  # noqa: E402, F401 - of the tests
import processes  # noqa: E402

COMMANDS = ("sbatch", "squeue", "sacct", "scancel")
SLOW_SBATCH = """case "$*" in *--array*) touch "$(dirname "$0")/../submitting"; sleep 4 ;; esac"""


class Case:
    """One group of short runs of an agent that submits the sample, with a state folder and wrapped commands."""

    def __init__(self, root: Path, runs: int, seconds: float, outage: float) -> None:
        """``seconds``: that each agent works; ``outage``: without slurmctld."""
        self.root, self.runs, self.outage = root, runs, outage
        self.state, self.scratch = root / "state", root / "scratch"
        self.scratch.mkdir(parents=True)
        self.shell = processes.Shell(root, root.parent / "data")
        self._bin = root / "bin"
        self._bin.mkdir()
        for name in COMMANDS:
            (self._bin / name).write_text(
                f'#!/bin/sh\n[ -f {root}/{name}.sh ] && . {root}/{name}.sh\nexec {shutil.which(name)} "$@"\n'
            )
            (self._bin / name).chmod(0o755)
        self.shell.env["PATH"] = f"{self._bin}:{os.environ['PATH']}"
        self.agent(f"sleep {seconds}; cp /opt/mlecore/sample.csv /home/submission/submission.csv\n")
        self.controller: subprocess.Popen[str] | None = None
        self.program = "/bin/sh"  # given by its path, it needs no environment
        self._held = False  # are its jobs submitted with --hold, and released later?
        self.prelude = ""  # Python that the controller runs first
        self.stack = ExitStack()  # what must be undone

    def agent(self, script: str) -> None:
        (self.root / "agent.sh").write_text(script)

    @contextmanager
    def kept_in_queue(self) -> Iterator[None]:
        """Its jobs wait meanwhile, as on a busy cluster."""
        self._held = True
        yield
        self.release()

    def release(self) -> None:
        waiting = slurm("squeue", "--me", "--noheader", "--array", "--states=PD", "--format=%F_%K|%j", check=False)
        if tasks := self._own(waiting):
            slurm("scontrol", "release", ",".join(tasks), check=False)

    @contextmanager
    def instead(self, command: str, script: str) -> Iterator[None]:
        """This shell script runs before each call of one of Slurm's commands; if it exits, the call does not happen."""
        file = self.root / f"{command}.sh"
        file.with_suffix(".new").write_text(f"{script}\n")
        file.with_suffix(".new").rename(file)
        try:
            yield
        finally:
            file.unlink()

    # Its controller

    def begin(self, *options: str) -> None:
        words = [
            "run",
            "--agent",
            "command",
            "-A",
            f"argv={self.program} agent.sh",
            "--competition",
            "coins",
            "--no-detect",
        ]
        words += [
            "--no-detect",
            "--seeds",
            str(self.runs),
            "--group",
            "g",
            "--time-limit",
            "300s",
            "--cpus",
            "1",
            "--memory",
            "256MB",
        ]
        words += ["--backend", "slurm", "-B", f"state={self.state}", "-B", f"scratch={self.scratch}", "-B", "poll=1"]
        words += ["-B", "sbatch=--hold"] if self._held else []
        self._start(*words, *options)

    def resume(self) -> None:
        self._start("runs", "resume", "g")

    def _start(self, *words: str) -> None:
        assert self.controller is None
        with (self.root / "controller.log").open("ab") as log:
            self.controller = subprocess.Popen(
                [sys.executable, "-c", f"{self.prelude}from mlecore.cli import main; main()", *words],
                env=self.shell.env, cwd=self.root, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, text=True,
            )  # fmt: skip

    def kill(self) -> None:
        """SIGKILL of the controller and all that it started, as when a login node goes down."""
        assert self.controller is not None
        os.killpg(self.controller.pid, signal.SIGKILL)
        self.controller.wait()
        self.controller = None

    def end(self, seconds: float = 600.0) -> int:
        """The controller's exit code, when all runs have ended."""
        assert self.controller is not None
        controller, limit = self.controller, time.monotonic() + seconds
        while controller.poll() is None:
            assert time.monotonic() < limit, "the controller does not end"
            if self._held:
                self.release()
            time.sleep(0.5)
        self.controller = None
        return controller.returncode

    def close(self) -> None:
        """Whatever happened: no controller, no jobs."""
        if self.controller is not None:
            self.kill()
        if tasks := self.tasks():
            slurm("scancel", *tasks, check=False)
        self.stack.close()

    def cancel(self) -> None:
        """By another process, which leaves the request to the controller."""
        code, output = self.shell.call("runs", "cancel", "g")
        assert code == 0, output

    def said(self) -> str:
        return (self.root / "controller.log").read_text(errors="replace")

    # Its runs

    def entries(self) -> list[Entry]:
        return [Entry(self.state, path.name) for path in sorted((self.state / "queue").glob("*"))]

    def phases(self) -> list[str]:
        return [str((entry.state() or {}).get("phase")) for entry in self.entries()]

    def running(self, count: int | None = None) -> list[Entry]:
        """As soon as so many are at work; None: all."""
        count = count or self.runs
        until(lambda: self.phases().count("running") >= count, f"{count} runs at work, not {self.phases()}")
        return [entry for entry in self.entries() if (entry.state() or {}).get("phase") == "running"]

    def queued(self) -> list[str]:
        """Their tasks, as soon as all are in Slurm's queue."""
        until(lambda: len(self.tasks()) >= self.runs, "all runs in the queue")
        return self.tasks()

    def tasks(self) -> list[str]:
        """In Slurm's queue, of this state folder."""
        return self._own(slurm("squeue", "--me", "--noheader", "--array", "--format=%F_%K|%j", check=False))

    def _own(self, listed: str) -> list[str]:
        batches = {path.name for path in (self.state / "batches").glob("*")}
        return [line.partition("|")[0] for line in listed.split() if line.partition("|")[2] in batches]

    def records(self) -> list[RunRecord]:
        problems: list[str] = []
        records = load_group(self.shell.runs / "g", problems)
        assert not problems, problems
        return records

    def retried(self) -> None:
        """As soon as a run waits for its second attempt."""
        until(lambda: "infrastructure failure" in self.said(), "a retry")

    def left(self) -> list[str]:
        """Tasks in the queue, processes, files of runs and batches, copies of data."""
        found = [f"task {task}" for task in self.tasks()]
        found += [f"process {pid}" for pid in processes_with(Path(sys.executable).name, str(self.state))]
        for kind in ("queue", "jobs", "batches", "new", "trash"):
            found += map(str, (self.state / kind).glob("*"))
        return found + [str(path) for path in self.scratch.glob("*")]
