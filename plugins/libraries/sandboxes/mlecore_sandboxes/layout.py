"""The folder of a job before it starts: all that its sandbox shows, and the description for its supervisor."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from mlecore.errors import BackendError, DiskError
from mlecore.model.agents import HOME
from mlecore.model.backends import TOOLS, Job, Resources
from mlecore.util.units import show_size
from mlecore_jobs import relay, spare
from mlecore_jobs.supervise import cgroups, relaying
from mlecore_jobs.supervise.files import STATE, read_json
from mlecore_jobs.supervise.processes import MARK, boot_id
from mlecore_jobs.supervise.spec import JobSpec, write_spec
from mlecore_sandboxes import apptainer, bubblewrap, environments, gpus, images
from mlecore_sandboxes.variables import environment
from mlecore_sandboxes.view import Isolation

_LEAST = 16 << 20  # bytes: a job that may write less does not begin


def lay_out(
    fresh: Path,
    folder: Path,
    job: Job,
    root: Path,
    gpu_ids: Sequence[str],
    isolation: Isolation,
    gateway: Sequence[str],
) -> None:
    """Fill the folder ``fresh``, which is renamed to ``folder`` afterwards. ``gateway`` is its command line, if any."""
    if not Path(job.data).is_dir():
        raise BackendError(f"the data of {job.dataset.competition} are not at {job.data}")
    isolated = isolation != "none"
    user = bubblewrap.sandbox_user(job.name) if isolation == "bubblewrap" else None
    _fill(fresh, job, user)
    bubblewrap.write_etc(fresh, os.getuid() if isolation == "apptainer" else user)
    if not isolated:
        (fresh / "home" / "data").rmdir()
        (fresh / "home" / "data").symlink_to(job.data)
    image = environments.image(job.image.ref)
    if image is not None:
        images.copy_home(image, fresh / "home")
    spare.keep(fresh)
    resources, ref = job.resources, job.image.ref
    free = shutil.disk_usage(folder.parent).free
    disk = resources.disk or _share(folder.parent, free, resources, len(gpu_ids))
    group = cgroups.usable()
    known = gpus.found()
    tools = TOOLS if isolated else PurePosixPath(folder / "opt")
    line = bubblewrap.CommandLine(outer=[], last=[])
    if isolated:
        binds, files = environments.binds(ref, root), environments.files(ref)
        if isolation == "apptainer":
            line = apptainer.command_line(job, fresh, folder, binds, files, image)
        else:
            line = bubblewrap.command_line(job, folder, binds, files, disk)
    options = apptainer.device if isolation == "apptainer" else bubblewrap.device
    spec = JobSpec(
        name=job.name,
        run=job.labels.get("run", job.name),
        group=job.group,
        image=ref,
        boot=boot_id(),
        argv=["/bin/sh", str(tools / "init"), *job.argv],
        env=variables(job, folder, root, isolated),
        terminal=resources.terminal,
        home=str(HOME if isolated else folder / "home"),
        home_folder=str(folder / "home"),
        tmp_folder=str(folder / "tmp"),
        sandbox=line.outer,
        sandbox_last=line.last,
        prelude=line.prelude,
        door=str(folder / "door") if isolation == "apptainer" else "",
        keeps_env=image is not None,
        time_limit=resources.time_limit,
        grace=resources.grace,
        cpus=resources.cpus,
        memory=resources.memory,
        processes=resources.processes,
        disk=disk,
        max_files=_max_files(folder.parent),
        free_disk=free,
        cgroup_parent=group[0] if group else None,
        gpus=resources.gpus,
        gpu_ids=list(gpu_ids),
        gpu_models={gpu: known[gpu].model if gpu in known else "unknown" for gpu in gpu_ids},
        gpu_options={gpu: options(gpus.devices(gpu, known)) for gpu in gpu_ids} if isolated else {},
        network=resources.network,
        needs_network=isolated
        and (resources.network == "llm" or (isolation == "bubblewrap" and bubblewrap.open_network(resources))),
        allow=list(resources.allow),
        relay=relay.__file__,
        gateway=list(gateway),
    )
    write_spec(str(fresh), spec)


def _share(jobs: Path, free: int, resources: Resources, gpus: int) -> int:
    """Bytes that a job may write where no limit is given. Raises DiskError.

    Collecting copies what it wrote. So there is room for twice as much of all jobs that may run at once: those of its
    group, as far as this machine has room for them, or those of all groups. A tenth of what is free is for records.
    """
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    fit = [resources.parallel, int(cpus / (resources.cpus or 1.0))]
    fit += [gpus // resources.gpus] if resources.gpus else []
    running = sum((read_json(str(path)) or {}).get("phase") != "exited" for path in jobs.glob(f"*/{STATE}"))
    share = int(0.9 * free / (2 * max(1, min(fit), running + 1)))
    if share < _LEAST:
        raise DiskError(
            f"the disk of {jobs} has {show_size(free)} free, which leaves {show_size(share)} for a job",
            fix="Free some disk space, wait for jobs that run there, or set --disk.",
        )
    return share


def _max_files(folder: Path) -> int:
    """Half of what the disk has room for, as of its bytes; 0: it does not run out of files."""
    return os.statvfs(folder).f_favail // 2


def variables(job: Job, folder: Path, root: Path, isolated: bool) -> dict[str, str]:
    """The environment variables of a job, secrets excepted."""
    ready_made = environments.image(job.image.ref) is not None
    env = {
        **({} if ready_made else {"PATH": environments.search_path(job.image.ref, root)}),
        **environment(
            job,
            home=HOME if isolated else PurePosixPath(folder / "home"),
            tools=TOOLS if isolated else PurePosixPath(folder / "opt"),
            tmp=PurePosixPath("/tmp" if isolated else folder / "tmp"),
            proxy=relaying.URL if job.resources.network == "llm" and isolated else None,
            gateway=relaying.GATEWAY_URL if isolated else None,
        ),
    }
    if job.image.ref and not ready_made:
        env.setdefault("VIRTUAL_ENV", job.image.ref)
    if not isolated:
        env[MARK] = str(folder)  # not its name: another state folder may have a job of that name
    return env


def _fill(folder: Path, job: Job, owner: int | None) -> None:
    """All that a job's sandbox shows; ``owner`` is the user that the agent becomes."""
    home = folder / "home"
    for name in ("", "data", "submission", "code", "logs", ".mlecore"):
        (home / name).mkdir()
    (folder / "tmp").mkdir()
    (folder / "opt").mkdir()
    for name, content in job.files.items():
        _put(home / _relative(name), content)
    for name, content in job.tools.items():
        _put(folder / "opt" / _relative(name), content)
    (folder / "stdin").write_bytes(job.stdin)
    for top in (home, folder / "opt"):
        for path, _, _ in os.walk(top):
            Path(path).chmod(0o755)  # whatever our umask is
    if owner is not None:
        for top in (home, folder / "tmp"):
            for path, _, names in os.walk(top):
                for name in ("", *names):
                    os.chown(os.path.join(path, name), owner, owner, follow_symlinks=False)  # noqa: PTH118
    (folder / "tmp").chmod(0o1777)


def _relative(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise BackendError(f"{name!r} is not a path below the sandbox's home")
    return path


def _put(target: Path, content: bytes | Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, Path):
        if content.is_dir():
            shutil.copytree(content, target, dirs_exist_ok=True)
            return
        shutil.copyfile(content, target)
        executable = bool(content.stat().st_mode & stat.S_IXUSR)
    else:
        target.write_bytes(content)
        executable = content.startswith(b"#!")
    target.chmod(0o755 if executable else 0o644)
