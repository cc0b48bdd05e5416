"""Answer one request on standard input, with the same backend vm that serves runs on the controller's own machine."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any

from mle_backend_ssh.remote import survey, wire
from mle_backend_ssh.remote.receive import receive
from mlecore.errors import BackendError, MlecoreError
from mlecore.model.backends import Handle, Job
from mlecore.util.globs import Glob
from mlecore_jobs import collect
from mlecore_jobs.fetching import Selection
from mlecore_sandboxes import folders, packing
from mlecore_sandboxes.machine import Machine

_PLAIN = (
    "describe",
    "preflight",
    "capacity",
    "inventory",
    "list_jobs",
    "status",
    "stop",
    "remove",
    "home",
    "gateway_url",
)


def main() -> None:
    """The program: exits with 0 once an answer was given, even if it is an error."""
    given, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)  # what anything else prints must not get into the answer,
    os.dup2(null, 2)  # in which the link has both streams, so that it shows why this program does not start
    os.close(null)
    out.write(wire.GREETING)
    out.flush()
    with contextlib.suppress(BrokenPipeError, wire.ConnectionBroken):  # the controller has gone: it asks again
        request, _ = wire.read(given)
        try:
            os.environ.update(request["environment"])  # in memory only: others cannot read it
            os.environ.setdefault("MLECORE_VM_STATE", str(_state()))
            answer(request, given, out)
        except MlecoreError as error:
            wire.write(out, wire.pack_error(error))
        except wire.ConnectionBroken:
            raise
        except Exception as error:
            found = BackendError(f"the host's program failed: {type(error).__name__}: {error}")
            wire.write(out, wire.pack_error(found))


def _state() -> Path:
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "mlecore" / "vm"


def answer(request: Mapping[str, Any], given: IO[bytes], out: IO[bytes]) -> None:
    """Answer one request whose first line was read; files of it follow in ``given``."""
    vm = Machine(request["options"], gateway_python=request["gateway_python"])
    method = request["method"]
    arguments = packing.unpack(request["arguments"])
    result: object = None
    if method in _PLAIN:
        result = getattr(vm, method)(*arguments)
    elif method == "start":
        result = _start(vm, arguments[0], given)
    elif method == "build":
        result = _build(vm, arguments[0], out)
    elif method == "logs":
        for chunk in vm.logs(*arguments):
            for at in range(0, len(chunk), wire.CHUNK):
                wire.write(out, {"kind": "output"}, chunk[at : at + wire.CHUNK])
    elif method == "fetch":
        result = _fetch(out, *arguments)
    elif method == "receive":
        result = receive(given, out, folders.make_private(folders.state_root()), *arguments)
    elif method == "survey":
        result = survey.survey(folders.state_root())
    elif method == "load":
        result = survey.load(folders.state_root())
    else:
        raise BackendError(f"this program knows no {method!r}")
    wire.write(out, {"result": packing.pack(result)})


def _start(vm: Machine, job: Job, given: IO[bytes]) -> Handle:
    """The job's files that are paths on the controller follow the request; here they are ``Path(number)``."""
    with tempfile.TemporaryDirectory(prefix="mlecore-") as name:
        spool = Path(name)
        head, _ = wire.read(given)
        while "file" in head:
            file = spool / str(int(head["file"]))
            with file.open("wb") as out:
                left = int(head["length"])
                while left:
                    chunk = wire.read_exactly(given, min(left, wire.CHUNK))
                    out.write(chunk)
                    left -= len(chunk)
            file.chmod(0o700 if head["executable"] else 0o600)
            head, _ = wire.read(given)
        return vm.start(packing.placed(job, spool))


def _build(vm: Machine, recipe: Any, out: IO[bytes]) -> object:
    """The build's log is sent back in any case."""
    with tempfile.TemporaryDirectory(prefix="mlecore-") as name:
        log = Path(name) / "build.log"
        try:
            return vm.build(recipe, log)
        finally:
            with contextlib.suppress(FileNotFoundError), log.open("rb") as source:
                while chunk := source.read(wire.CHUNK):
                    wire.write(out, {"kind": "output"}, chunk)


def _fetch(
    out: IO[bytes], handle: Handle, globs: tuple[str, ...], max_bytes: int, max_files: int, have: Mapping[str, int]
) -> object:
    folder = folders.folder_of(handle)
    sender = Sender(max_bytes, max_files, have, out)
    collect.select(sender, folder / "home", [Glob(text) for text in globs], folder)
    return sender.fetched()


class Sender(Selection):
    """Sends files to the controller, except those that an earlier request got there (``have``: path -> bytes)."""

    def __init__(self, max_bytes: int, max_files: int, have: Mapping[str, int], out: IO[bytes]) -> None:
        super().__init__(max_bytes, max_files)
        self.files, self.bytes = len(have), sum(have.values())
        self._have = {PurePosixPath(path) for path in have}
        self._out = out

    def wants(self, path: PurePosixPath) -> bool:
        return path not in self._have and super().wants(path)

    def store(self, path: PurePosixPath, size: int, source: IO[bytes]) -> int | None:
        wire.write(self._out, {"kind": "file", "path": os.fsencode(str(path)).hex(), "length": size})
        sent = 0
        try:
            while sent < size and (chunk := source.read(min(wire.CHUNK, size - sent))):
                wire.write(self._out, {"kind": "content"}, chunk)
                sent += len(chunk)
        except BrokenPipeError:
            raise wire.ConnectionBroken("the controller has gone") from None
        except OSError:  # the file's fault: the controller must not keep half of it
            wire.write(self._out, {"kind": "torn"})
            raise
        wire.write(self._out, {"kind": "end"})
        return sent
