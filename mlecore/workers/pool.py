"""Work in separate processes, so that a plugin that hangs, leaks memory or crashes harms nothing else.

Both ends of the protocol are here: ``Worker`` starts a process and asks it, ``serve`` answers inside it. A request is a
line of JSON on standard input. The reply is lines of JSON on what was standard output: ``began``, any number of
messages, and the result. What a plugin prints goes to standard error.

A process ends with its caller, however that ends; it and all that it has started are killed when its time is up.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import os
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NoReturn

from mlecore.errors import MlecoreError
from mlecore.util.child_environment import child_environment
from mlecore.util.printable import print_everything
from mlecore.workers import processes

_ANSWERED = 91  # exit status of a fork that wrote its reply: a plugin may end it with 0

Say = Callable[..., None]
"""Send a message: ``say(progress=[1, 2, "copying"])``."""


class WorkerFailure(Exception):
    """The work ended without a result. The text continues a sentence: "took more than its limit of 5 s"."""


class WorkerCrash(WorkerFailure):
    """The process ended. ``status``: its exit code, or minus the signal that killed it. ``began``: any work had."""

    def __init__(self, status: int, began: bool) -> None:
        how = f"signal {-status}" if status < 0 else f"exit code {status}"
        super().__init__(f"ended without a result ({how})")
        self.status, self.began = status, began


class WorkerError(MlecoreError):
    """An MlecoreError that the work raised. ``kind``: the name of its class."""

    def __init__(self, kind: str, message: str, fix: str | None, exit_code: int) -> None:
        super().__init__(message, fix=fix)
        self.kind, self.exit_code = kind, exit_code


class Worker:
    """A process that runs ``module``, which calls ``serve``. Answers one request at a time."""

    def __init__(
        self,
        module: str,
        *,
        through: Sequence[str] = (),
        variables: Sequence[str] = (),
        stderr: IO[Any] | None = None,
    ) -> None:
        """``through``: the start of the command, such as that of a sandbox. ``variables``: see child_environment.
        ``stderr``: where output goes; by default to this process's standard error."""
        self._process = subprocess.Popen(
            [*through, sys.executable, "-X", "utf8", "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=child_environment(*variables),
            **processes.ALONE,  # Ctrl-C is for the caller
        )
        self._tree = processes.Tree(self._process)
        self._wrapped = bool(through)
        self._began = False
        self._unread = b""
        self._asking = threading.RLock()  # whoever closes this from another thread waits until the pipes are not in use

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(
        self,
        request: object,
        *,
        seconds: float = math.inf,
        memory_gb: float = math.inf,
        listen: Callable[[dict[str, Any]], None] = lambda message: None,
    ) -> Any:
        """The result of the work on ``request``; both are values of JSON. ``listen`` is called with each message.

        ``seconds`` count from when the work begins, after imports. ``memory_gb`` (GiB of data, as RLIMIT_DATA counts)
        holds for this process and for each that it starts. Raises WorkerFailure, after which the worker may be closed
        (see ``alive``), and WorkerError.
        """
        limits = {"seconds": seconds, "memory_gb": memory_gb}
        limits = {name: value for name, value in limits.items() if value != math.inf}
        with self._asking:
            self._write({"request": request, "limits": limits})
            deadline = math.inf
            while True:
                match self._message(deadline):
                    case {"began": _}:
                        self._began = True
                        deadline = time.monotonic() + seconds
                    case {"result": result}:
                        return result
                    case {"error": error}:
                        raise WorkerError(**error)
                    case {"failed": why}:
                        raise WorkerFailure(why)
                    case {"ended": status}:
                        raise WorkerCrash(status, self._began)
                    case None:
                        self.close()
                        raise WorkerFailure(f"took more than its limit of {seconds:g} s")
                    case message:
                        listen(message)

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError):  # the process has ended, or was closed
            raise self._crash() from None

    def _message(self, deadline: float) -> Any:
        """None once the time is up."""
        line = self._line(deadline)
        try:
            return None if line is None else json.loads(line)
        except ValueError:  # the process was killed while it wrote
            self.close()
            raise WorkerFailure("ended without a result (its reply is cut off)") from None

    def _line(self, deadline: float) -> bytes | None:
        """The next line; None once the time is up. Raises WorkerCrash if the process ended instead."""
        output = self._process.stdout
        assert output
        parts = [self._unread]
        while b"\n" not in parts[-1]:
            if not processes.readable(output, deadline - time.monotonic()):
                return None
            parts.append(os.read(output.fileno(), 1 << 16))
            if not parts[-1]:
                raise self._crash()
        line, _, self._unread = b"".join(parts).partition(b"\n")
        return line

    def _crash(self) -> WorkerCrash:
        status = self._process.wait()
        self.close()
        status = 128 - status if self._wrapped and status > 128 else status  # as bubblewrap reports a signal
        return WorkerCrash(status, self._began)

    def close(self) -> None:
        """End the process and all that it has started. Idempotent; an ``ask`` in another thread raises WorkerCrash."""
        self._tree.kill()
        self._process.wait()
        with self._asking:
            for stream in (self._process.stdin, self._process.stdout):
                if stream:
                    with contextlib.suppress(OSError):  # a pipe without a reader still holds what was to be flushed
                        stream.close()


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Disable the garbage collector during a worker's first imports, which create no garbage. That saves a tenth of the
    time of importing pandas. Imported objects are never collected later, not even in forks."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def serve(work: Callable[[Any, Say], Any], before_fork: Callable[[Any], None] | None = None) -> None:
    """Answer requests with ``work(request, say)`` until the caller closes standard input.

    ``before_fork``: imports what a request needs; each request is then worked on in a fork, which starts from clean
    memory. Without it, this process itself works, and keeps what it has read from request to request.
    """
    gc.set_threshold(50_000)  # as the command line: the members of an archive, too, are many small values that stay
    output = os.dup(1)
    os.dup2(2, 1)
    print_everything()
    if before_fork is None:
        processes.end_with_caller()
    for line in _lines():
        request, limits = line["request"], line["limits"]
        if before_fork is not None and not _imported(before_fork, request, output):
            continue
        if before_fork is None:
            _answer(work, request, limits, output)
        else:
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                _fork(work, request, limits, output)
            _, status = os.waitpid(child, 0)
            if (code := os.waitstatus_to_exitcode(status)) != _ANSWERED:
                _write(output, {"ended": code})


def _fork(work: Callable[[Any, Say], Any], request: Any, limits: dict[str, float], output: int) -> NoReturn:
    """Answer, and leave without any of the parent's clean-up."""
    code = 1
    try:
        processes.end_with_caller()
        _answer(work, request, limits, output)
        code = _ANSWERED
        sys.stdout.flush()
    finally:
        os._exit(code)


def _lines() -> Iterator[Any]:
    with open(0, "rb", closefd=False) as stream:  # not sys.stdin, whose lock Python wants when it ends
        for line in stream:
            yield json.loads(line)


def _answer(work: Callable[[Any, Say], Any], request: Any, limits: dict[str, float], output: int) -> None:
    memory = limits.get("memory_gb")
    with processes.limits(memory, limits.get("seconds")):
        _write(output, {"began": True})
        try:
            _write(output, {"result": work(request, lambda **message: _write(output, message))})
        except MlecoreError as error:
            _write(output, _error(error))
        except MemoryError:
            _write(
                output,
                {"failed": f"took more than its memory limit of {memory:g} GB" if memory else "ran out of memory"},
            )
        except Exception as error:
            traceback.print_exc()
            _write(output, {"failed": f"failed: {type(error).__name__}: {error}"})


def _imported(before_fork: Callable[[Any], None], request: Any, output: int) -> bool:
    try:
        before_fork(request)
    except MlecoreError as error:
        _write(output, _error(error))
        return False
    return True


def _error(error: MlecoreError) -> dict[str, Any]:
    values = {"message": error.message, "fix": error.fix, "exit_code": error.exit_code}
    return {"error": {"kind": type(error).__name__, **values}}


def _write(output: int, message: dict[str, Any]) -> None:
    left = memoryview(json.dumps(message, allow_nan=False).encode() + b"\n")
    while left:
        left = left[os.write(output, left) :]
