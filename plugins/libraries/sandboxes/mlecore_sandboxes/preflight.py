"""What keeps requested jobs from running on this machine, and limits that it cannot enforce."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from mlecore.errors import BackendError
from mlecore.model.backends import Capacity, Problem, Resources
from mlecore.util.units import counted, show_size
from mlecore_jobs.supervise import cgroups, slirp
from mlecore_sandboxes import folders, gpus

UNSANDBOXED = Problem(
    description="isolation=none: agents run as you, and can read and change all that you can, answers included",
    fix="Leave it out where bubblewrap works.",
    fatal=False,
)


def problems(requested: Sequence[Resources], here: Capacity, isolated: bool, root: Path) -> Iterator[Problem]:
    """Each problem once; see ``Backend.preflight``. ``here`` is what the machine may give to jobs."""
    if not isolated:
        yield UNSANDBOXED
    try:
        folders.make_private(root)
    except BackendError as error:
        yield Problem(description=error.message, fix=error.fix or "")
    else:
        folders.sweep(root)
    known = gpus.found()
    for gpu in here.gpus:
        if gpu not in known:
            text = f"this machine has no GPU {gpu}; available: {', '.join(known) or 'none'}"
            yield Problem(description=text, fix="List them with -B gpus=0,1.", usage=True)
    found = [problem for resources in requested for problem in _unmet(resources, here, isolated, root)]
    found += beyond(requested, here.cpus, here.memory, "this machine")
    yield from {problem.description: problem for problem in found}.values()
    yield from _watched(requested)


def _unmet(resources: Resources, here: Capacity, isolated: bool, root: Path) -> Iterator[Problem]:
    """Resources that this machine cannot provide."""
    if resources.gpus > len(here.gpus):
        text = f"{counted(resources.gpus, 'GPU')} requested, {len(here.gpus) or 'none'} available"
        fix = "Request fewer" if here.gpus else "Leave out --gpus, or use a machine with GPUs"
        yield Problem(description=text, fix=f"{fix}; -B gpus=0,1 names those that runs may use.", usage=True)
    if resources.disk and resources.disk > (total := shutil.disk_usage(root).total):
        text = f"{show_size(resources.disk)} of disk requested, the whole disk of {root} has {show_size(total)}"
        yield Problem(description=text, fix="Request less with --disk, or name another disk: -B state=DIR.", usage=True)
    yield from unmet_by_sandbox(resources, isolated)
    if isolated and resources.network == "open" and not slirp.is_there():
        text = "network=open is this machine's own network: jobs can reach its services on 127.0.0.1 and its Unix "
        text += "sockets without a file"
        why, fix = slirp.problem()
        yield Problem(description=f"{text}: {why}", fix=f"{fix} Each job then gets its own network.", fatal=False)
    if isolated and resources.network == "llm" and shutil.which("setpriv") is None:
        yield Problem(description="setpriv is not installed", fix="Install it (apt-get install util-linux).")


def beyond(requested: Sequence[Resources], cpus: float, memory: int, who: str) -> Iterator[Problem]:
    """What ``who`` cannot give to any run: it has ``cpus`` and ``memory`` bytes; 0: unknown."""
    most = max((resources.cpus or 0 for resources in requested), default=0)
    if 0 < cpus < most:
        yield Problem(
            description=f"{most:g} CPUs requested, but {who} has {cpus:g}", fix=f"--cpus {cpus:g}", usage=True
        )
    wanted = max((resources.memory or 0 for resources in requested), default=0)
    if 0 < memory < wanted:
        yield Problem(
            description=f"{wanted / 2**30:.1f} GiB of memory requested, but {who} has {memory / 2**30:.1f} GiB",
            fix="Request less with --memory.",
            usage=True,
        )


def unmet_by_sandbox(resources: Resources, isolated: bool) -> Iterator[Problem]:
    """What the sandbox cannot provide on any machine."""
    if resources.writable_root:
        text = "the agent installs things outside its home, which this backend keeps read-only"
        yield Problem(description=text, fix="Use the backend docker.")
    if not isolated:
        if resources.network != "open":
            text = f"network={resources.network} cannot be enforced without a sandbox"
            yield Problem(description=text, fix="Leave out -B isolation=none.", fatal=False)
        if resources.model is not None:
            text = "an agent without a sandbox reaches no model: its gateway is a part of the sandbox"
            yield Problem(description=text, fix="Leave out -B isolation=none.")
    elif resources.network == "llm" and not resources.allow and resources.model is None:
        yield Problem(description="network llm, but neither a model nor an allowed host", fix="--endpoint URL")


def held_by_cgroup() -> tuple[str, ...]:
    """The cgroup controllers that enforce the limits of jobs on this machine."""
    usable = cgroups.usable()
    return usable[1] if usable else ()


def _watched(requested: Sequence[Resources]) -> Iterator[Problem]:
    """Requested limits (all of them, if nothing is requested) that no cgroup enforces."""
    held = held_by_cgroup()
    loose = []
    if "memory" not in held and (not requested or any(resources.memory for resources in requested)):
        loose.append("memory")
    if "cpu" not in held and (not requested or any(resources.cpus for resources in requested)):
        loose.append("cpus")
    if loose:
        text = f"the limit of {' and '.join(loose)} is only watched: a job that works against it can exceed it"
        yield Problem(description=text, fix=cgroups.advice(), fatal=False)
