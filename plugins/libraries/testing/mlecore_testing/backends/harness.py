"""A backend under test: small shell jobs, started and waited for, and all of them removed at the end."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from attrs import fields

from mlecore.errors import MlecoreError
from mlecore.model.agents import Recipe
from mlecore.model.backends import Backend, Dataset, Handle, Image, Job, JobStatus, Resources, Sandbox
from mlecore.plugins.loading import Loaded
from mlecore.plugins.opening import open_backend
from mlecore_jobs import INSIDE
from mlecore_jobs.fetching import Fetched
from mlecore_testing.rules import Stop, Undecided

B = TypeVar("B", bound=Backend)
T = TypeVar("T")

PATIENCE = 300.0  # seconds that a short job may take to end, and a long one to be seen running
INIT = INSIDE / "init"
_RESOURCES = frozenset(attribute.name for attribute in fields(Resources))


def until(ready: Callable[[], T | None], why: Callable[[], object] = lambda: "", seconds: float = PATIENCE) -> T:
    """The first true value of ``ready``. Raises Stop, with ``why``, if there is none in time."""
    deadline = time.monotonic() + seconds
    while not (found := ready()):
        if time.monotonic() > deadline:
            raise Stop(f"{why()} after {seconds:.0f} s")
        time.sleep(0.02)
    return found


class Lab(Generic[B]):
    """One backend with a group of its own, for the backend's own tests, which subclass it."""

    backend: B
    until = staticmethod(until)

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.group = f"g{uuid.uuid4().hex[:12]}"

    @cached_property
    def dataset(self) -> Dataset:
        public = self.folder / "public"
        public.mkdir(exist_ok=True)
        public.chmod(0o755)
        (public / "train.csv").write_text("id,target\n1,0\n")
        (public / "train.csv").chmod(0o644)
        return Dataset(competition="toy", edition="v1", public=public, digest="d")

    @cached_property
    def image(self) -> Image:
        return self.backend.build(Recipe(), self.folder / "build.log")

    def job(self, script: str = "true", **changes: Any) -> Job:
        """A job that runs a shell script in its home; ``changes`` are fields of Job or of Resources."""
        usual = {"group": self.group, "dataset": self.dataset, "time_limit": 600.0, "grace": 1.0, **changes}
        if "image" not in usual:
            usual["image"] = self.image
        if "data" not in usual:
            usual["data"] = self.backend.stage_data(usual["dataset"], lambda done, total, what: None)
        return shell_job(script, **usual)

    def start(self, script: str | Job = "true", **changes: Any) -> Handle:
        """A job, or a shell script as one."""
        return self.backend.start(script if isinstance(script, Job) else self.job(script, **changes))

    def status(self, handle: Handle) -> JobStatus:
        return self.backend.status([handle])[handle]

    def wait(self, handle: Handle, phase: str = "exited", seconds: float = PATIENCE) -> JobStatus:
        """Its status in this phase. Raises Stop when that takes too long, or cannot come any more."""
        status = self.status(handle)

        def state() -> str:
            return f"a job is {status.phase} ({status.reason or status.exit_code}), expected it {phase}"

        def reached() -> JobStatus | None:
            nonlocal status
            status = self.status(handle)
            if status.phase == phase:
                return status
            if status.phase == "gone" or (status.phase == "exited" and phase != "gone"):
                raise Stop(state())
            return None

        return self.until(reached, state, seconds)

    def output(self, handle: Handle) -> bytes:
        """What it has printed so far."""
        return b"".join(self.backend.logs(handle))

    def printed(self, handle: Handle) -> str:
        return self.output(handle).decode(errors="replace")

    def said(self, handle: Handle, word: str) -> None:
        """Wait until it has printed ``word``."""
        self.until(
            lambda: word.encode() in self.output(handle), lambda: f"no {word!r} in {self.output(handle)[-500:]!r}"
        )

    def clear(self) -> None:
        """Remove all of its jobs as a controller would."""
        for handle in self.backend.list_jobs(self.group).values():
            self.backend.remove(handle)


class BackendBench(Lab[Backend]):
    """A backend for the kit. Threads may share it."""

    def __init__(self, loaded: Loaded, options: Mapping[str, str], folder: Path) -> None:
        super().__init__(folder)
        self.loaded = loaded
        self.given = options
        self._own = threading.local()  # .started: jobs of this thread

    @property
    def name(self) -> str:
        return self.loaded.plugin.name

    def another(self) -> Backend:
        """The same backend, as another process would see it."""
        return open_backend(self.name, self.given).backend

    @cached_property
    def backend(self) -> Backend:  # type: ignore[override]  # opened when a rule first needs it
        return self.another()

    @cached_property
    def sandbox(self) -> Sandbox:
        return self.backend.describe()

    @cached_property
    def dataset(self) -> Dataset:
        public = self.folder / "public"
        (public / "deeper").mkdir(parents=True)
        (public / "description.md").write_text("# A task\n")
        (public / "train.csv").write_text("id,y\n1,2\n")
        (public / "deeper" / "picture.bin").write_bytes(bytes(range(256)) * 64)
        return Dataset(competition="kit", edition="v1", public=public, digest=uuid.uuid4().hex)

    @cached_property
    def data(self) -> str:
        return self.backend.stage_data(self.dataset, lambda done, total, what: None)

    def job(self, script: str = "true", **changes: Any) -> Job:
        usual = {
            "data": self.data,
            "tools": {"init": INIT, "note.txt": b"a tool\n"},
            "env": {"MLECORE_CANDIDATES": "submission/submission.csv"},
        }
        return super().job(script, **{**usual, **changes})

    def require(self, resources: Resources) -> None:
        """Raises Undecided if the backend says that it cannot give a job all it requested."""
        for problem in self.backend.preflight([resources]):
            if problem.fatal:
                raise Undecided(f"the backend says: {problem.description}")

    def start(self, script: str | Job = "true", **changes: Any) -> Handle:
        handle = super().start(script, **changes)
        self._own.__dict__.setdefault("started", []).append(handle)
        return handle

    def run(self, job: Job) -> tuple[Handle, JobStatus]:
        """Start a job and wait for its end."""
        handle = self.start(job)
        return handle, self.wait(handle)

    def fetch(
        self, handle: Handle, *globs: str, max_bytes: int = 1 << 26, max_files: int = 1000
    ) -> tuple[Path, Fetched]:
        """What a job left, in a new folder."""
        into = self.folder / f"fetched-{uuid.uuid4().hex}"
        fetched = self.backend.fetch(handle, globs, into, max_bytes, max_files)
        return into, fetched

    def clear(self) -> None:
        """Remove every job that this thread started, whatever its state."""
        for handle in self._own.__dict__.pop("started", ()):
            with contextlib.suppress(MlecoreError):
                self.backend.remove(handle)


def shell_job(script: str = "true", **words: Any) -> Job:
    """A job with a new name that runs a shell script; ``words`` are fields of Job or of Resources."""
    usual = {
        "name": f"mle-{uuid.uuid4().hex[:12]}-1",
        "group": "g",
        "image": Image(ref="", digest="d"),
        "dataset": Dataset(competition="c", edition="v1", public=Path("/d"), digest="d"),
        "data": "/d",
        "argv": ("/bin/sh", "-c", script),
        "tools": {"init": INIT},
    }
    resources = Resources(**{name: value for name, value in words.items() if name in _RESOURCES})
    return Job(
        **{**usual, **{name: value for name, value in words.items() if name not in _RESOURCES}}, resources=resources
    )


def files(folder: Path) -> dict[str, bytes]:
    """Regular files below a folder, by relative path."""
    return {
        Path(above, name).relative_to(folder).as_posix(): Path(above, name).read_bytes()
        for above, _, names in os.walk(folder)
        for name in names
        if Path(above, name).is_file() and not Path(above, name).is_symlink()
    }
