"""Backend `acme-processes`: each job is a process of this machine in its own folder, with one that holds it.

Written from `mlecore/backends.py` alone. It keeps nobody from anything, and says so.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from mlecore.agents import Recipe
from mlecore.backends import (
    Backend,
    Dataset,
    Enforcement,
    Fetched,
    Handle,
    Image,
    Job,
    JobStatus,
    Problem,
    Progress,
    Resources,
    Sandbox,
    environment,
    secret_values,
)
from mlecore.errors import BackendError
from mlecore.fetching import Receiver
from mlecore.globs import Glob
from mlecore.hookspecs import hookimpl
from mlecore.options import Option

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_HOLD = Path(__file__).with_name("hold.py")
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Processes(Backend):
    summary = "processes of this machine; nothing keeps them from your files"
    options = (Option(name="folder", help="where jobs lie", default="~/.acme-jobs"),)

    def __init__(self, options: Mapping[str, str]) -> None:
        self._root = Path(options.get("folder", "~/.acme-jobs")).expanduser().absolute()

    def describe(self) -> Sandbox:
        absent = Enforcement(level="absent")
        return Sandbox(
            isolation=None,
            user="the controller's own",
            time=Enforcement(level="watched", how="init, and a process that holds the job"),
            cpus=absent,
            memory=absent,
            processes=absent,
            disk=absent,
            network=absent,
        )

    def preflight(self, requested: Sequence[Resources] = ()) -> list[Problem]:
        problems = []
        if not sys.platform.startswith("linux"):
            problems.append(Problem(description="jobs run on Linux only", fix="Use another backend."))
        if any(resources.gpus or resources.terminal for resources in requested):
            problems.append(Problem(description="jobs get no GPUs and no terminal", fix="Use another backend."))
        if any(d.cpus or d.memory or d.disk or d.network != "open" for d in requested):
            problems.append(
                Problem(description="nothing is limited but the time", fix="Use another backend.", fatal=False)
            )
        return problems

    def stage_data(self, dataset: Dataset, progress: Progress) -> str:
        if not dataset.public.is_dir():
            raise BackendError(f"{dataset.public} is no folder", fix=f"mlecore prepare {dataset.competition}")
        return str(dataset.public.absolute())

    def build(self, recipe: Recipe, log: Path) -> Image:
        if recipe.image or recipe.apt or recipe.pip or recipe.npm or recipe.files:
            raise BackendError("nothing can be installed here", fix="Use another backend.")
        for program in recipe.programs:
            if shutil.which(program) is None:
                raise BackendError(f"{program} is not installed", fix=f"Install {program}.")
        log.write_text("nothing to build\n")
        return Image(ref=str(Path(sys.executable).parent), digest=recipe.digest())

    def start(self, job: Job) -> Handle:
        folder = self._folder(job.name)
        secrets = secret_values(job)
        if not folder.is_dir():
            made = self._lay_out(job)
            try:
                made.rename(folder)
            except OSError:  # somebody else's is there
                shutil.rmtree(made)
        variables = {
            "PATH": f"{job.image.ref}:{os.environ.get('PATH', os.defpath)}",
            **environment(
                job,
                home=PurePosixPath(folder / "home"),
                tools=PurePosixPath(folder / "opt"),
                tmp=PurePosixPath(folder / "tmp"),
            ),
            **secrets,
        }
        deadline = time.monotonic() + 20
        while not (folder / "state.json").exists():  # any number may hold it at once, and one does
            subprocess.run([sys.executable, "-I", _HOLD, folder], env=variables, check=True)
            time.sleep(0.05)
            if time.monotonic() > deadline:
                raise BackendError(f"{job.name} does not start")
        return Handle(name=job.name, id=job.name)

    def _lay_out(self, job: Job) -> Path:
        folder = self._root / f".{job.name}.{uuid.uuid4().hex}"
        for name in ("home/submission", "home/code", "home/logs", "opt", "tmp"):
            (folder / name).mkdir(parents=True)
        (folder / "home" / "data").symlink_to(job.data)
        for top, files in (("home", job.files), ("opt", job.tools)):
            for name, content in files.items():
                if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                    raise BackendError(f"{name!r} would lie outside of {top}")
                path = folder / top / name
                path.parent.mkdir(parents=True, exist_ok=True)
                data = content if isinstance(content, bytes) else content.read_bytes()
                path.write_bytes(data)
                was = isinstance(content, Path) and content.stat().st_mode & stat.S_IXUSR
                path.chmod(0o755 if was or data.startswith(b"#!") else 0o644)
        (folder / "stdin").write_bytes(job.stdin)
        (folder / "output").touch()
        resources = job.resources
        spec = {"group": job.group, "argv": job.argv, "time_limit": resources.time_limit, "grace": resources.grace}
        (folder / "job.json").write_text(json.dumps(spec))
        return folder

    def list_jobs(self, group: str) -> dict[str, Handle]:
        names = [path.name for path in self._root.glob("[!.]*")] if self._root.is_dir() else []
        return {
            name: Handle(name=name, id=name)
            for name in names
            if (_json(self._root / name / "job.json") or {}).get("group") == group
        }

    def status(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        return {handle: self._status(self._folder(handle.name)) for handle in handles}

    def _status(self, folder: Path) -> JobStatus:
        if not folder.is_dir():
            return JobStatus(phase="gone")
        state = _json(folder / "state.json")
        if state is None:
            return JobStatus(phase="pending")
        if "exit_code" in state:
            return JobStatus(phase="exited", exit_code=state["exit_code"], timed_out=state["timed_out"])
        if state["boot"] != Path("/proc/sys/kernel/random/boot_id").read_text():
            return JobStatus(phase="exited", infra_failure=True, reason="this machine was restarted")
        if _holds(state["pid"], folder) or _json(folder / "state.json") != state:  # it may just have ended
            return JobStatus(phase="running")
        return JobStatus(phase="exited", exit_code=137, reason="what held it was killed; the job itself can do that")

    def logs(self, handle: Handle, offset: int = 0, follow: bool = False) -> Iterator[bytes]:
        folder = self._folder(handle.name)
        while True:
            ended = self._status(folder).phase in ("exited", "gone")
            if (folder / "output").exists():
                with (folder / "output").open("rb") as output:
                    output.seek(offset)
                    while chunk := output.read(1 << 16):
                        offset += len(chunk)
                        yield chunk
            if ended or not follow:
                return
            time.sleep(0.05)

    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
        wanted = [Glob(text) for text in globs]
        receiver = Receiver(into, max_bytes, max_files)
        home = self._folder(handle.name) / "home"
        if not home.is_dir():
            raise BackendError(f"there is no job {handle.name}")
        subprocess.run(["chmod", "-R", "u+rX", home], capture_output=True, check=False)  # a job may have locked it
        for glob in wanted:
            for above, folders, names, opened in os.fwalk(home):  # enters no links
                where = PurePosixPath(above).relative_to(home)
                if not folders and not names and glob.matches(where):
                    receiver.pass_empty(where)
                for name in sorted((*folders, *names)):
                    if glob.matches(where / name) and receiver.wants(where / name):
                        _take(opened, name, where / name, receiver)
                folders[:] = [name for name in sorted(folders) if glob.leads_into(where / name)]
        return receiver.fetched()

    def stop(self, handle: Handle, grace: float) -> None:
        folder = self._folder(handle.name)
        if self._status(folder).phase not in ("pending", "running"):
            return
        (folder / "stop.part").write_text(str(grace))
        (folder / "stop.part").replace(folder / "stop")
        deadline = time.monotonic() + grace + 30
        while self._status(folder).phase == "running":
            if time.monotonic() > deadline:
                raise BackendError(f"{handle.name} does not end")
            time.sleep(0.05)

    def remove(self, handle: Handle) -> None:
        folder = self._folder(handle.name)
        if folder.is_dir():
            self.stop(handle, 0)
            trash = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
            folder.rename(trash)
            for path, _, _ in os.walk(trash):  # the job may have locked its folders
                Path(path).chmod(0o700)
            shutil.rmtree(trash)

    def home(self, job_name: str) -> PurePosixPath:
        return PurePosixPath(self._folder(job_name) / "home")

    def _folder(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise BackendError(f"{name!r} is not a job's name")
        return self._root / name


def _take(folder: int, name: str, path: PurePosixPath, receiver: Receiver) -> None:
    if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        return
    try:
        descriptor = os.open(name, _OPEN, dir_fd=folder)
    except OSError as error:
        receiver.refuse(path, error.strerror or "cannot be opened")
        return
    with os.fdopen(descriptor, "rb") as source:
        seen = os.fstat(descriptor)
        if stat.S_ISREG(seen.st_mode):
            receiver.take(path, seen.st_size, source)
        else:
            receiver.refuse(path, "not a regular file")


def _holds(pid: object, folder: Path) -> bool:
    try:
        return os.fsencode(folder) in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _json(path: Path) -> dict[str, object] | None:
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return None


@hookimpl
def backend(options: Mapping[str, str]) -> Backend:
    return Processes(options)
