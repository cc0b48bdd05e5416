"""Faults of a cluster's nodes and of Slurm's servers."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from _slurm_cluster import Server, away, node_of, node_state, slurm, until
from _slurm_fault import fault, task_of
from _slurm_lab import SLOW_SBATCH, Case


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
    there = [entry for entry in entries if nodes[entry.name] == nodes[entries[0].name]]
    states = [entry.state() or {} for entry in there]
    server = Server("slurmd", nodes[entries[0].name])
    server.kill()
    for state in states:
        for pid in (_parent(state["pid"]), state["pid"], state["init"]):  # its slurmstepd first
            with contextlib.suppress(ProcessLookupError):  # it died with the one before
                os.kill(pid, signal.SIGKILL)
    return server, len(there)


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


def _without(case: Case, names: tuple[str, ...], seconds: float, before: Callable[[Case], object]) -> int:
    case.begin()
    before(case)
    with away(*names):
        time.sleep(seconds)
    return 0


@fault("server")
def slurmctld_away_while_running(case: Case) -> int:
    """slurmctld is killed while runs work, and is back after all have ended."""
    return _without(case, ("slurmctld",), case.outage, Case.running)


@fault("server")
def slurmctld_away_while_queued(case: Case) -> int:
    """slurmctld is killed while runs wait in the queue."""
    with case.kept_in_queue():
        return _without(case, ("slurmctld",), case.outage, _saved)


def _saved(case: Case) -> None:
    """Jobs of the queue that slurmctld has also written to its disk, as it does every few seconds."""
    case.queued()
    time.sleep(15)


@fault("server")
def slurmctld_away_while_submitting(case: Case) -> int:
    """slurmctld dies between the start of the group and its sbatch."""
    with case.instead("sbatch", SLOW_SBATCH):
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
