"""Environments of recipes: built in a job, once, on the shared disk; never on the login node."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from uuid import uuid4

from attrs import evolve

from mle_backend_slurm.batches import write_script
from mle_backend_slurm.commands import LIMITED, Slurm
from mle_backend_slurm.outcome import AT_WORK, WAITING
from mle_backend_slurm.settings import Settings
from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.agents import Recipe
from mlecore.model.backends import Image
from mlecore.util import files
from mlecore_jobs.mirrors import mirrors_elsewhere
from mlecore_jobs.supervise.files import read_json, write_json, write_secrets
from mlecore_sandboxes import environments, folders, images, packing

_OPTIONS = ("--ntasks=1", "--cpus-per-task=2", "--mem=4G", "--time=120", "--no-requeue", "--export=ALL", "--chdir=/")
_TRIES = 3
_LOOK = 0.5  # seconds between two looks at the shared disk
_FOREVER = 3 * 24 * 3600.0  # seconds that a build may wait in the queue


class EndedWithoutResult(BackendError):
    """A job of our own that Slurm ended, or whose program failed."""


class JobResult:
    """A small job of our own: a folder with its request, and the result that it writes there."""

    def __init__(self, settings: Settings, slurm: Slurm, kind: str, options: tuple[str, ...]) -> None:
        self._settings = settings
        self._slurm = slurm
        self._options = options
        self.folder = folders.make_private(settings.state / kind) / uuid4().hex[:12]
        folders.make_private(self.folder)
        self._kind = kind
        self.id = ""

    def submit(self, what: str) -> None:
        """Raises BackendError; BackendUnreachable if a limit of submitted jobs is used up for now."""
        script = write_script(self.folder, [what, str(self._settings.state), str(self.folder)])
        words = (f"--job-name=mle-{what}", f"--output={self.folder}/output", *self._settings.flags)
        try:
            self.id = self._slurm.submit((*self._options, *words), str(script))
        except BackendUnreachable:
            raise
        except BackendError as error:
            if LIMITED.search(error.message):  # mlecore asks again, as it does for runs
                raise BackendUnreachable(error.message, fix=error.fix) from None
            raise

    def wait(self, seconds: float) -> dict[str, object] | None:
        """What it wrote; None if it has not within so many seconds. Raises EndedWithoutResult."""
        limit, ask = time.monotonic() + seconds, time.monotonic() + self._settings.poll
        over = 0
        while True:
            result = read_json(str(self.folder / "result.json"))
            if result is not None:
                return result
            if time.monotonic() > limit:
                return None
            if time.monotonic() > ask:
                ask = time.monotonic() + self._settings.poll
                over = over + 1 if self._is_over() else 0
                if over > 1:
                    raise EndedWithoutResult(f"job {self.id} of Slurm ended without a result: {self._output()}")
            time.sleep(_LOOK)

    def reason(self) -> str:
        """Why it waits, in Slurm's words."""
        text = self._slurm.run("squeue", "--noheader", "--me", "--states=all", "--format=%A|%T|%r")
        found = (line.split("|") for line in text.splitlines())
        return next((f"{state}, {reason}" for id, state, reason in found if id == self.id), "unknown")

    def _is_over(self) -> bool:
        """A queue that does not answer says nothing."""
        with contextlib.suppress(BackendUnreachable):
            state = self.reason().partition(",")[0]
            return state not in (*WAITING, *AT_WORK)
        return False

    def _output(self) -> str:
        with contextlib.suppress(OSError):
            return (self.folder / "output").read_text(errors="replace")[-600:].strip()
        return "it printed nothing"

    def remove(self) -> None:
        """Also from the queue."""
        if self.id and read_json(str(self.folder / "result.json")) is None:
            with contextlib.suppress(BackendError):
                self._slurm.cancel([self.id])
        files.remove(self.folder)


class Builder:
    """Builds, and remembers on the shared disk which environment a recipe became."""

    def __init__(self, settings: Settings, slurm: Slurm) -> None:
        self._settings = settings
        self._slurm = slurm

    def build(self, recipe: Recipe, log: Path) -> Image:
        if recipe.image is not None:
            if not self._settings.isolated:
                raise BackendError("an image runs in a sandbox only", fix="Leave out -B isolation=none.")
            recipe = evolve(recipe, image=images.source(recipe.image))
        if recipe.files and not self._settings.isolated:
            raise BackendError("without a sandbox, a recipe's files cannot be at their paths")
        root = self._settings.state
        if recipe == Recipe():  # nothing to install
            return environments.build(recipe, root, log)
        known = folders.make_private(root / "recipes") / f"{recipe.digest()}.json"
        found = read_json(str(known))
        if found is not None:
            image: Image = packing.unpack(found)
            if not image.ref or environments.is_complete(Path(image.ref)):
                return image
        image = self._build_persistently(recipe, log)
        write_json(str(known), packing.pack(image))
        return image

    def _build_persistently(self, recipe: Recipe, log: Path) -> Image:
        """Nodes fail, and jobs are preempted."""
        for _ in range(_TRIES - 1):
            with contextlib.suppress(EndedWithoutResult):
                return self._build_in_job(recipe, log)
        return self._build_in_job(recipe, log)

    def _build_in_job(self, recipe: Recipe, log: Path) -> Image:
        job = JobResult(self._settings, self._slurm, "builds", _OPTIONS)
        try:
            request = {"recipe": packing.pack(recipe), "isolation": self._settings.isolation}
            write_json(str(job.folder / "request.json"), request)
            write_secrets(str(job.folder / "given.json"), mirrors_elsewhere(os.environ))
            job.submit("build")
            result = job.wait(_FOREVER)
            if result is None:
                raise BackendError(f"job {job.id} of Slurm did not build the environment: {job.reason()}")
            if "image" in result:
                image: Image = packing.unpack(result["image"])
                return image
            raise BackendError(str(result["message"]), fix=str(result["fix"]) if result.get("fix") else None)
        finally:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("ab") as out:
                for name in ("build.log", "output"):
                    with contextlib.suppress(FileNotFoundError):
                        out.write((job.folder / name).read_bytes())
            job.remove()
