"""One host as a backend: every method is a request to the backend vm there."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeVar

from attrs import evolve

from mle_backend_ssh.link import Channel, Link, Requests
from mle_backend_ssh.remote import wire
from mle_backend_ssh.sending import send_dataset
from mlecore import model_access
from mlecore.agents import Recipe
from mlecore.backends import (
    OUTSIDE_LOGS,
    Backend,
    Capacity,
    Dataset,
    Fetched,
    Handle,
    Image,
    Job,
    JobStatus,
    Problem,
    Progress,
    Resources,
    Sandbox,
    secret_values,
)
from mlecore.errors import BackendError, BackendUnreachable
from mlecore.fetching import Receiver
from mlecore.globs import Glob
from mlecore.mirrors import mirrors_elsewhere

T = TypeVar("T")

_TRIES = 5  # in a row that bring nothing, of a transfer
_GATEWAY_PYTHON = "3.11"
_PAUSE = 3.0  # seconds between them


class Host(Backend):
    """A machine behind a link. ``options`` are those of its backend vm."""

    summary = "Another machine, over SSH"

    def __init__(self, link: Link, python: str, options: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self._requests = Requests(link, python, options, environment)
        self._ask = self._requests.ask

    def describe(self) -> Sandbox:
        return self._ask("describe")  # type: ignore[no-any-return]

    def preflight(self, requested: Sequence[Resources] = ()) -> list[Problem]:
        return self._ask("preflight", tuple(requested))  # type: ignore[no-any-return]

    def survey(self) -> dict[str, Any]:
        """See ``remote.survey``."""
        return self._ask("survey")  # type: ignore[no-any-return]

    def load(self) -> dict[str, float]:
        """What jobs use there now; see ``remote.survey``."""
        return self._ask("load")  # type: ignore[no-any-return]

    def capacity(self) -> Capacity:
        return self._ask("capacity")  # type: ignore[no-any-return]

    def stage_data(self, dataset: Dataset, progress: Progress) -> str:
        return _persistently(lambda: send_dataset(self._requests, dataset, progress))

    def build(self, recipe: Recipe, log: Path) -> Image:
        log.parent.mkdir(parents=True, exist_ok=True)
        secrets = mirrors_elsewhere(os.environ)
        with log.open("ab") as out, self._requests.open("build", recipe, secrets=secrets) as channel:
            head, content = self._requests.read(channel)
            while "result" not in head:
                out.write(content)
                head, content = self._requests.read(channel)
        return head["result"]  # type: ignore[no-any-return]

    def start(self, job: Job) -> Handle:
        secrets = secret_values(job) | _key(job)
        files, sources = _numbered(job.files, 0)
        tools, more = _numbered(job.tools, len(sources))
        python = self._gateway_python() if job.resources.model else None
        sent = evolve(job, files=files, tools=tools)
        with self._requests.open("start", sent, secrets=secrets, gateway_python=python) as channel:
            for number, source in enumerate([*sources, *more]):
                _send_file(channel.stdin, number, source)
            wire.write(channel.stdin, {"kind": "end"})
            return self._requests.result(channel)  # type: ignore[no-any-return]

    def _gateway_python(self) -> str:
        """A Python on the host with what a gateway imports; mlecore's own part of it is in the host's program."""
        recipe = evolve(model_access.recipe(), files={}, python=f">={_GATEWAY_PYTHON}")
        with tempfile.TemporaryDirectory() as folder:
            return f"{self.build(recipe, Path(folder) / 'gateway.log').ref}/bin/python"

    def list_jobs(self, group: str) -> dict[str, Handle]:
        return self._ask("list_jobs", group)  # type: ignore[no-any-return]

    def status(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        return self._ask("status", tuple(handles))  # type: ignore[no-any-return]

    def logs(self, handle: Handle, offset: int = 0, follow: bool = False) -> Iterator[bytes]:
        while True:
            try:
                with self._requests.open("logs", handle, offset, follow) as channel:
                    while True:
                        head, content = self._requests.read(channel)
                        if "result" in head:
                            return
                        offset += len(content)
                        yield content
            except BackendUnreachable:
                if not follow:
                    raise
            time.sleep(_PAUSE)

    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
        for text in globs:
            Glob(text)  # one that is none is the caller's mistake, not the host's
        receiver = Receiver(into, max_bytes, max_files)
        have: dict[str, int] = {}

        def again() -> Fetched:
            with self._requests.open("fetch", handle, tuple(globs), max_bytes, max_files, have) as channel:
                head, _ = self._requests.read(channel, ("file",))
                while "result" not in head:
                    self._store(receiver, head, channel, have)
                    head, _ = self._requests.read(channel, ("file",))
                return head["result"]  # type: ignore[no-any-return]

        there = _persistently(again, lambda: (len(have), receiver.bytes))
        here = receiver.fetched()
        complete = there.complete and here.complete
        return evolve(here, refused=tuple(dict.fromkeys((*there.refused, *here.refused))), complete=complete)

    def _store(self, receiver: Receiver, head: Mapping[str, Any], channel: Channel, have: dict[str, int]) -> None:
        """One file of an answer. What breaks off is stored by the next request."""
        path = PurePosixPath(os.fsdecode(bytes.fromhex(head["path"])))
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise BackendError(f"{self._requests.link.name} sent a file by the name of {str(path)!r}")
        content = _Content(self._requests, channel)
        take = receiver.take_anyhow if path in OUTSIDE_LOGS else receiver.take
        try:
            take(path, int(head["length"]), content)  # type: ignore[arg-type]
        except _Torn:
            receiver.refuse(path, "cannot be read")
        except BaseException:
            receiver.forget(path)
            raise
        content.skip()
        have[str(path)] = int(head["length"])

    def stop(self, handle: Handle, grace: float) -> None:
        self._ask("stop", handle, grace)

    def remove(self, handle: Handle) -> None:
        self._ask("remove", handle)

    def home(self, job_name: str) -> PurePosixPath:
        return self._ask("home", job_name)  # type: ignore[no-any-return]

    def gateway_url(self, job_name: str) -> str:
        return self._ask("gateway_url", job_name)  # type: ignore[no-any-return]


class _Torn(Exception):
    """A file that could not be read to its end on the host."""


class _Content:
    """The content of one file, read from the lines of an answer."""

    def __init__(self, requests: Requests, channel: Channel) -> None:
        self._requests = requests
        self._channel = channel
        self._rest = b""
        self._over = False

    def read(self, size: int) -> bytes:
        if not self._rest and not self._over:
            head, self._rest = self._requests.read(self._channel, ("content", "end", "torn"))
            self._over = head.get("kind") != "content"
            if head.get("kind") == "torn":
                raise _Torn
        part, self._rest = self._rest[:size], self._rest[size:]
        return part

    def skip(self) -> None:
        """What is left of a file that was not stored."""
        with contextlib.suppress(_Torn):
            while not self._over:
                self._rest = b""
                self.read(1)


def _persistently(transfer: Callable[[], T], far: Callable[[], object] = lambda: None) -> T:
    """Repeat a transfer that breaks off, for as long as every few tries bring it further."""
    tries, before = 0, far()
    while True:
        try:
            return transfer()
        except BackendUnreachable:
            now = far()
            tries = 0 if now != before else tries + 1
            before = now
            if tries >= _TRIES:
                raise
        time.sleep(_PAUSE)


def _key(job: Job) -> dict[str, str]:
    """The model's real key, for the gateway beside the job."""
    name = job.resources.model.key if job.resources.model else None
    if name is None:
        return {}
    if not os.environ.get(name):
        raise BackendError(f"the model's key is to be in {name}, which is not set here", fix=f"export {name}=...")
    return {name: os.environ[name]}


def _numbered(content: Mapping[str, bytes | Path], first: int) -> tuple[dict[str, bytes | Path], list[Path]]:
    """The files that are paths, and their numbers in the place of the paths."""
    out: dict[str, bytes | Path] = {}
    sources: list[Path] = []
    for name, value in content.items():
        if isinstance(value, Path):
            out[name] = Path(str(first + len(sources)))
            sources.append(value)
        else:
            out[name] = value
    return out, sources


def _send_file(given: IO[bytes], number: int, path: Path) -> None:
    with path.open("rb") as source:
        seen = os.fstat(source.fileno())
        left = seen.st_size
        head = {"kind": "file", "file": number, "length": left, "executable": bool(seen.st_mode & 0o100)}
        wire.write(given, head)
        while left:
            chunk = source.read(min(wire.CHUNK, left))
            if not chunk:
                raise BackendError(f"{path} became shorter while it was sent")
            given.write(chunk)
            left -= len(chunk)
