"""A backend for its own tests, which subclass it: jobs are one line, and what is waited for comes or is named."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from mlecore.model.agents import Recipe
from mlecore.model.backends import Backend, Dataset, Handle, Image, Job, JobStatus
from mlecore_testing.backends.harness import shell_job

B = TypeVar("B", bound=Backend)
T = TypeVar("T")


class Lab(Generic[B]):
    """One backend with a group of its own."""

    def __init__(self, backend: B, folder: Path) -> None:
        self.backend = backend
        self.folder = folder
        self.group = f"g{uuid.uuid4().hex[:12]}"
        public = folder / "public"
        public.mkdir(exist_ok=True)
        public.chmod(0o755)
        (public / "train.csv").write_text("id,target\n1,0\n")
        self.dataset = Dataset(competition="toy", edition="v1", public=public, digest="d")

    @cached_property
    def image(self) -> Image:
        return self.backend.build(Recipe(), self.folder / "build.log")

    def job(self, script: str = "true", **changes: Any) -> Job:
        """A job that runs a shell script; ``changes`` are fields of Job or of Resources."""
        usual = {"group": self.group, "dataset": self.dataset, "time_limit": 600.0, "grace": 1.0, **changes}
        if "image" not in usual:
            usual["image"] = self.image
        if "data" not in usual:
            usual["data"] = self.backend.stage_data(self.dataset, lambda done, total, what: None)
        return shell_job(script, **usual)

    def start(self, script: str = "true", **changes: Any) -> Handle:
        return self.backend.start(self.job(script, **changes))

    def status(self, handle: Handle) -> JobStatus:
        return self.backend.status([handle])[handle]

    def until(self, ready: Callable[[], T | None], why: Callable[[], object] = lambda: "", seconds: float = 300.0) -> T:
        """The first true value of ``ready``; ``why`` describes the state if there is none in time."""
        deadline = time.monotonic() + seconds
        while not (found := ready()):
            assert time.monotonic() < deadline, why()
            time.sleep(0.05)
        return found

    def wait(self, handle: Handle, *phases: str, seconds: float = 300.0) -> JobStatus:
        """Its status once it has reached one of these phases; by default, once it has ended."""

        def reached() -> JobStatus | None:
            status = self.status(handle)
            return status if status.phase in (phases or ("exited",)) else None

        return self.until(reached, lambda: self.status(handle), seconds)

    def logs(self, handle: Handle) -> bytes:
        """What it has printed so far."""
        return b"".join(self.backend.logs(handle))

    def said(self, handle: Handle, word: str) -> None:
        """Wait until it has printed ``word``."""
        self.until(lambda: word.encode() in self.logs(handle), lambda: self.status(handle))

    def clear(self) -> None:
        """Remove all of its jobs as a controller would."""
        for handle in self.backend.list_jobs(self.group).values():
            self.backend.remove(handle)
