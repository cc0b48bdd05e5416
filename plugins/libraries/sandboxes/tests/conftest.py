"""A separate state root for every test, jobs made in a word, and nothing left of them afterwards."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import attrs
import pytest

from mlecore.model.agents import Recipe
from mlecore.model.backends import Dataset, Handle, Job, JobStatus, Resources
from mlecore_jobs import INSIDE
from mlecore_jobs.fetching import Fetched
from mlecore_sandboxes import bubblewrap
from mlecore_sandboxes.machine import Machine

INIT = INSIDE / "init"
RESOURCES = {attribute.name for attribute in attrs.fields(Resources)}
_broken = bubblewrap.problem()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if _broken is not None:
        for item in items:
            if item.get_closest_marker("sandbox"):
                item.add_marker(pytest.mark.skip(reason=_broken.description))


class Lab:
    """A backend, and short words for what tests do with it."""

    # Prints each mount with a folder in which a file can be made. Given one of them, it then keeps 300 MB there.
    WRITABLE: ClassVar = """
import os, sys, time
found = {}
mounts = {line.split()[4] for line in open("/proc/self/mountinfo")}
for mount in sorted(mounts):
    for folder, inner, _ in os.walk(mount):
        inner[:] = [name for name in inner if os.path.join(folder, name) not in mounts][:50]
        try:
            open(f"{folder}/mlecore-try", "w").close()
            found.setdefault(mount, folder)
            break
        except OSError:
            pass
print(*sorted(found), flush=True)
for number in range(30 if sys.argv[1:] else 0):
    with open(f"{found[sys.argv[1]]}/{number}", "wb") as out:
        out.write(bytes(10_000_000))
time.sleep(300 if sys.argv[1:] else 0)
print("kept")
"""

    def __init__(self, vm: Machine, folder: Path) -> None:
        self.vm = vm
        self.folder = folder
        self.handles: list[Handle] = []
        self.public = folder / "data" / "public"
        self.public.mkdir(parents=True, exist_ok=True)
        (self.public / "train.csv").write_text("id,y\n1,0\n")

    def job(self, *argv: str, name: str = "mle-test-1", **words: Any) -> Job:
        """``words`` are fields of Job or of Resources."""
        dataset = Dataset(competition="c", edition="v1", public=self.public, digest="d")
        words = {"time_limit": 300.0, "grace": 1.0, "group": "g", **words}
        return Job(
            name=name,
            image=self.vm.build(words.pop("recipe", Recipe()), self.folder / "build.log"),
            dataset=dataset,
            data=self.vm.stage_data(dataset, lambda *_: None),
            argv=argv,
            tools={"init": INIT},
            resources=Resources(**{key: value for key, value in words.items() if key in RESOURCES}),
            **{key: value for key, value in words.items() if key not in RESOURCES},
        )

    def start(self, *argv: str, **words: Any) -> Handle:
        handle = self.vm.start(self.job(*argv, **words))
        self.handles.append(handle)
        return handle

    def status(self, handle: Handle) -> JobStatus:
        return self.vm.status([handle])[handle]

    def wait(self, handle: Handle, seconds: float = 240.0) -> JobStatus:
        until(lambda: self.status(handle).phase in ("exited", "gone"), seconds)
        return self.status(handle)

    def run(self, *argv: str, **words: Any) -> tuple[JobStatus, str]:
        """Until it ends: its status and its output."""
        handle = self.start(*argv, **words)
        status = self.wait(handle)
        return status, self.output(handle)

    def output(self, handle: Handle) -> str:
        return b"".join(self.vm.logs(handle)).decode(errors="replace")

    def fetch(self, handle: Handle, *globs: str, limit: int = 10**7) -> tuple[Fetched, Path]:
        into = self.folder / f"fetched-{time.monotonic_ns()}"
        return self.vm.fetch(handle, globs, into, limit, 1000), into


def until(true: Callable[[], bool], seconds: float = 240.0) -> None:
    limit = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < limit, "it does not happen"
        time.sleep(0.02)


@pytest.fixture
def wait_until() -> Callable[..., None]:
    return until


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MLECORE_VM_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def make_lab(state: Path, tmp_path: Path) -> Iterator[Callable[..., Lab]]:
    labs: list[Lab] = []

    def make(**options: str) -> Lab:
        lab = Lab(Machine(options), tmp_path)
        labs.append(lab)
        return lab

    yield make
    for lab in labs:
        for handle in lab.handles:
            lab.vm.remove(handle)
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    return make_lab()


@pytest.fixture(params=[pytest.param("bubblewrap", marks=pytest.mark.sandbox), "none"])
def any_lab(request: pytest.FixtureRequest, make_lab: Callable[..., Lab]) -> Lab:
    """With a sandbox, and without one."""
    return make_lab(isolation=request.param)
