"""The process of one detector, which reads each run of a group once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mlecore.errors import PluginError
from mlecore.workers.pool import Say, serve

_LARGEST = 8 * 2**20  # characters of JSON that a detector may find in one run

_group: dict[Path, Any] = {}  # folder -> record of each run named so far


def _detect(request: dict[str, Any], say: Say) -> Any:
    from mlecore.plugins.competitions import competition
    from mlecore.plugins.loading import load
    from mlecore.runs.store import read_record
    from mlecore.util.schema import plain

    for folder in map(Path, request["joined"]):
        _group[folder] = read_record(folder)
    run = _group[Path(request["run"])]
    public = request["public"]
    found = load("detector", request["detector"]).call(
        "detect",
        run=run,
        group=list(_group.values()),
        competition=competition(run.competition, run.edition),
        public=None if public is None else Path(public),
        options=request["options"],
    )
    try:
        values = plain(found)
        size = len(json.dumps(values, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise PluginError(f"its findings cannot be written as JSON: {error}") from None
    if size > _LARGEST:
        raise PluginError(f"its findings are too large: {size} bytes")
    return values


if __name__ == "__main__":
    serve(_detect)
