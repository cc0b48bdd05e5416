"""The process that prepares one competition. If it is killed, the next one cleans up after it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, get_args

from mlecore.data.layout import DataDirs
from mlecore.data.preparing import prepare
from mlecore.data.sources import Source
from mlecore.plugins.competitions import competition
from mlecore.util.schema import plain, structure
from mlecore.workers.pool import Say, importing, serve

_EVERY = 0.2  # seconds between two progress messages

SOURCES: dict[str, type[Source]] = {source.name: source for source in get_args(Source)}


def _prepare(request: dict[str, Any], say: Say) -> dict[str, Any]:
    last = 0.0

    def progress(done: int, total: int, what: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVERY or done == total:
            last = now
            say(progress=[done, total, what])

    waiting = ""

    def wait(holder: str) -> bool:
        nonlocal waiting
        if holder != waiting:
            waiting = holder
            say(waiting=holder)
        return True

    kind, arguments = request["source"]
    done = prepare(
        competition(request["competition"], request["edition"]),
        DataDirs(tuple(map(Path, request["dirs"]))),
        structure(SOURCES[kind], arguments),
        force=request["force"],
        keep_raw=request["keep_raw"],
        verify=request["verify"],
        progress=progress,
        wait=wait,
    )
    return plain(done)


if __name__ == "__main__":
    with importing():
        import pandas  # noqa: F401  (nearly every competition uses it)

    serve(_prepare)
