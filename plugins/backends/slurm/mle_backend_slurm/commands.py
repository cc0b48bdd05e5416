"""Slurm's commands: run with a time limit, and their errors explained in Slurm's own words with a fix."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Sequence

from attrs import frozen

from mlecore.errors import BackendError, BackendUnreachable
from mlecore.util.child_environment import child_environment

_TIMEOUT = 60.0  # seconds
_AWAY = re.compile(
    r"unable to contact slurm controller|socket timed out|connection refused|connection timed out|zero bytes|"
    r"slurm_persist_conn|munge|authentication|unexpected message received|host is down|no route to host|"
    r"unable to establish|communication connection failure|slurmctld.*(down|not running)|database connection",
    re.IGNORECASE,
)
_FIXES = (
    (
        r"qos.*(limit|policy)|accounting/qos policy",
        "Lower --max-parallel, or ask for a higher limit of submitted jobs.",
    ),
    (r"account", "Name yours with -B account=NAME; `sacctmgr show associations user=$USER` lists them."),
    (r"invalid partition", "Name one with -B partition=NAME; `sinfo` lists them."),
    (r"qos", "Name one with -B qos=NAME; `sacctmgr show associations user=$USER` lists yours."),
    (r"time limit", "The partition allows less: lower --time-limit, or choose another -B partition=NAME."),
    (r"gres|generic resource", "See which GPUs there are: `sinfo -o '%P %G'`; -B gpu-type=TYPE selects one."),
    (r"feature", "See which features nodes have: `sinfo -o '%N %f'`; -B constraint=FEATURE selects them."),
    (r"reservation", "`scontrol show reservation` lists them."),
    (r"node configuration", "No node of the partition has so many CPUs, so much memory or such GPUs: request less."),
    (r"node", "`sinfo -N` lists the nodes."),
    (r"license", "`scontrol show licenses` lists them."),
)
LIMITED = re.compile(r"submit.*limit|QOS policy|too many|Invalid job array|MaxArraySize|MaxJobCount", re.IGNORECASE)
"""What sbatch prints about a batch that it may accept in smaller parts, or later."""


@frozen(kw_only=True)
class Seen:
    """What Slurm says of one task."""

    state: str  # such as PENDING
    reason: str = ""
    node: str = ""


class Slurm:
    """The commands. Counts its calls, for those who measure. Thread-safe."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self._counting = threading.Lock()

    def run(self, *argv: str) -> str:
        """Standard output. Raises BackendUnreachable if Slurm does not answer, BackendError if it rejects the call."""
        with self._counting:
            self.calls[argv[0]] += 1
        try:
            done = subprocess.run(
                argv,
                env=child_environment("SLURM_CONF"),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT,
                check=False,
            )
        except FileNotFoundError:
            raise BackendError(f"{argv[0]} is not installed here", fix="Run mlecore on a login node.") from None
        except subprocess.TimeoutExpired:
            raise BackendUnreachable(f"{argv[0]} did not answer within {_TIMEOUT:g} s") from None
        if done.returncode:
            raise explained(argv[0], done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}")
        return done.stdout if "--test-only" not in argv else done.stderr

    def submit(self, options: Sequence[str], script: str) -> str:
        """The id of the new job."""
        return self.run("sbatch", "--parsable", *options, script).strip().partition(";")[0]

    def queue(self) -> tuple[dict[str, Seen], dict[str, str]]:
        """All tasks of this user that Slurm's controller remembers, by "ARRAY_INDEX", and array ids by job name."""
        tasks, names = {}, {}
        text = self.run("squeue", "--me", "--states=all", "--array", "--noheader", "--format=%F|%K|%T|%r|%N|%j")
        for line in text.splitlines():
            array, index, state, reason, node, name = (line.split("|", 5) + [""] * 6)[:6]
            tasks[f"{array}_{index}"] = Seen(state=state, reason="" if reason == "None" else reason, node=node)
            names[name] = array
        return tasks, names

    def history(self, ids: Sequence[str]) -> dict[str, Seen]:
        """What accounting remembers of these tasks. Raises BackendError if there is no accounting."""
        text = self.run(
            "sacct", "-X", "-n", "-P", "--format=JobID,State,NodeList", "--jobs", ",".join(sorted(set(ids)))
        )
        out = {}
        for line in text.splitlines():
            id, state, node = (line.split("|") + [""] * 3)[:3]
            out[id] = Seen(state=state.split()[0] if state else "", reason=state, node=node)
        return out

    def named(self, name: str) -> str | None:
        """The id of the job with this name, by accounting."""
        lines = self.run("sacct", "-X", "-n", "-P", "--format=JobID", "--name", name).split()
        return lines[0].partition("_")[0] if lines else None

    def cancel(self, ids: Sequence[str]) -> None:
        """Ends these jobs or tasks; those that have ended are passed over."""
        if ids:
            self.run("scancel", "--quiet", *ids)


def explained(command: str, said: str) -> BackendError:
    """Slurm's own words, and what to do about them."""
    lines = [line.partition("error: ")[2] or line for line in said.splitlines()]
    words = "; ".join(dict.fromkeys(line.strip() for line in lines if line.strip()))[-500:]
    if _AWAY.search(said):
        return BackendUnreachable(f"{command}: {words}", fix="Slurm is asked again automatically.")
    fix = next((fix for pattern, fix in _FIXES if re.search(pattern, words, re.IGNORECASE)), "See `man sbatch`.")
    return BackendError(f"{command}: {words}", fix=fix)


def installed() -> bool:
    return shutil.which("sbatch") is not None
