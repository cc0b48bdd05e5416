"""A state root of its own for every test, jobs made in a word, and nothing left of them afterwards."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mlecore.sandbox
from mlecore.agents import Recipe
from mlecore.backends import Dataset, Fetched, Handle, Job, JobStatus
from mlecore.vm import bubblewrap
from mlecore.vm.machine import Vm

INIT = Path(mlecore.sandbox.__file__).parent / "init"
_broken = bubblewrap.problem()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if _broken is not None:
        for item in items:
            if item.get_closest_marker("sandbox"):
                item.add_marker(pytest.mark.skip(reason=_broken.what))


class Place:
    """A backend, and short words for what tests do with it."""

    def __init__(self, vm: Vm, folder: Path) -> None:
        self.vm = vm
        self.folder = folder
        self.handles: list[Handle] = []
        self.public = folder / "data" / "public"
        self.public.mkdir(parents=True, exist_ok=True)
        (self.public / "train.csv").write_text("id,y\n1,0\n")

    def job(self, *argv: str, name: str = "mle-test-1", **words: Any) -> Job:
        dataset = Dataset(competition="c", edition="v1", public=self.public, digest="d")
        words = {"time_limit": 60.0, "grace": 1.0, "group": "g", **words}
        return Job(
            name=name,
            image=self.vm.build(words.pop("recipe", Recipe()), self.folder / "build.log"),
            dataset=dataset,
            data=self.vm.provide(dataset, lambda *_: None),
            argv=argv,
            tools={"init": INIT},
            **words,
        )

    def start(self, *argv: str, **words: Any) -> Handle:
        handle = self.vm.start(self.job(*argv, **words))
        self.handles.append(handle)
        return handle

    def status(self, handle: Handle) -> JobStatus:
        return self.vm.status([handle])[handle]

    def wait(self, handle: Handle, seconds: float = 20.0) -> JobStatus:
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
        return self.vm.fetch(handle, globs, into, limit), into


def until(true: Callable[[], bool], seconds: float = 20.0) -> None:
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
def make_place(state: Path, tmp_path: Path) -> Iterator[Callable[..., Place]]:
    places: list[Place] = []

    def make(**options: str) -> Place:
        place = Place(Vm(options), tmp_path)
        places.append(place)
        return place

    yield make
    for place in places:
        for handle in place.handles:
            place.vm.remove(handle)
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture
def place(make_place: Callable[..., Place]) -> Place:
    return make_place()


@pytest.fixture(params=[pytest.param("bubblewrap", marks=pytest.mark.sandbox), "none"])
def any_place(request: pytest.FixtureRequest, make_place: Callable[..., Place]) -> Place:
    """With a sandbox, and without one."""
    return make_place(isolation=request.param)
