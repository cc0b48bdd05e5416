"""Runs that start together become one array, and are submitted once whatever happens meanwhile. Slurm is imitated."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from mle_backend_slurm import entries
from mle_backend_slurm.batches import Submitter
from mle_backend_slurm.commands import Seen, Slurm, explained
from mle_backend_slurm.entries import Entry
from mle_backend_slurm.settings import Settings
from mle_backend_slurm.slurm_backend import SlurmBackend

from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.agents import Recipe
from mlecore.model.backends import JobStatus
from mlecore_jobs.supervise.files import STATE, write_json
from mlecore_testing.backends.harness import shell_job, until

ABOUT = {"options": ["--time=10"], "scratch": "", "isolation": "sandbox"}


class FakeSlurm(Slurm):
    """sbatch accepts arrays of up to ``most`` tasks; ``lost``: it accepts, and its answer is lost."""

    def __init__(self, most: int = 1000, lost: bool = False) -> None:
        super().__init__()
        self.most, self.lost = most, lost
        self.arrays: dict[str, int] = {}  # job name -> tasks

    def submit(self, options: Sequence[str], script: str) -> str:
        given = dict(option.lstrip("-").partition("=")[::2] for option in options)
        tasks = int(given["array"].partition("-")[2]) + 1
        if tasks > self.most:
            raise explained("sbatch", "sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission "
                            "failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time "
                            "limits)")  # fmt: skip
        self.arrays[given["job-name"]] = tasks
        if self.lost:
            raise BackendUnreachable("sbatch: Socket timed out on send/recv operation")
        return str(len(self.arrays))

    def named(self, name: str) -> str | None:
        return "77" if name in self.arrays else None


def queued(root: Path, name: str, **words: object) -> Entry:
    entry = Entry(root, name)
    job = shell_job(name=name, data=str(root))
    entries.write_entry(entry, job, ABOUT, (), {"secrets": {"TOKEN": "value-4711"}, **words})
    return entry


def test_runs_that_start_together_are_one_array(tmp_path: Path) -> None:
    slurm = FakeSlurm()
    submitter = Submitter(tmp_path, slurm, 0.5)
    found = [queued(tmp_path, f"mle-{number}-1") for number in range(30)]
    for entry in found:
        submitter.add(entry)
    # Adding them again, as each look does, puts nothing off.
    until(lambda: [submitter.add(entry) for entry in found] and all(entry.task() for entry in found))
    assert list(slurm.arrays.values()) == [30]
    assert sorted(int(entry.task().partition("_")[2]) for entry in found) == list(range(30))  # type: ignore[union-attr]


def test_a_limit_of_submitted_jobs_makes_arrays_smaller(tmp_path: Path) -> None:
    slurm = FakeSlurm(most=3)
    submitter = Submitter(tmp_path, slurm, 0.5)
    found = [queued(tmp_path, f"mle-{number}-1") for number in range(8)]
    for entry in found:
        submitter.add(entry)
    until(lambda: all(entry.task() for entry in found))
    assert sorted(slurm.arrays.values()) == [2, 2, 2, 2]


def test_a_run_that_was_rejected_is_submitted_again_after_a_while(tmp_path: Path) -> None:
    slurm = FakeSlurm(most=0)
    submitter = Submitter(tmp_path, slurm, 0.01, retry=0.3)
    entry = queued(tmp_path, "mle-a-1")
    began = time.monotonic()
    submitter.add(entry)
    until(entry.rejected)
    slurm.most = 1
    until(lambda: submitter.add(entry) or entry.task())
    assert time.monotonic() - began > 0.3


def test_an_answer_that_was_lost_is_found_again_and_nothing_is_submitted_twice(tmp_path: Path) -> None:
    slurm = FakeSlurm(lost=True)
    Submitter(tmp_path, slurm, 0.01).add(entry := queued(tmp_path, "mle-a-1"))
    until(lambda: slurm.arrays)
    until(lambda: entry.batch() is not None)
    assert entry.task() is None
    placed = entry.batch()
    assert placed is not None
    another = Submitter(tmp_path, FakeSlurm(), 0.01)
    another.add(entry)  # it has a batch
    time.sleep(0.1)
    Submitter(tmp_path, slurm, 0.01).recover(entry, {})
    assert entry.task() == "77_0"
    assert len(slurm.arrays) == 1


def test_a_run_whose_job_began_before_sbatchs_answer_came_is_at_work(tmp_path: Path) -> None:
    backend = SlurmBackend({"state": str(tmp_path), "poll": "0.01"})
    backend.slurm.queue = lambda: ({"5_0": Seen(state="RUNNING")}, {})  # type: ignore[method-assign]
    (entry := queued(tmp_path, "mle-a-1")).assign("batch", 0)
    assert entry.claim("5_0 on box0") and entry.task() == "5_0"
    entry.job.mkdir()
    write_json(str(entry.job / STATE), {"phase": "running"})
    assert backend.status([entry.handle])[entry.handle].phase == "running"


def test_a_batch_that_slurm_never_got_is_submitted_again(tmp_path: Path) -> None:
    slurm = FakeSlurm(lost=True)
    Submitter(tmp_path, slurm, 0.01).add(entry := queued(tmp_path, "mle-a-1"))
    until(lambda: slurm.arrays)
    placed = entry.batch()
    assert placed is not None
    fresh = FakeSlurm()
    submitter = Submitter(tmp_path, fresh, 0.01)
    submitter.recover(entry, {})
    assert entry.batch() is None
    entry.assign("deleted", 0)
    submitter.recover(entry, {})
    assert entry.batch() is None
    submitter.add(entry)
    until(entry.task)
    assert len(fresh.arrays) == 1


def test_a_run_is_begun_or_cancelled_and_never_both(tmp_path: Path) -> None:
    begun, cancelled = queued(tmp_path, "mle-a-1"), queued(tmp_path, "mle-b-1")
    assert begun.claim("12_0 on box1") and not begun.claim("13_0 on box2") and not begun.claim_to_cancel()
    assert cancelled.claim_to_cancel() and cancelled.claim_to_cancel() and not cancelled.claim("12_0 on box1")


def test_a_run_that_begins_between_two_looks_at_the_queue_is_no_requeued_one(tmp_path: Path) -> None:
    """Even if it was in doubt before: it had been asked about while sbatch ran."""
    backend = SlurmBackend({"state": str(tmp_path), "poll": "0.01"})
    task = {"5_0": Seen(state="PENDING", reason="Resources")}

    def look() -> JobStatus:
        time.sleep(0.05)  # it is time to ask Slurm again
        return backend.status([entry.handle])[entry.handle]

    entry = queued(tmp_path, "mle-a-1")
    entry.assign("batch", 0)
    (tmp_path / "batches" / "batch").mkdir()
    backend.slurm.queue = lambda: (task, {"batch": "5"})  # type: ignore[method-assign]
    assert "submitted" in look().reason
    (tmp_path / "batches" / "batch" / "job").write_text("5")
    assert [look().reason for _ in range(4)] == ["waits in the queue: Resources"] * 4
    assert entry.claim("5_0 on box0")
    assert look().phase == "running"  # what Slurm said is older than the claim
    task["5_0"] = Seen(state="RUNNING", node="box0")
    assert [look().phase for _ in range(4)] == ["pending"] * 4  # its node prepares it
    task["5_0"] = Seen(state="PENDING", reason="BeginTime")
    ends = [look() for _ in range(4)][-1]
    assert ends.phase == "exited" and ends.preempted and "requeued" in ends.reason


def test_a_shared_disk_that_is_away_has_lost_nothing(tmp_path: Path) -> None:
    entry = queued(tmp_path / "state", "mle-a-1")
    backend = SlurmBackend({"state": str(tmp_path / "state")})
    (tmp_path / "state").rename(tmp_path / "elsewhere")
    with pytest.raises(BackendUnreachable, match="mounted"):
        backend.status([entry.handle])
    with pytest.raises(BackendUnreachable, match="mounted"):
        backend.remove(entry.handle)
    (tmp_path / "elsewhere").rename(tmp_path / "state")
    assert backend.status([entry.handle])[entry.handle].phase == "pending"


def test_secrets_are_private_and_gone_once_a_node_has_them(tmp_path: Path) -> None:
    entry = queued(tmp_path, "mle-a-1")
    file = entry.folder / "given.json"
    assert file.stat().st_mode & 0o777 == 0o600
    others = [path for path in entry.folder.rglob("*") if path.is_file() and path != file]
    assert not any(b"value-4711" in path.read_bytes() for path in others)
    _, _, given = entries.read_request(entry)
    assert given["secrets"] == {"TOKEN": "value-4711"} and not file.exists()
    with pytest.raises(BackendError, match="damaged"):
        entries.read_request(entry)


def test_a_recipe_is_never_built_here(tmp_path: Path) -> None:
    from mle_backend_slurm.building import Builder

    settings = Settings(state=tmp_path, poll=0.1)
    slurm = FakeSlurm()
    monkey: list[str] = []

    def submit(options: Sequence[str], script: str) -> str:
        monkey.append(Path(script).read_text())
        (Path(script).parent / "result.json").write_text('{"message": "no pip here", "fix": "Install it."}')
        return "5"

    slurm.submit = submit  # type: ignore[method-assign]
    with pytest.raises(BackendError, match="no pip here"):
        Builder(settings, slurm).build(Recipe(pip=("numpy",)), tmp_path / "build.log")
    assert "mle_backend_slurm.node build" in monkey[0]
    assert list((tmp_path / "builds").iterdir()) == []
