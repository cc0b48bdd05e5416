"""Faults of jobs: Slurm and its administrators end them, or have them wait."""

from __future__ import annotations

import os
import shutil
import signal
import time

from _slurm_cluster import node_of, slurm, until
from _slurm_fault import fault, task_of
from _slurm_lab import Case


@fault("node")
def preempted(case: Case) -> int:
    """A job of a higher partition takes the node."""
    case.begin("-B", "partition=low", "--retries", "0")
    node = node_of(task_of(case))
    words = ("--partition=main", f"--nodelist={node}", "--exclusive", "--time=1", "--output=/dev/null")
    slurm("sbatch", *words, "--wrap", "sleep 2")
    return 1


def _requeued(case: Case, verb: str) -> int:
    case.begin("--retries", "0")
    task = task_of(case)
    slurm("scontrol", "update", f"jobid={task}", "requeue=1")
    slurm("scontrol", verb, task)
    return 1


@fault("job ended")
def requeued(case: Case) -> int:
    """An administrator requeues a running job."""
    return _requeued(case, "requeue")


@fault("job ended")
def requeued_and_held(case: Case) -> int:
    """scontrol requeuehold of a running job."""
    return _requeued(case, "requeuehold")


@fault("job ended")
def cancelled_while_running(case: Case) -> int:
    """Somebody calls scancel for a running job."""
    case.begin()
    slurm("scancel", task_of(case))
    return 1


@fault("job ended")
def killed_while_running(case: Case) -> int:
    """Somebody has Slurm send SIGKILL to all processes of a job."""
    case.begin()
    slurm("scancel", "--signal=KILL", "--full", task_of(case))
    return 1


@fault("job ended")
def cancelled_while_queued(case: Case) -> int:
    """Somebody calls scancel for a job in the queue."""
    with case.kept_in_queue():
        case.begin()
        slurm("scancel", case.queued()[0])
        time.sleep(5)
    return 1


@fault("job ended")
def array_cancelled(case: Case) -> int:
    """Somebody calls scancel for the whole array."""
    case.begin()
    slurm("scancel", task_of(case).partition("_")[0])
    return case.runs


@fault("job ended")
def time_limit_of_slurm(case: Case) -> int:
    """TIMEOUT: an administrator shortens a job's time limit."""
    case.agent("sleep 100; cp /opt/mlecore/sample.csv /home/submission/submission.csv\n")
    case.begin()
    slurm("scontrol", "update", f"jobid={task_of(case)}", "timelimit=1")
    case.retried()
    return 1


@fault("job ended", "oom")
def out_of_memory(case: Case) -> int:
    """OUT_OF_MEMORY: the kernel kills a job whose cgroup is full (the state is imitated: no cgroups here)."""
    case.begin()
    task, first = task_of(case), case.running()[0]
    pid = int((first.state() or {})["pid"])
    said = f"s/^{task.replace('_', '|')}|FAILED/{task.replace('_', '|')}|OUT_OF_MEMORY/"
    with case.instead("squeue", f'{shutil.which("squeue")} "$@" | sed "{said}"; exit'):
        os.kill(pid, signal.SIGKILL)
        case.end()
    case.shell.env["TEST_NOTES"] = ""
    case.begin("--group", "next", "--seeds", "1")  # what a killed job leaves on scratch is deleted by the next one
    return 0


@fault("job ended", "oom")
def memory_limit(case: Case) -> int:
    """An agent uses more memory than its run has."""
    case.agent(
        "[ $MLECORE_SEED = 0 ] && exec python3 -c 'import time; kept = bytearray(500 << 20); time.sleep(60)'\nsleep 5; "
        "cp /opt/mlecore/sample.csv /home/submission/submission.csv\n"
    )
    case.begin()
    return 0


@fault("job ended")
def build_cancelled(case: Case) -> int:
    """Somebody calls scancel for the job that builds the agent's environment."""
    case.program = "sh"  # is looked for when its environment is built
    case.begin()
    builds = ("squeue", "--me", "--noheader", "--name=mle-build", "--format=%A")
    slurm("scancel", until(lambda: slurm(*builds).strip(), "a build"))
    return 0


@fault("queue")
def held(case: Case) -> int:
    """An administrator holds jobs in the queue for more than five minutes."""
    with case.kept_in_queue():
        case.begin()
        slurm("scontrol", "hold", ",".join(case.queued()))  # root's hold instead of the user's
        time.sleep(320)
    return 0


@fault("queue")
def partition_down(case: Case) -> int:
    """The partition is down while jobs wait."""
    slurm("scontrol", "update", "partitionname=main", "state=down")
    try:
        case.begin()
        case.queued()
        time.sleep(8)
    finally:
        slurm("scontrol", "update", "partitionname=main", "state=up")
    return 0


@fault("queue")
def reserved(case: Case) -> int:
    """All nodes are reserved for maintenance while jobs wait."""
    words = ("reservationname=mlecore-test", "starttime=now", "duration=10", "users=nobody", "nodes=ALL")
    slurm("scontrol", "create", "reservation", *words, "flags=maint,ignore_jobs")
    try:
        case.begin()
        case.queued()
        time.sleep(8)
    finally:
        slurm("scontrol", "delete", "reservationname=mlecore-test")
    return 0


@fault("queue")
def suspended(case: Case) -> int:
    """An administrator suspends a running job for some seconds."""
    case.begin()
    task = task_of(case)
    slurm("scontrol", "suspend", task)
    time.sleep(8)
    slurm("scontrol", "resume", task)
    return 0
