"""A separate state root for every test, jobs made in a word, and nothing left of them afterwards."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from mlecore.model.agents import Recipe
from mlecore.model.backends import Handle, Job, JobStatus
from mlecore_jobs.fetching import Fetched
from mlecore_sandboxes import bubblewrap
from mlecore_sandboxes.machine import Machine
from mlecore_testing.backends.harness import Lab as AnyLab

_broken = bubblewrap.problem()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if _broken is not None:
        for item in items:
            if item.get_closest_marker("sandbox"):
                item.add_marker(pytest.mark.skip(reason=_broken.description))


class Lab(AnyLab[Machine]):
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

    def __init__(self, backend: Machine, folder: Path) -> None:
        super().__init__(folder)
        self.backend, self.group = backend, "g"

    def job(self, script: str = "true", **changes: Any) -> Job:
        recipe = changes.pop("recipe", Recipe())
        usual = {"name": "mle-test-1", "image": self.backend.build(recipe, self.folder / "build.log")}
        return super().job(script, **{**usual, **changes})

    def run(self, script: str = "", **changes: Any) -> tuple[JobStatus, str]:
        """Until it ends: its status and its output."""
        handle = self.start(script, **changes)
        return self.wait(handle), self.printed(handle)

    def fetch(self, handle: Handle, *globs: str, limit: int = 10**7) -> tuple[Fetched, Path]:
        into = self.folder / f"fetched-{time.monotonic_ns()}"
        return self.backend.fetch(handle, globs, into, limit, 1000), into


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
        lab.clear()
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    return make_lab()


@pytest.fixture(params=[pytest.param("bubblewrap", marks=pytest.mark.sandbox), "none"])
def any_lab(request: pytest.FixtureRequest, make_lab: Callable[..., Lab]) -> Lab:
    """With a sandbox, and without one."""
    return make_lab(isolation=request.param)
