"""A backend for the kit: small shell jobs, started and waited for, and all of them removed at the end."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import uuid
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import fields

from mlecore.errors import MlecoreError
from mlecore.model.agents import Recipe
from mlecore.model.backends import Backend, Dataset, Handle, Image, Job, JobStatus, Resources, Sandbox
from mlecore.plugins.loading import Loaded
from mlecore.plugins.opening import open_backend
from mlecore_jobs import INSIDE
from mlecore_jobs.fetching import Fetched
from mlecore_testing.rules import Stop, Undecided

PATIENCE = 300.0  # seconds that a short job may take to end, and a long one to be seen running
INIT = INSIDE / "init"
_RESOURCES = frozenset(attribute.name for attribute in fields(Resources))


class BackendBench:
    """One backend. Its jobs have unique names. Threads may share it."""

    def __init__(self, loaded: Loaded, options: Mapping[str, str], folder: Path) -> None:
        self.loaded = loaded
        self.given = options
        self.folder = folder
        self.group = uuid.uuid4().hex[:12]
        self._own = threading.local()  # .started: jobs of this thread

    @property
    def name(self) -> str:
        return self.loaded.plugin.name

    def another(self) -> Backend:
        """The same backend, as another process would see it."""
        return open_backend(self.name, self.given).backend

    @cached_property
    def backend(self) -> Backend:
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
    def image(self) -> Image:
        return self.backend.build(Recipe(), self.folder / "build.log")

    @cached_property
    def data(self) -> str:
        return self.backend.stage_data(self.dataset, _quiet)

    def job(self, script: str, **changes: Any) -> Job:
        """A job that runs a shell script in its home; ``changes`` are fields of Job or of Resources."""
        usual = {
            "group": self.group,
            "image": self.image,
            "dataset": self.dataset,
            "data": self.data,
            "tools": {"init": INIT, "note.txt": b"a tool\n"},
            "env": {"MLECORE_CANDIDATES": "submission/submission.csv"},
            "time_limit": PATIENCE,
            "grace": 1.0,
        }
        return shell_job(script, **{**usual, **changes})

    def require(self, resources: Resources) -> None:
        """Raises Undecided if the backend says that it cannot give a job all it requested."""
        for problem in self.backend.preflight([resources]):
            if problem.fatal:
                raise Undecided(f"the backend says: {problem.description}")

    def start(self, job: Job) -> Handle:
        handle = self.backend.start(job)
        self._own.__dict__.setdefault("started", []).append(handle)
        return handle

    def run(self, job: Job) -> tuple[Handle, JobStatus]:
        """Start a job and wait for its end."""
        handle = self.start(job)
        return handle, self.wait(handle, "exited")

    def wait(self, handle: Handle, phase: str, patience: float = PATIENCE) -> JobStatus:
        """Until the job is in this phase. Raises Stop when that takes too long, or cannot come any more."""
        deadline = time.monotonic() + patience
        while True:
            status = self.status(handle)
            if status.phase == phase:
                return status
            if status.phase in ("exited", "gone"):
                raise Stop(f"a job is {status.phase} ({status.reason or status.exit_code}), expected it {phase}")
            if time.monotonic() > deadline:
                why = f" ({status.reason})" if status.reason else ""
                raise Stop(f"a job is still {status.phase}{why} after {patience:.0f} s, expected it {phase}")
            time.sleep(0.1)

    def status(self, handle: Handle) -> JobStatus:
        return self.backend.status([handle])[handle]

    def output(self, handle: Handle) -> bytes:
        return b"".join(self.backend.logs(handle))

    def wait_output(self, handle: Handle, text: bytes) -> bytes:
        """The output once it has ``text`` in it."""
        deadline = time.monotonic() + PATIENCE
        while text not in (output := self.output(handle)):
            if time.monotonic() > deadline:
                raise Stop(f"{text!r} is not in the output after {PATIENCE:.0f} s; the output: {output[-500:]!r}")
            time.sleep(0.1)
        return output

    def fetch(
        self, handle: Handle, *globs: str, max_bytes: int = 1 << 26, max_files: int = 1000
    ) -> tuple[Path, Fetched]:
        """What a job left, in a new folder."""
        into = self.folder / f"fetched-{uuid.uuid4().hex}"
        fetched = self.backend.fetch(handle, globs, into, max_bytes, max_files)
        return into, fetched

    def clean_up(self) -> None:
        """Remove every job that this thread started, whatever its state."""
        for handle in self._own.__dict__.pop("started", ()):
            with contextlib.suppress(MlecoreError):
                self.backend.remove(handle)


def shell_job(script: str, **words: Any) -> Job:
    """A job with a new name that runs a shell script; ``words`` are fields of Job or of Resources."""
    usual = {"name": f"mle-{uuid.uuid4().hex[:12]}-1", "argv": ("/bin/sh", "-c", script), "tools": {"init": INIT}}
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


def _quiet(done: int, total: int, what: str) -> None:
    """Progress that nobody watches."""
