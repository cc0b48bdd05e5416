"""Start a job: lay out its folder, rename it to its final name, start its supervisor. Every step may be interrupted."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

import mlecore
from mle_backend_vm import bubblewrap, environments, folders, gpus
from mle_backend_vm.status import is_startable
from mle_backend_vm.supervise import cgroups, relaying
from mle_backend_vm.supervise.files import LOCK, SPEC, STATE, read_json, write_json
from mle_backend_vm.supervise.processes import MARK, boot_id
from mlecore.agents import HOME
from mlecore.backends import TOOLS, Handle, Job, environment, secret_values
from mlecore.child_environment import child_environment
from mlecore.errors import BackendError, ImageGone
from mlecore.model_access import Process, gateway

_SUPERVISED = 20.0  # seconds until a supervisor must have taken over a job
_NOTHING: Mapping[str, object] = MappingProxyType({"secrets": {}, "gateway": None})
_LAUNCH = "import sys; sys.path += sys.argv[1:3]; from supervise.main import main; main(*sys.argv[3:])"


def start(job: Job, root: Path, gpu_ids: tuple[str, ...], isolated: bool, gateway_python: str | None = None) -> Handle:
    """See ``Backend.start``. If several start it, the first whose folder gets the final name wins."""
    folder = folders.job_folder(root, job.name)
    model = _gateway(job, root, gateway_python)
    given = {"secrets": secret_values(job), "gateway": model.settings.decode() if model else None}
    folders.make_private(folder.parent)
    if not folder.exists():
        with _environment_kept(job.image.ref), folders.new(root, job.name) as made:
            _lay_out(job, made, folder, root, gpu_ids, isolated, model.argv if model else ())
            try:
                made.rename(folder)
            except OSError:
                if not folder.exists():
                    raise
    if not (folder / STATE).exists() and is_startable(read_json(str(folder / SPEC)), boot_id()):
        try:
            supervise(folder, root, given)
        except BackendError as error:
            _never_began(folder, str(error))
    return folders.handle(folder)


@contextlib.contextmanager
def _environment_kept(ref: str) -> Iterator[None]:
    """Nobody removes it until the job's folder says that it is needed. Raises ImageGone."""
    if not ref:
        yield
        return
    gone = ImageGone(f"the environment {ref} is no longer there")
    if not Path(ref).parent.is_dir():
        raise gone
    with environments.locked(Path(ref), fcntl.LOCK_SH):
        if not environments.is_complete(Path(ref)):
            raise gone
        yield


def _gateway(job: Job, root: Path, python: str | None) -> Process | None:
    """It runs in the job's folder, whose path may be too long for a socket's name."""
    if job.resources.model is None:
        return None
    slots = str(folders.make_private(root / "calls"))
    return gateway(
        job.resources.model,
        job.name,
        listen=f"unix:{relaying.GATEWAY}",
        folder=".",
        slots=slots,
        python=python or sys.executable,
        package=Path(mlecore.__file__).parent.parent if python else None,
    )


def _never_began(folder: Path, why: str) -> None:
    """Note that no supervisor could be started: this job is over, and a retry may succeed."""
    with (folder / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # there is one after all
            return
        if not (folder / STATE).exists():
            state = {"phase": "exited", "boot": boot_id(), "exit_code": None, "infra_failure": True, "reason": why}
            write_json(str(folder / STATE), state, durable=True)


def _lay_out(
    job: Job, made: Path, folder: Path, root: Path, gpu_ids: tuple[str, ...], isolated: bool, model: Sequence[str]
) -> None:
    if not Path(job.data).is_dir():
        raise BackendError(f"the data of {job.dataset.competition} are not at {job.data}")
    user = bubblewrap.sandbox_user(job.name) if isolated else None
    folders.lay_out(made, job, user)
    bubblewrap.write_etc(made, user)
    if not isolated:
        (made / "home" / "data").rmdir()
        (made / "home" / "data").symlink_to(job.data)
    write_json(str(made / SPEC), _spec(job, folder, root, gpu_ids, isolated, model), durable=True)


def _spec(
    job: Job, folder: Path, root: Path, gpu_ids: tuple[str, ...], isolated: bool, model: Sequence[str]
) -> Mapping[str, Any]:
    resources = job.resources
    room = shutil.disk_usage(folder.parent).free
    disk = resources.disk or room // 2
    group = cgroups.usable()
    known = gpus.found()
    home = HOME if isolated else PurePosixPath(folder / "home")
    tools = TOOLS if isolated else PurePosixPath(folder / "opt")
    spec: dict[str, Any] = {
        "name": job.name,
        "group": job.group,
        "image": job.image.ref,
        "labels": dict(job.labels),
        "created": time.time(),
        "boot": boot_id(),
        "home": str(home),
        "home_outside": str(folder / "home"),
        "env": _environment(job, home, tools, folder, root, isolated),
        "inner": ["/bin/sh", str(tools / "init"), *job.argv],
        "outer": [],
        "outer_last": [],
        "prelude": [],
        "terminal": resources.terminal,
        "cpus": resources.cpus,
        "memory": resources.memory,
        "processes": resources.processes,
        "disk": disk,
        "room": room,
        "files": _most_files(folder.parent),
        "disk_every": 5.0,
        "disk_folders": [str(folder / "home"), str(folder / "tmp")],
        "file_size": disk,
        "time_limit": resources.time_limit,
        "grace": resources.grace,
        "network": resources.network,
        # the supervisor then sets up the network before it starts the agent
        "way_out": isolated and (resources.network == "llm" or bubblewrap.open_network(resources)),
        "allow": list(resources.allow),
        "relay": str(Path(mlecore.__file__).parent / "relay.py"),
        "gateway": list(model),
        "gpus": resources.gpus,
        "gpu_ids": list(gpu_ids),
        "gpu_args": {},
        "gpu_models": {gpu: known[gpu].model if gpu in known else "unknown" for gpu in gpu_ids},
        "cgroup_parent": group[0] if group else None,
    }
    if isolated:
        ref = job.image.ref
        line = bubblewrap.command_line(job, folder, environments.binds(ref, root), environments.files(ref), disk)
        spec.update(
            outer=line.outer,
            outer_last=line.last,
            prelude=line.prelude,
            gpu_args={gpu: gpus.binds(gpu, known) for gpu in gpu_ids},
        )
    return spec


def _most_files(folder: Path) -> int:
    """Half of what the disk has room for, as of its bytes; 0: it does not run out of files."""
    return os.statvfs(folder).f_favail // 2


def _environment(
    job: Job, home: PurePosixPath, tools: PurePosixPath, folder: Path, root: Path, isolated: bool
) -> dict[str, str]:
    env = {
        "PATH": environments.search_path(job.image.ref, root),
        **environment(
            job,
            home=home,
            tools=tools,
            tmp=PurePosixPath("/tmp" if isolated else folder / "tmp"),
            proxy=relaying.URL if job.resources.network == "llm" and isolated else None,
            gateway=relaying.GATEWAY_URL if isolated else None,
        ),
    }
    if job.image.ref:
        env.setdefault("VIRTUAL_ENV", job.image.ref)
    if not isolated:
        env[MARK] = str(folder)  # not its name: another state folder may have a job of that name
    return env


def supervise(folder: Path, root: Path, given: Mapping[str, object] = _NOTHING) -> None:
    """Start a supervisor. Several may try: the folder's lock lets one through, and none once the job has a state.

    ``given`` must not be written to disk: secrets, the gateway's settings.
    """
    import json

    argv = [environments.base_python(), "-I", "-S", "-c", _LAUNCH]
    argv += [str(Path(__file__).parent), str(Path(mlecore.__file__).parent.parent), str(folder), str(root / "claims")]
    with (folder / "supervisor.log").open("ab") as log:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env={"PATH": child_environment().get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
            cwd="/",
            start_new_session=True,
        )
    with child:
        assert child.stdin and child.stdout
        with contextlib.suppress(BrokenPipeError):  # dead already: it says why in its log
            child.stdin.write(json.dumps(dict(given)).encode())
            child.stdin.close()
        child.stdout.read(1)  # one byte, or the end of it
    limit = time.monotonic() + _SUPERVISED
    while not (folder / STATE).exists():
        if time.monotonic() > limit or not _locked(folder):
            if (folder / STATE).exists():
                return
            words = (folder / "supervisor.log").read_text(errors="replace")[-600:].strip()
            raise BackendError(f"no supervisor took the job {folder.name}: {words or sys.executable}")
        time.sleep(0.01)


def _locked(folder: Path) -> bool:
    """Is a supervisor, perhaps of another controller, about to take the job?"""
    with (folder / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False
