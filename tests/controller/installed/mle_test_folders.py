"""Backend `folders`: jobs are folders; what a process would do follows from the job's environment and the clock.

It outlives every controller, as a real backend does, and fails on demand: while a file `unreachable` lies in its root,
it does not answer; with `cannot-build`, it cannot build; with `cannot-fetch`, it cannot fetch; with `over`, jobs end.
"""

import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mlecore.errors import BackendError, BackendUnreachable
from mlecore.hookspecs import hookimpl
from mlecore.model.agents import Recipe
from mlecore.model.backends import (
    Backend,
    Capacity,
    Dataset,
    Enforcement,
    Handle,
    Hardware,
    Image,
    Job,
    JobStatus,
    Problem,
    Progress,
    Resources,
    Sandbox,
)
from mlecore.model.options import Option
from mlecore_jobs.collect import collect
from mlecore_jobs.fetching import Fetched

NO_FLOUR = "the recipe has no flour"


class Folders(Backend):
    summary = "folders that look like jobs"
    options = (
        Option(name="root", help="where the jobs are"),
        Option(name="cpus", help="how many it has", default="8"),
        Option(name="gpus", help="how many it has", default="0"),
    )

    def __init__(self, root: Path, cpus: float, gpus: int) -> None:
        self.root = root
        self.cpus = cpus
        self.gpus = gpus

    def _reach(self) -> Path:
        if (self.root / "unreachable").exists():
            raise BackendUnreachable("the folders do not answer")
        return self.root / "jobs"

    def preflight(self, requested: Sequence[Resources] = ()) -> list[Problem]:
        return []

    def stage_data(self, dataset: Dataset, progress: Progress) -> str:
        self._reach()
        return str(dataset.public)

    def build(self, recipe: Recipe, log: Path) -> Image:
        if (self.root / "cannot-build").exists():
            raise BackendError(NO_FLOUR)
        return Image(ref="", digest="sha256:none")

    def start(self, job: Job) -> Handle:
        folder = self._reach() / job.name
        if not folder.exists():
            partial = folder.with_name(f".{job.name}.{os.getpid()}")
            shutil.rmtree(partial, ignore_errors=True)
            work = json.loads(job.env["WORK"])
            for name, content in work["files"].items():
                path = partial / "home" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
            code = 124 if work["timed_out"] == "true" else int(work["code"])
            own = partial / "home" / ".mlecore"
            own.mkdir(parents=True)
            told = {"exit_code": code, "timed_out": work["timed_out"] == "true", "seconds": float(work["seconds"])}
            (own / "exit.json").write_text(json.dumps(told))
            (own / "checks").write_text("...")
            (own / "snapshots").mkdir()
            if "submission/submission.csv" in work["files"]:
                (own / "snapshots" / "1.csv").write_text("id,side\n" + "".join(f"{n},1\n" for n in range(10)))
            attempt = int(job.name.rpartition("-")[2])
            facts = {
                "group": job.group,
                "began": time.monotonic(),
                "seconds": float(work["seconds"]),
                "exit_code": code,
                "oom": work["oom"] == "true",
                "timed_out": work["timed_out"] == "true",
                "infra_failure": attempt <= int(work["faults"]),
            }
            (partial / "job.json").write_text(json.dumps(facts))
            try:
                partial.rename(folder)
            except OSError:
                shutil.rmtree(partial)
        with (self.root / "starts.log").open("a") as log:
            log.write(f"{job.name}\n")
        return Handle(name=job.name, id=f"folders/{job.name}")

    def list_jobs(self, group: str) -> dict[str, Handle]:
        jobs = self._reach()
        found = [path.name for path in jobs.iterdir() if not path.name.startswith(".")]
        return {
            name: Handle(name=name, id=f"folders/{name}") for name in found if self._job(name).get("group") == group
        }

    def _job(self, name: str) -> dict:
        try:
            return json.loads((self.root / "jobs" / name / "job.json").read_text())
        except FileNotFoundError:
            return {}

    def status(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        self._reach()
        return {handle: self._status(handle.name) for handle in handles}

    def _status(self, name: str) -> JobStatus:
        facts = self._job(name)
        if not facts:
            return JobStatus(phase="gone")
        if facts.get("stopped"):
            return JobStatus(phase="exited", exit_code=143)
        if (self.root / "pending").exists():
            reason = (self.root / "pending").read_text()
            return JobStatus(phase="pending", stuck=reason.startswith("stuck: "), reason=reason.removeprefix("stuck: "))
        if time.monotonic() < facts["began"] + facts["seconds"] and not (self.root / "over").exists():
            return JobStatus(phase="running")
        return JobStatus(
            phase="exited",
            exit_code=facts["exit_code"],
            oom=facts["oom"],
            timed_out=facts["timed_out"],
            hardware=Hardware(cpus=3),
            infra_failure=facts["infra_failure"],
            preempted=facts["infra_failure"] and (self.root / "preempts").exists(),
            reason="the lights went out" if facts["infra_failure"] else "",
        )

    def logs(self, handle: Handle, offset: int = 0, follow: bool = False) -> Iterator[bytes]:
        self._reach()
        yield b"working\n"[offset:]

    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
        if (self.root / "cannot-fetch").exists():
            raise BackendError("the drawer is locked")
        folder = self._reach() / handle.name
        return collect(folder / "home", globs, into, max_bytes, max_files, folder)

    def stop(self, handle: Handle, grace: float) -> None:
        path = self._reach() / handle.name / "job.json"
        facts = self._job(handle.name)
        if facts:
            path.write_text(json.dumps({**facts, "stopped": True}))

    def remove(self, handle: Handle) -> None:
        trash = self._reach() / f".{handle.name}.removed"
        with contextlib.suppress(FileNotFoundError):
            (self._reach() / handle.name).rename(trash)
        shutil.rmtree(trash, ignore_errors=True)

    def capacity(self) -> Capacity | None:
        return Capacity(cpus=self.cpus, memory=2**36, gpus=tuple(map(str, range(self.gpus))))

    def describe(self) -> Sandbox:
        imagined = Enforcement(level="enforced", how="imagined")
        return Sandbox(
            isolation="imagined",
            user="nobody",
            time=imagined,
            cpus=imagined,
            memory=imagined,
            processes=imagined,
            disk=Enforcement(level="absent"),
            network=Enforcement(level="absent", how="no door") if (self.root / "no-door").exists() else imagined,
        )


@hookimpl
def backend(options: Mapping[str, str]) -> Backend:
    root = Path(options.get("root") or os.environ.get("TEST_FOLDERS", "."))
    if options:
        (root / "jobs").mkdir(parents=True, exist_ok=True)
    return Folders(root, float(options.get("cpus", 8)), int(options.get("gpus", 0)))
