"""What can happen to runs on a Slurm cluster: each fault is a function that does it to one experiment.

It returns how many runs must have been retried (0: none may), so that an infrastructure failure that is counted, and a
result that is thrown away, are both noticed.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from _slurm_lab import Case, Server, away, disks, node_of, node_state, processes_with, slurm, until
from attrs import frozen

Do = Callable[[Case], int]
End = Literal["graded", "cancelled", "failed", "oom"]


@frozen(kw_only=True)
class Fault:
    name: str
    kind: str
    do: Do
    end: End = "graded"  # of every run; "oom": of the first run

    @property
    def alone(self) -> bool:
        """Does it harm the jobs of others?"""
        return self.kind in ("node", "server")

    @property
    def words(self) -> str:
        return (self.do.__doc__ or "").partition("\n")[0].rstrip(".")


FAULTS: list[Fault] = []


def fault(kind: str, end: End = "graded") -> Callable[[Do], Do]:
    def register(do: Do) -> Do:
        FAULTS.append(Fault(name=do.__name__.replace("_", "-"), kind=kind, do=do, end=end))
        return do

    return register


def task_of(case: Case) -> str:
    """Of the first run that is at work."""
    entry = case.running()[0]
    return until(entry.task, "its task")


# Slurm and its administrators end jobs


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


# Jobs that wait


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


# Nodes


@fault("node")
def node_down(case: Case) -> int:
    """NODE_FAIL: a node is set to DOWN."""
    case.begin()
    with node_state(node_of(task_of(case)), "down"):
        case.retried()
    return 1


@fault("node")
def node_drained(case: Case) -> int:
    """A node with running jobs is drained."""
    case.begin()
    with node_state(node_of(task_of(case)), "drain"):
        case.end()
    return 0


@fault("node")
def node_lost(case: Case) -> int:
    """A node's slurmd dies and does not come back; its jobs' processes live on."""
    case.agent("sleep 45; cp /opt/mlecore/sample.csv /home/submission/submission.csv\n")
    case.begin()
    server = Server("slurmd", node_of(task_of(case)))
    server.kill()
    try:
        case.end()
    finally:
        server.start()
    return 1


def _power_off(case: Case) -> tuple[Server, int]:
    """The node of the first run is gone, with all processes of its jobs; how many runs were there."""
    entries = case.running()
    nodes = {entry.name: node_of(until(entry.task, "its task")) for entry in entries}
    node = nodes[entries[0].name]
    server = Server("slurmd", node)
    server.kill()
    batches = {(entry.batch() or ("",))[0] for entry in entries}
    for batch in batches:
        for pid in processes_with("python", "mle_backend_slurm.node", batch):
            if f"SLURMD_NODENAME={node}\0" in Path(f"/proc/{pid}/environ").read_text(errors="replace"):
                os.kill(os.getppid() if pid == 1 else _parent(pid), signal.SIGKILL)  # its slurmstepd
                os.kill(pid, signal.SIGKILL)
    return server, list(nodes.values()).count(node)


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@fault("node")
def node_switched_off(case: Case) -> int:
    """A node loses power, and stays away for a minute."""
    case.agent("sleep 20; cp /opt/mlecore/sample.csv /home/submission/submission.csv\n")
    case.begin()
    server, count = _power_off(case)
    time.sleep(60)
    server.start()
    return count


@fault("node")
def node_rebooted(case: Case) -> int:
    """A node loses power, and is back at once."""
    case.agent("sleep 20; cp /opt/mlecore/sample.csv /home/submission/submission.csv\n")
    case.begin()
    server, count = _power_off(case)
    server.start()
    return count


@fault("node")
def slurmd_restarted(case: Case) -> int:
    """A node's slurmd is killed and started again."""
    case.begin()
    server = Server("slurmd", node_of(task_of(case)))
    server.kill()
    time.sleep(3)
    server.start()
    return 0


@fault("node")
def supervisor_killed(case: Case) -> int:
    """SIGKILL for a run's supervisor."""
    case.begin()
    os.kill(int((case.running()[0].state() or {})["pid"]), signal.SIGKILL)
    return 1


@fault("node")
def init_killed(case: Case) -> int:
    """SIGKILL for a run's init, from outside its sandbox."""
    case.begin()
    os.kill(int((case.running()[0].state() or {})["init"]), signal.SIGKILL)
    return 1


@fault("node")
def supervisor_stopped(case: Case) -> int:
    """A run's supervisor is stopped for ten seconds, as on a node that swaps."""
    case.begin()
    pid = int((case.running()[0].state() or {})["pid"])
    os.kill(pid, signal.SIGSTOP)
    time.sleep(10)
    os.kill(pid, signal.SIGCONT)
    return 0


# Slurm's servers


def _without(case: Case, names: tuple[str, ...], seconds: float, before: Callable[[Case], object]) -> int:
    case.begin()
    before(case)
    with away(*names):
        time.sleep(seconds)
    return 0


OUTAGE = 120.0  # seconds


@fault("server")
def slurmctld_away_while_running(case: Case) -> int:
    """slurmctld is killed while runs work, and is back after all have ended."""
    return _without(case, ("slurmctld",), OUTAGE, Case.running)


@fault("server")
def slurmctld_away_while_queued(case: Case) -> int:
    """slurmctld is killed while runs wait in the queue."""
    with case.kept_in_queue():
        return _without(case, ("slurmctld",), OUTAGE, Case.queued)


@fault("server")
def slurmctld_away_while_submitting(case: Case) -> int:
    """slurmctld dies between the start of the group and its sbatch."""
    with case.instead("sbatch", _SLOW):
        case.begin()
        until(lambda: (case.root / "submitting").exists(), "sbatch")
        with away("slurmctld"):
            time.sleep(20)
    return 0


@fault("server")
def slurmdbd_away(case: Case) -> int:
    """slurmdbd is away, and a job is cancelled that the queue then forgets."""
    with away("slurmdbd"):
        case.begin()
        slurm("scancel", task_of(case))
        case.end()
    return 1


@fault("server")
def munged_away(case: Case) -> int:
    """munged is away: no command works."""
    return _without(case, ("munged",), 20, Case.running)


@fault("server")
def all_away_while_resuming(case: Case) -> int:
    """The controller dies, all servers die, and the group is resumed before they are back."""
    case.begin()
    case.running()
    case.kill()
    with away("slurmdbd", "slurmctld", "munged"):
        case.resume()
        time.sleep(15)
    return 0


# Slurm's commands

_SLOW = """case "$*" in *--array*) touch "$(dirname "$0")/../submitting"; sleep 4 ;; esac"""


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


# The controller and its machine


def _killed(case: Case, ready: Callable[[], object], what: str, *options: str, pause: float = 2.0) -> int:
    case.begin(*options)
    until(ready, what)
    case.kill()
    time.sleep(pause)
    case.resume()
    return 0


@fault("controller")
def killed_before_sbatch(case: Case) -> int:
    """SIGKILL while it submits, before Slurm has the jobs."""
    with case.instead("sbatch", _SLOW):
        return _killed(case, lambda: (case.root / "submitting").exists(), "sbatch")


@fault("controller")
def killed_after_sbatch(case: Case) -> int:
    """SIGKILL while it submits, after Slurm has the jobs: the login node reboots."""
    script = f"""case "$*" in
*--array*) {shutil.which("sbatch")} "$@" >/dev/null; touch {case.root}/submitted; sleep 60
esac"""
    with case.instead("sbatch", script):
        _killed(case, lambda: (case.root / "submitted").exists(), "sbatch")
    case.running()
    assert len({task.partition("_")[0] for task in case.tasks()}) == 1, "submitted twice"
    return 0


@fault("controller")
def killed_while_queued(case: Case) -> int:
    """SIGKILL while its runs are in the queue."""
    with case.kept_in_queue():
        return _killed(case, case.queued, "all in the queue")


@fault("controller")
def killed_while_running_back_late(case: Case) -> int:
    """SIGKILL while its runs work; resumed when all have ended and Slurm has forgotten them."""
    return _killed(case, case.running, "all at work", pause=90.0)


@fault("controller")
def killed_while_collecting(case: Case) -> int:
    """SIGKILL when the first run's files have come, before its job is removed and graded."""
    case.begin()
    case.running()
    folder = case.shell.runs / "g"
    until(lambda: list(folder.glob("*/attempts/*")), "files of a run")
    case.kill()
    case.resume()
    return 0


@fault("controller")
def killed_again_and_again(case: Case) -> int:
    """SIGKILL every six seconds."""
    case.begin()
    until(lambda: (case.shell.runs / "g" / "events.jsonl").exists(), "the group")
    for _ in range(5):
        time.sleep(6)
        case.kill()
        case.resume()
    return 0


@fault("controller")
def clock_jumps(case: Case) -> int:
    """The controller's wall clock jumps by up to a year."""
    case.prelude = (
        "import datetime, random, time\nfrom mlecore.runs import journal\nclock = time.time\n"
        "time.time = lambda: clock() + random.uniform(-3e7, 3e7)\n"
        "journal.now = lambda: datetime.datetime.fromtimestamp(time.time(), datetime.UTC).isoformat()\n"
    )
    case.begin()
    return 0


@fault("controller", "cancelled")
def cancelled_by_its_user(case: Case) -> int:
    """`mlecore runs cancel` while runs work and others wait."""
    case.begin("-B", f"exclude={_all_but_one()}", "--cpus", "2")
    case.running(1)
    case.cancel()
    return 0


@fault("server", "cancelled")
def cancelled_in_an_outage(case: Case) -> int:
    """`mlecore runs cancel` while slurmctld is away and runs wait in the queue."""
    with case.kept_in_queue():
        case.begin()
        case.queued()
        with away("slurmctld"):
            case.cancel()
            time.sleep(15)
        case.end()
    return 0


def _all_but_one() -> str:
    return ",".join(sorted(set(slurm("sinfo", "--noheader", "--Node", "--format=%N").split()))[1:])


# Disks


def _on_disk(case: Case, stack: ExitStack, megabytes: int = 64) -> disks.Disk:
    disk = disks.Disk(case.root / "own", megabytes << 20)
    stack.callback(disk.close)
    case.state = disk.at / "state"
    return disk


def _fill(folder: Path) -> Path:
    filler = folder / "filler"
    subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "bs=4096"], capture_output=True, check=False)
    return filler


@fault("disk")
def state_full_while_running(case: Case) -> int:
    """The disk of the state folder is full while runs work and write their submissions."""
    disk = _on_disk(case, case.stack)
    case.begin()
    case.running()
    filler = _fill(disk.at)
    time.sleep(15)
    filler.unlink()
    return case.runs


@fault("disk")
def state_full_while_starting(case: Case) -> int:
    """The disk of the state folder is full when the group starts; it is resumed when there is room."""
    disk = _on_disk(case, case.stack)
    case.state.mkdir()
    filler = _fill(disk.at)
    case.begin()
    assert case.end() == 3 and "No space left" in case.said()
    filler.unlink()
    case.resume()
    return 0


@fault("disk")
def state_read_only(case: Case) -> int:
    """The state folder is read-only on all machines when jobs begin."""
    disk = _on_disk(case, case.stack)
    with case.kept_in_queue():
        case.begin()
        case.queued()
        subprocess.run(["mount", "-o", "remount,ro", str(disk.at)], check=True, capture_output=True)
    time.sleep(10)
    subprocess.run(["mount", "-o", "remount,rw", str(disk.at)], check=True, capture_output=True)
    return case.runs


@fault("disk")
def state_unmounted(case: Case) -> int:
    """The shared file system is away on all machines while runs wait in the queue."""
    disk = _on_disk(case, case.stack)
    with case.kept_in_queue():
        case.begin()
        case.queued()
        disk.unplug()
        time.sleep(10)
        disk.mount()
    return 0


@fault("disk")
def scratch_full(case: Case) -> int:
    """A node's disk is full when data are copied to it."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=755", "none", str(case.scratch)], check=True)
    case.stack.callback(subprocess.run, ["umount", "--lazy", str(case.scratch)], check=False)
    filler = _fill(case.scratch)
    case.begin()
    case.retried()
    filler.unlink()
    return 1


@fault("disk")
def scratch_missing(case: Case) -> int:
    """The node has no such scratch folder."""
    case.scratch.rmdir()
    case.begin()
    case.retried()
    case.scratch.mkdir()
    return 1


@fault("disk")
def queue_file_damaged(case: Case) -> int:
    """A request in the queue is cut off, as after a crash of the file server."""
    with case.kept_in_queue():
        case.begin()
        case.queued()
        request = case.entries()[0].folder / "request.json"
        request.write_bytes(request.read_bytes()[:100])
    return 1


@fault("disk")
def batch_damaged(case: Case) -> int:
    """The list of an array's runs is empty."""
    with case.kept_in_queue():
        case.begin()
        case.queued()
        for members in (case.state / "batches").glob("*/members"):
            members.write_bytes(b"")
    return 1


@fault("disk")
def run_removed(case: Case) -> int:
    """Somebody deletes a queued run's folder."""
    with case.kept_in_queue():
        case.begin()
        case.queued()
        shutil.rmtree(case.entries()[0].folder)
    return 1


@fault("disk")
def state_of_a_run_damaged(case: Case) -> int:
    """The file in which a supervisor says how its run ended is empty."""
    case.begin()
    entry = case.running()[0]
    until(lambda: (entry.state() or {}).get("phase") == "exited", "its end")
    (entry.job / "state.json").write_bytes(b"")
    return 1
