"""One host: requests to mlecore's program there, which is sent before the first one.

A host that does not answer is set aside, and asked in the background until it answers.
"""

from __future__ import annotations

import os
import shlex
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from attrs import evolve

from mle_backend_ssh import bundle, sending
from mle_backend_ssh.fetching import fetch
from mle_backend_ssh.hosts import HostSettings
from mle_backend_ssh.link import Channel, Link
from mle_backend_ssh.remote import wire
from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model import model_access
from mlecore.model.agents import Recipe
from mlecore.model.backends import Capacity, Dataset, Handle, Image, Job, Progress
from mlecore.util.globs import Glob
from mlecore_jobs.fetching import Fetched
from mlecore_jobs.mirrors import mirrors_elsewhere
from mlecore_sandboxes import packing
from mlecore_sandboxes.gateways import model_key
from mlecore_sandboxes.variables import secret_values

T = TypeVar("T")

RETRY_PAUSE = 15.0  # seconds between attempts to reach a host that does not answer
_TRIES = 5  # of a transfer in a row that bring nothing
_PAUSE = 3.0  # seconds between them
_GATEWAY_PYTHON = "3.11"
_ASKED_AGAIN = "It is asked again automatically."


class Host:
    """``options`` are those of the backend vm on the host. ``returned`` is called when the host answers for the first
    time, and each time it answers again. Thread-safe."""

    def __init__(
        self,
        settings: HostSettings,
        link: Link,
        options: Mapping[str, str],
        returned: Callable[[Host], None] = lambda _: None,
    ) -> None:
        self.settings = settings
        self.name = settings.address
        self.error: BackendError | None = None  # why it is set aside
        self._link = link
        self._options = dict(options)
        self._returned = returned
        self._lock = threading.Lock()
        self._answered = False  # ever
        self._down_since: float | None = None
        self._capacity: Capacity | None = None
        self._folder: str | None = None  # of the program on the host
        self._installing = threading.Lock()

    # Requests

    def call(self, method: str, *arguments: object) -> Any:
        """The result of a request that needs no more than its arguments; see ``remote.serve``."""
        with self._answering():
            return self._ask(method, *arguments)

    @contextmanager
    def open(
        self,
        method: str,
        *arguments: object,
        secrets: Mapping[str, str] | None = None,
        gateway_python: str | None = None,
    ) -> Iterator[Channel]:
        """A request whose answer is still to be read, and that more can be sent to.

        ``secrets`` are variables for the host's program; they are in no command line and no file. ``gateway_python``
        is the host's, for the gateway of a job. A broken connection becomes BackendUnreachable.
        """
        state = {"MLECORE_VM_STATE": self.settings.state} if self.settings.state else {}
        head = {
            "method": method,
            "arguments": packing.pack(arguments),
            "options": self._options,
            "gateway_python": gateway_python,
            "environment": {**state, **(secrets or {})},
        }
        try:
            command = shlex.join([self.settings.python, "-I", "-S", f"{self._install()}/run.py"])
            with self._link.run(command) as channel:
                wire.await_greeting(channel.out)
                wire.write(channel.stdin, head)
                try:
                    yield channel
                except BrokenPipeError:
                    self.result(channel)  # the host may have said why it reads no more
                    raise
        except (wire.ConnectionBroken, BrokenPipeError, ConnectionError) as error:
            self._folder = None  # its disk may have been emptied
            fix = _ASKED_AGAIN
            if isinstance(error, wire.NotStarted):
                fix = "If its Python is missing or older than 3.9, set `python =` in the hosts file (docs/ssh.md)."
            raise BackendUnreachable(f"{self.name}: {error}", fix=fix) from None

    def result(self, channel: Channel) -> Any:
        """The end of an answer; what comes before is passed over. Raises the host's error."""
        return self.read(channel, ("result",))[0]["result"]

    def read(self, channel: Channel, kinds: Sequence[str] = ()) -> tuple[dict[str, Any], bytes]:
        """The next line of an answer that is a result or one of ``kinds`` (all, if none is given)."""
        while True:
            head, content = wire.read(channel.out)
            if "error" in head:
                raise wire.unpack_error(head, self.name)
            if "result" in head:
                return {"result": packing.unpack(head["result"])}, b""
            if not kinds or head.get("kind") in kinds:
                return head, content

    def _ask(self, method: str, *arguments: object) -> Any:
        with self.open(method, *arguments) as channel:
            return self.result(channel)

    def _install(self) -> str:
        """The folder of the program on the host."""
        with self._installing:
            if self._folder is None:
                with self._link.run(bundle.install_command(self.settings.python)) as channel:
                    wire.await_greeting(channel.out)
                    if channel.out.readline(100) == b"send\n":
                        channel.stdin.write(bundle.archive()[1])
                        channel.stdin.flush()
                    folder = channel.out.readline(10_000)
                    if not (folder.startswith(b"/") and folder.endswith(b"\n")):
                        why = folder.decode(errors="replace").strip() or "the connection ended"
                        raise wire.ConnectionBroken(f"the host's program could not be sent: {why}")
                    self._folder = folder.decode().rstrip("\n")
            return self._folder

    # Whether it answers

    @property
    def down(self) -> float | None:
        """For how many seconds it has not answered; None: it answers, as far as is known."""
        since = self._down_since
        return None if since is None else time.monotonic() - since

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Raises BackendUnreachable at once while the host is set aside; sets it aside if it does not answer."""
        error = self.error
        if self.down is not None and error is not None:
            raise BackendUnreachable(error.message, fix=error.fix)
        try:
            yield
        except BackendUnreachable as error:
            self._set_aside(error)
            raise
        with self._lock:
            first, self._answered = not self._answered, True
        if first:
            self._returned(self)

    def _set_aside(self, error: BackendError) -> None:
        with self._lock:
            if self._down_since is not None:
                return
            self.error, self._down_since = error, time.monotonic()
        threading.Thread(target=self._ask_until_it_answers, name=f"ask {self.name}", daemon=True).start()

    def _ask_until_it_answers(self) -> None:
        while True:
            time.sleep(RETRY_PAUSE)
            try:
                self._ask("load")
            except BackendUnreachable as error:
                self.error = error
                continue
            except BackendError:  # it answers, if only with an error, which the next request shows
                pass
            break
        with self._lock:
            self._down_since, self._answered = None, True
        self._returned(self)

    # Requests that carry more

    def capacity(self) -> Capacity:
        """CPUs, memory and GPUs of the host; asked once."""
        if self._capacity is None:
            self._capacity = self.call("capacity")
        return self._capacity

    def load(self) -> dict[str, float]:
        """What jobs use there now; see ``remote.survey``. Its capacity is known afterwards, too."""
        self.capacity()
        return self.call("load")  # type: ignore[no-any-return]

    def send(self, dataset: Dataset, progress: Progress) -> str:
        """The folder on the host."""
        with self._answering():
            return _persistently(lambda: sending.send_dataset(self, dataset, progress))

    def build(self, recipe: Recipe, log: Path) -> Image:
        log.parent.mkdir(parents=True, exist_ok=True)
        secrets = mirrors_elsewhere(os.environ)
        with self._answering(), log.open("ab") as out, self.open("build", recipe, secrets=secrets) as channel:
            head, content = self.read(channel)
            while "result" not in head:
                out.write(content)
                head, content = self.read(channel)
        return head["result"]  # type: ignore[no-any-return]

    def start(self, job: Job) -> Handle:
        secrets = secret_values(job) | model_key(job)
        files, sources = sending.numbered(job.files, 0)
        tools, more = sending.numbered(job.tools, len(sources))
        sent = evolve(job, files=files, tools=tools)
        with self._answering():
            python = self._gateway_python() if job.resources.model else None
            with self.open("start", sent, secrets=secrets, gateway_python=python) as channel:
                for number, source in enumerate([*sources, *more]):
                    sending.send_file(channel.stdin, number, source)
                wire.write(channel.stdin, {"kind": "end"})
                return self.result(channel)  # type: ignore[no-any-return]

    def _gateway_python(self) -> str:
        """A Python on the host with what a gateway imports; mlecore's own part of it is in the host's program."""
        recipe = evolve(model_access.recipe(), files={}, python=f">={_GATEWAY_PYTHON}")
        with tempfile.TemporaryDirectory() as folder:
            return f"{self.build(recipe, Path(folder) / 'gateway.log').ref}/bin/python"

    def logs(self, handle: Handle, offset: int, follow: bool) -> Iterator[bytes]:
        """When following, a host that does not answer is waited for."""
        while True:
            try:
                with self.open("logs", handle, offset, follow) as channel:
                    while True:
                        head, content = self.read(channel)
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
            Glob(text)  # an invalid one is the caller's mistake, not the host's
        with self._answering():
            return fetch(self, _persistently, handle, globs, into, max_bytes, max_files)


def _persistently(transfer: Callable[[], T], progress: Callable[[], object] = lambda: None) -> T:
    """Repeat a transfer that breaks off, for as long as every few tries bring it further."""
    tries, before = 0, progress()
    while True:
        try:
            return transfer()
        except BackendUnreachable:
            now = progress()
            tries = 0 if now != before else tries + 1
            before = now
            if tries >= _TRIES:
                raise
        time.sleep(_PAUSE)
