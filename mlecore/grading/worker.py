"""The process behind IsolatedGrader: a request a line on standard input, an answer a line on standard output."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mlecore.competitions import Competition


def main() -> None:
    """Serve until standard input ends."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads do not survive a fork
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a grader prints must not mix with the answers
    import pandas  # noqa: F401  (imported here so that forks have it)

    for line in sys.stdin:
        answers.write(json.dumps(_answer(json.loads(line))) + "\n")
        answers.flush()


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    from mlecore.competitions import competition
    from mlecore.errors import MlecoreError

    try:
        target = competition(request["competition"], request["edition"])
        _ = target.loaded  # imported here, once, for all forks
        limits = target.facts.limits
    except MlecoreError as error:
        return {"error": str(error)}
    if request["plugin"] and (refusal := _another(request["plugin"], target)):
        return refusal
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _child(target, request, write)
    os.close(write)
    text = _read(read, child, limits.seconds)
    os.close(read)
    _, status = os.waitpid(child, 0)
    doing = _doing(request)
    if text is None:
        return {"error": f"{doing} took more than its limit of {limits.seconds:g} s"}
    if not text:
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit code {os.WEXITSTATUS(status)}"
        return {"error": f"{doing} ended without a result ({how})"}
    answer: dict[str, Any] = json.loads(text)
    return answer


def _doing(request: dict[str, Any]) -> str:
    return f"{'grading' if 'data' in request else 'checking a submission to'} {request['competition']}"


def _another(wanted: dict[str, Any], target: Competition) -> dict[str, Any] | None:
    """Why the plugin that is loaded here must not grade: what counts is the code that runs, not what was listed."""
    from mlecore.registry.provenance import PluginUse, plugin_use

    began, here = PluginUse(**wanted), plugin_use(target.plugin)
    if here.is_same_as(began):
        return None
    return {
        "error": f"another plugin of {target.id} is installed than its group began with: {here}, then {began}",
        "fix": "Install that one again, or let this one grade: mlecore runs grade GROUP --with-installed",
    }


def _read(pipe: int, child: int, seconds: float) -> bytes | None:
    """All that the child writes; None, and the child killed, once its time is up."""
    deadline = time.monotonic() + seconds
    parts: list[bytes] = []
    while True:
        ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            return None
        part = os.read(pipe, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)


def _child(target: Competition, request: dict[str, Any], pipe: int) -> None:
    """Work under the memory limit, write the answer, and leave without any of the parent's clean-up."""
    from mlecore.errors import InvalidSubmission, MlecoreError

    memory = int(target.facts.limits.memory_gb * 2**30)
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        answer = _grade(target, request) if "data" in request else _check(target, request)
    except MemoryError:
        answer = {"error": f"{_doing(request)} took more than its memory limit of {memory / 2**30:g} GB"}
    except InvalidSubmission as error:
        answer = {"invalid": str(error)}
    except MlecoreError as error:
        answer = {"error": str(error)}
    except BaseException as error:
        answer = {"error": f"{_doing(request)} failed: {type(error).__name__}: {error}"}
    with os.fdopen(pipe, "w") as out:
        out.write(json.dumps(answer))
    os._exit(0)


def _grade(target: Competition, request: dict[str, Any]) -> dict[str, Any]:
    from mlecore.data.prepared import Prepared
    from mlecore.grading.report import grade

    submission = None if request["submission"] is None else Path(request["submission"])
    return {"report": grade(target, submission, Prepared.from_json(request["data"])).to_json()}


def _check(target: Competition, request: dict[str, Any]) -> dict[str, Any]:
    from mlecore.grading.scoring import check

    return {"warnings": check(target, Path(request["submission"]), Path(request["public"]))}


if __name__ == "__main__":
    main()
