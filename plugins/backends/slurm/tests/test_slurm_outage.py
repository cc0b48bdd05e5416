"""Slurm's controller is away for three hours by an imagined clock: nothing is given up, and nothing submitted twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from mle_backend_slurm import entries
from mle_backend_slurm.commands import Seen, Slurm
from mle_backend_slurm.entries import Entry
from mle_backend_slurm.slurm_backend import SlurmBackend

from mlecore.errors import BackendUnreachable
from mlecore.model.backends import JobStatus
from mlecore_jobs.supervise.files import STATE, write_json
from mlecore_testing.backends.harness import shell_job

THREE_HOURS = 3 * 3600
STEP = 20.0


class Outage(Slurm):
    """Every command fails while ``away``; otherwise all tasks run that are not in ``states``."""

    def __init__(self) -> None:
        super().__init__()
        self.away = False
        self.arrays: dict[str, int] = {}  # job name -> tasks
        self.states: dict[str, str] = {}  # by task

    def run(self, *argv: str) -> str:
        if self.away:
            raise BackendUnreachable(f"{argv[0]}: Unable to contact slurm controller (connect failure)")
        return ""

    def submit(self, options: Sequence[str], script: str) -> str:
        self.run("sbatch")
        given = dict(option.partition("=")[::2] for option in options)
        self.arrays[given["--job-name"]] = int(given["--array"].partition("-")[2]) + 1
        return str(len(self.arrays))

    def queue(self) -> tuple[dict[str, Seen], dict[str, str]]:
        self.run("squeue")
        ids = {name: str(number) for number, name in enumerate(self.arrays, 1)}
        tasks = (f"{id}_{index}" for name, id in ids.items() for index in range(self.arrays[name]))
        return {task: Seen(state=self.states.get(task, "RUNNING"), node="box0") for task in tasks}, ids

    def named(self, name: str) -> str | None:
        self.run("sacct")
        return None


def queued(root: Path, name: str) -> Entry:
    job = shell_job(name=name, data=str(root))
    about = {"options": ["--time=10"], "scratch": "", "isolation": "sandbox"}
    entries.write_entry(entry := Entry(root, name), job, about, (), {})
    return entry


def until(ready: Callable[[], object]) -> None:
    limit = time.perf_counter() + 120
    while not ready():
        assert time.perf_counter() < limit
        time.sleep(0.01)


def write(entry: Entry, phase: str, **words: object) -> None:
    entry.claim("1_0 on box0")
    entry.job.mkdir(parents=True, exist_ok=True)
    write_json(str(entry.job / STATE), {"phase": phase, "exit_code": None, **words})


def test_three_hours_without_slurms_controller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, clock = [0.0], time.monotonic
    monkeypatch.setattr("time.monotonic", lambda: clock() + now[0])
    slurm = Outage()
    monkeypatch.setattr("mle_backend_slurm.slurm_backend.Slurm", lambda: slurm)
    backend = SlurmBackend({"state": str(tmp_path), "poll": "0.1"})
    works, ends, killed, waits = (queued(tmp_path, f"mle-{name}-1") for name in ("works", "ends", "killed", "waits"))

    def status() -> dict[str, JobStatus]:
        now[0] += STEP
        found = backend.status([entry.handle for entry in (works, ends, killed, waits, late)])
        return {handle.name.split("-")[1]: status for handle, status in found.items()}

    for entry in (works, ends, killed, waits):
        backend._submitter.add(entry)
    until(lambda: all(entry.task() for entry in (works, ends, killed, waits)))
    slurm.states[str(waits.task())] = "PENDING"
    for entry in (works, ends, killed):
        write(entry, "running")
    late = queued(tmp_path, "mle-late-1")
    assert [status()[name].phase for name in ("works", "waits")] == ["running", "pending"]

    slurm.away = True
    write(ends, "exited", exit_code=4)
    write(killed, "exited", infra_failure=True, reason="its supervisor was terminated")
    backend._submitter.add(late)
    until(lambda: late.batch() is not None)
    while now[0] < THREE_HOURS:
        found = status()
        phases = {name: each.phase for name, each in found.items()}
        expected = {"works": "running", "ends": "exited", "killed": "running", "waits": "pending", "late": "pending"}
        assert phases == expected and not any(each.stuck for each in found.values()), found
    assert "Unable to contact" in status()["works"].reason
    with pytest.raises(BackendUnreachable):  # mlecore tries again
        backend.stop(waits.handle, 0.0)

    slurm.away = False
    slurm.states[str(killed.task())] = "PREEMPTED"
    until(lambda: status()["killed"].preempted)
    until(lambda: status() and late.task())
    assert slurm.arrays and len(slurm.arrays) == 2 and status()["works"].phase == "running"
    backend.stop(waits.handle, 0.0)
    assert status()["waits"].reason == "stopped before it began"
