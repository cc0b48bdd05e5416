"""What `mlecore doctor` and the start of a group check: commands, folders, what Slurm would accept, and a node."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from mle_backend_slurm.building import JobResult
from mle_backend_slurm.commands import LIMITED, Slurm, installed
from mle_backend_slurm.settings import Settings, sbatch_options
from mle_backend_slurm.sharing import file_system
from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.backends import Problem, Resources
from mlecore.util.units import show_size
from mlecore_sandboxes import folders
from mlecore_sandboxes.preflight import UNSANDBOXED, unmet_by_sandbox

_PROBE = ("--ntasks=1", "--mem=256M", "--time=1", "--no-requeue", "--export=ALL", "--chdir=/")
_PATIENCE = 120.0  # seconds that doctor waits for its job
_REGISTERED = 10.0  # seconds in which nodes register with Slurm's controller
_LOCAL = ("tmpfs", "ramfs")


def problems(settings: Settings, slurm: Slurm, requested: Sequence[Resources]) -> list[Problem]:
    """See ``Backend.preflight``. Each is listed once."""
    found = {problem.description: problem for problem in _problems(settings, slurm, requested)}
    return list(found.values())


def _problems(settings: Settings, slurm: Slurm, requested: Sequence[Resources]) -> Iterator[Problem]:
    if not sys.platform.startswith("linux"):
        yield Problem(description=f"Slurm needs Linux, and this is {sys.platform}", fix="Run mlecore on a login node.")
        return
    if not installed():
        yield Problem(description="sbatch is not installed here", fix="Run mlecore on a login node of the cluster.")
        return
    try:
        folders.make_private(settings.state)
    except BackendError as error:
        yield Problem(description=error.message, fix="Give -B state=DIR, a folder on the shared file system.")
        return
    folders.sweep(settings.state)
    if file_system(settings.state) in _LOCAL:
        text = f"{settings.state} is in this machine's memory, which no compute node sees"
        yield Problem(description=text, fix="Give -B state=DIR, a folder on the shared file system.")
    if not settings.isolated:
        yield UNSANDBOXED
    for resources in requested or (Resources(time_limit=60.0),):
        yield from unmet_by_sandbox(resources, settings.isolated)
        if (rejection := _rejection(slurm, sbatch_options(settings, resources))) is not None:
            waits = bool(LIMITED.search(rejection.message))  # for jobs to end, perhaps those of the group itself
            yield Problem(description=rejection.message, fix=rejection.fix or "See `man sbatch`.", fatal=not waits)


def _rejection(slurm: Slurm, options: Sequence[str]) -> BackendError | None:
    """Why sbatch would not take such a job. Raises BackendUnreachable.

    Right after its start, Slurm's controller knows no node, and rejects what it accepts some seconds later.
    """
    for pause in (_REGISTERED, 0.0):
        try:
            slurm.run("sbatch", "--test-only", *options, "--wrap=true")
            return None
        except BackendUnreachable:
            raise
        except BackendError as error:
            rejection = error
        if "node configuration" not in rejection.message:
            break
        time.sleep(pause)
    return rejection


def inventory(settings: Settings, slurm: Slurm) -> list[str]:
    """A line each, for people: version, partitions, accounting, and what a job of one minute finds on a node."""
    out = [slurm.run("sinfo", "--version").strip()]
    text = slurm.run("sinfo", "--noheader", "--format=%P|%a|%l|%D|%c|%m|%G")
    for line in text.splitlines():
        name, up, limit, nodes, cpus, memory, gres = line.split("|", 6)
        gpus = f", GPUs {gres}" if gres not in ("(null)", "") else ", no GPUs"
        size = show_size(int(memory.strip("+") or 0) << 20)
        out.append(f"partition {name}: {up}, {nodes} nodes with {cpus} CPUs and {size}{gpus}; at most {limit}")
    try:
        slurm.run("sacct", "-X", "-n", "-P", "--format=JobID", "--jobs", "1")
        out.append("accounting: sacct answers")
    except BackendError as error:
        out.append(f"accounting: none ({error.message}); why a job ended is known for some minutes only")
    out.append(f"state: {settings.state} ({file_system(settings.state) or 'unknown file system'})")
    return out + _probed(settings, slurm)


def _probed(settings: Settings, slurm: Slurm) -> list[str]:
    job = JobResult(settings, slurm, "probes", _PROBE)
    try:
        job.submit("probe")
        found = job.wait(_PATIENCE)
        if found is None:
            return [f"node: a job of one minute waits for more than {_PATIENCE:.0f} s: {job.reason()}"]
    except BackendError as error:
        text = "node: a job of one minute failed; do nodes see this Python and the state folder at the same paths? "
        return [f"{text}{error.message}"]
    finally:
        job.remove()
    name = found["node"]
    sandbox = f"{found['bubblewrap']}, user namespaces work"
    if found["sandbox"]:
        sandbox = f"NO SANDBOX: {found['sandbox']} {found['fix']}"
        if not found["apptainer_problem"]:
            sandbox = f"runs use Apptainer, as bubblewrap does not work: {found['sandbox']}"
    images = f"{found['apptainer']}; ready-made images can be run"
    if found["apptainer_problem"]:
        images = f"no ready-made images: {found['apptainer_problem']}"
    network = f"an open network is the node's: {found['no_network']}"
    if not found["no_network"]:
        network = "an open network of its own"
    gpus = found["gpus"]
    cgroup = f"; cgroup: {found['cgroup']}" if found["cgroup"] else "; memory and CPUs are watched, not enforced"
    return [
        f"node {name}: {found['system']}, Python {found['python']}, sees {Path(str(settings.state))} and this Python",
        f"node {name}: {sandbox}",
        f"node {name}: {images}",
        f"node {name}: {network}{cgroup}",
        f"node {name}: {found['cpus']} CPUs, GPUs: {', '.join(gpus) if isinstance(gpus, list) and gpus else 'none'}",
    ]
