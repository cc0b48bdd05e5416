"""Faults of Slurm's commands, by scripts that run in their place."""

from __future__ import annotations

import shutil
import time

from _slurm_cluster import slurm, until
from _slurm_fault import fault, task_of
from _slurm_lab import Case


def _rejected(case: Case, words: str, seconds: float, which: str = "*--array*") -> int:
    script = f"""case "$*" in {which}) echo "sbatch: error: {words}" >&2; exit 1 ;; esac"""
    with case.instead("sbatch", script):
        case.begin()
        until(lambda: words in case.said(), f"{words!r} is reported")
        time.sleep(seconds)
    return 0


@fault("command")
def account_invalid_for_a_while(case: Case) -> int:
    """sbatch rejects the account, until an administrator has corrected it."""
    return _rejected(case, "Batch job submission failed: Invalid account or account/partition combination specified", 5)


@fault("command", "failed")
def account_invalid_for_good(case: Case) -> int:
    """sbatch rejects the account for more than five minutes."""
    words = "Batch job submission failed: Invalid account or account/partition combination specified"
    return _rejected(case, words, 320)


@fault("command")
def quota_used_up(case: Case) -> int:
    """The limit of submitted jobs is reached for more than five minutes."""
    words = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
    return _rejected(case, words, 320, "*")


@fault("command")
def quota_of_one_job(case: Case) -> int:
    """The limit of submitted jobs leaves room for one run of an array."""
    words = "Batch job submission failed: Job violates accounting/QOS policy (job submit limit)"
    script = f"""case "$*" in *--array=0-0*) ;; *--array*) echo "sbatch: error: {words}" >&2; exit 1 ;; esac"""
    with case.instead("sbatch", script):
        case.begin()
        case.running()
    return 0


@fault("command")
def answer_of_sbatch_lost(case: Case) -> int:
    """sbatch submits, and times out before it prints the job's id."""
    script = f"""case "$*" in
*--array*) {shutil.which("sbatch")} "$@" >/dev/null
    echo "sbatch: error: Socket timed out on send/recv operation" >&2; exit 1
esac"""
    with case.instead("sbatch", script):
        case.begin()
        case.running()
        assert len({task.partition("_")[0] for task in case.tasks()}) == 1, "submitted twice"
    return 0


def _faulty(case: Case, command: str, script: str, seconds: float) -> int:
    case.begin()
    case.running()
    with case.instead(command, script):
        time.sleep(seconds)
    return 0


@fault("command")
def squeue_fails(case: Case) -> int:
    """squeue ends with an error."""
    return _faulty(case, "squeue", 'echo "slurm_load_jobs error: Unexpected message received" >&2; exit 1', 15)


@fault("command")
def squeue_hangs(case: Case) -> int:
    """squeue does not end."""
    return _faulty(case, "squeue", "exec sleep 600", 70)


@fault("command")
def squeue_prints_nothing(case: Case) -> int:
    """squeue knows no jobs, and sacct says that they run."""
    return _faulty(case, "squeue", "exit 0", 15)


@fault("command")
def squeue_prints_rubbish(case: Case) -> int:
    """squeue prints lines that are cut off, and bytes that are no text."""
    return _faulty(case, "squeue", r"printf '\377\376|\n12|\n|||\n'; exit 0", 15)


@fault("command")
def no_accounting(case: Case) -> int:
    """A cluster without sacct; a job is cancelled."""
    words = 'echo "Slurm accounting storage is disabled" >&2; exit 1'
    with case.instead("sacct", words):
        case.begin()
        slurm("scancel", task_of(case))
        case.end()
    return 1
