"""A backend on the engine that is here, jobs for it, and a look afterwards that nothing of them is left."""

from __future__ import annotations

import contextlib
import json
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mle_backend_docker import names
from mle_backend_docker.backend import DockerBackend
from mle_backend_docker.engine import Engine
from mle_backend_docker.settings import BASE

from mlecore.agents import Recipe
from mlecore.backends import Dataset, Handle, Image, Job, JobStatus
from mlecore.errors import BackendError

INIT = Path(__import__("mlecore").__file__).parent / "sandbox" / "init"


class Lab:
    """One backend with a group of its own."""

    def __init__(self, engine: Engine, folder: Path, **options: str) -> None:
        self.backend = DockerBackend(options, engine)
        self.engine = engine
        self.folder = folder
        self.group = f"g{uuid.uuid4().hex[:12]}"
        public = folder / "public"
        public.mkdir(exist_ok=True)
        (public / "train.csv").write_text("id,target\n1,0\n")
        self.dataset = Dataset(competition="toy", edition="v1", public=public, digest="d")
        self._image: Image | None = None

    @property
    def image(self) -> Image:
        if self._image is None:
            self._image = self.backend.build(Recipe(), self.folder / "build.log")
        return self._image

    def job(self, script: str = "true", **changes: Any) -> Job:
        """A job that runs a shell script in the sandbox."""
        fields: dict[str, Any] = {
            "name": f"mle-{uuid.uuid4().hex[:12]}-1",
            "group": self.group,
            "dataset": self.dataset,
            "data": str(self.dataset.public),
            "argv": ("/bin/sh", "-c", script),
            "tools": {"init": INIT, "sample.csv": b"id,target\n"},
            **changes,
        }
        fields.setdefault("image", None)
        return Job(**{**fields, "image": fields["image"] or self.image})

    def start(self, script: str = "true", **changes: Any) -> Handle:
        return self.backend.start(self.job(script, **changes))

    def wait(self, handle: Handle, phase: str = "exited", seconds: float = 30.0) -> JobStatus:
        """Its status once it has reached a phase."""
        deadline = time.monotonic() + seconds
        while (status := self.backend.status([handle])[handle]).phase != phase:
            assert time.monotonic() < deadline, status
            time.sleep(0.05)
        return status

    def output(self, handle: Handle) -> str:
        """What it has printed, at its end."""
        return b"".join(self.backend.logs(handle, follow=True)).decode()

    def said(self, handle: Handle, word: str, seconds: float = 20.0) -> None:
        """Wait until it has printed ``word``."""
        deadline = time.monotonic() + seconds
        while word not in b"".join(self.backend.logs(handle)).decode():
            assert time.monotonic() < deadline, self.backend.status([handle])
            time.sleep(0.05)

    def run(self, script: str, **changes: Any) -> str:
        return self.output(self.start(script, **changes))

    def ask(self, python: str, **changes: Any) -> Any:
        """Run a Python program inside; the JSON value of its last line."""
        output = self.run('exec python3 -c "$PROGRAM"', env={"PROGRAM": python}, **changes)
        try:
            return json.loads(output.splitlines()[-1])
        except (ValueError, IndexError):
            raise AssertionError(output) from None

    def left(self) -> dict[str, list[str]]:
        """What the engine has of this group."""
        label = {"label": f"{names.GROUP}={self.group}"}
        api = self.engine.api
        found = {
            "containers": [each["Names"][0] for each in api.containers(all=True, filters=label)],
            "volumes": [each["Name"] for each in api.volumes(filters=label)["Volumes"] or ()],
            "networks": [each["Name"] for each in api.networks(filters=label)],
        }
        return {kind: each for kind, each in found.items() if each}

    def clear(self) -> None:
        """Remove all of its jobs as a controller would, and see that nothing is left."""
        for handle in self.backend.find(self.group).values():
            self.backend.remove(handle)
        assert self.left() == {}


@pytest.fixture(scope="session")
def engine() -> Engine:
    import docker.errors

    engine = Engine()
    try:
        with engine.asking("looking for an engine"):
            engine.api.inspect_image(BASE)
    except docker.errors.NotFound:
        pytest.skip(f"the engine has no image {BASE}")
    except BackendError as error:
        pytest.skip(f"no Docker engine: {error.message}")
    return engine


@pytest.fixture
def make_lab(engine: Engine, tmp_path: Path) -> Iterator[Callable[..., Lab]]:
    tmp_path.chmod(0o755)
    with contextlib.ExitStack() as stack:

        def make(**options: str) -> Lab:
            lab = Lab(engine, tmp_path, **options)
            stack.callback(lab.clear)
            return lab

        yield make


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    return make_lab()


@pytest.fixture
def lab_on() -> Callable[[Engine, Path], Lab]:
    """Makes labs on other engines."""
    return Lab
