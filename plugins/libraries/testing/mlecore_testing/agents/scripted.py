"""A whole run of an agent whose model answers from a script: from its recipe to a graded submission."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
from attrs import frozen

from mlecore.model.record import RunRecord
from mlecore_testing.models import Answer, Script, Served, scripted_model

_KEY = "MLECORE_SCRIPTED_MODEL_KEY"
_PART = 1 << 20  # bytes


@frozen(kw_only=True)
class ScriptedRun:
    """What came of it."""

    record: RunRecord  # its folder has grade.json, logs/, code/ ...
    served: Served  # what the model was asked, and what it counted
    leaks: tuple[str, ...]  # files and processes in which the model's key was found


def scripted_run(
    agent: str,
    answers: Sequence[Answer] | Script,
    folder: Path,
    *,
    backend: str = "vm",
    options: Mapping[str, str] | None = None,
    competition: str = "optical-digits",
    time_limit: str = "15m",
    gateway: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> ScriptedRun:
    """Let an installed agent work on a competition with a scripted model. It reaches the model ``scripted`` as it would
    a real one, through the gateway.

    All is kept in ``folder``: data, runs, and the environments of the backend ``vm``. ``options`` are those of ``-A``,
    ``gateway`` those of ``-G``; ``arguments`` are more of ``mlecore.run``. The model wants a key, which is drawn for
    the run and looked for afterwards in all that the run wrote, and meanwhile in the list of processes. Raises what
    ``mlecore.run`` raises.
    """
    import mlecore

    key = f"sk-scripted-{secrets.token_hex(16)}"
    script = answers if isinstance(answers, Script) else Script(answers=tuple(answers))
    folder.chmod(0o755)  # users of sandboxes come through
    with (
        patch.dict(os.environ, {_KEY: key, "MLECORE_VM_STATE": str(folder / "state")}),
        scripted_model(msgspec.structs.replace(script, key=key)) as model,
        _watched_processes(key) as seen,
    ):
        (record,) = mlecore.run(
            agent=agent,
            competition=competition,
            options=options,
            backend=backend,
            model="scripted",
            endpoint=model.url,
            time_limit=time_limit,
            runs=folder / "runs",
            data=[folder / "data"],
            gateway={"key": _KEY, **(gateway or {})},
            **{"model_check": False, **arguments},
        )
    return ScriptedRun(record=record, served=model.served, leaks=(*seen, *_files_with(key.encode(), folder)))


@contextmanager
def _watched_processes(key: str) -> Iterator[set[str]]:
    """The command lines with the key in them, of all processes that begin while the block runs."""
    seen: set[str] = set()
    over = threading.Event()
    before = _processes()

    def watch() -> None:
        while not over.wait(0.1):
            for pid in _processes() - before:
                try:
                    line = Path("/proc", pid, "cmdline").read_bytes()
                except OSError:
                    continue
                if key.encode() in line:
                    program = line.split(b"\0")[0].decode(errors="replace")
                    seen.add(f"process {program}")

    thread = threading.Thread(target=watch, name="watches processes", daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def _processes() -> set[str]:
    return {entry.name for entry in os.scandir("/proc") if entry.name.isdigit()}


def _files_with(key: bytes, folder: Path) -> Iterator[str]:
    """The files below ``folder`` that hold the key."""
    for at, _, names in os.walk(folder):
        for name in names:
            path = Path(at) / name
            if path.is_file() and not path.is_symlink() and _holds(path, key):
                yield str(path.relative_to(folder))


def _holds(path: Path, key: bytes) -> bool:
    before = b""
    with path.open("rb") as file:
        while part := file.read(_PART):
            if key in before + part:
                return True
            before = part[-len(key) :]
    return False
