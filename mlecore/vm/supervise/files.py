"""Small files of a job's folder: read whole, replaced atomically."""

from __future__ import annotations

import json
import os
from typing import Any

STATE = "state.json"  # what the supervisor says about the job
SPEC = "job.json"  # what is to be started
STOP = "stop"  # a request to end: the grace in seconds
LOCK = "lock"  # held by the supervisor for as long as it lives
OUTPUT = "output"  # what the job printed


def write_json(path: str, value: Any) -> None:
    """Replace ``path``; a reader sees the old content or the new."""
    partial = f"{path}.{os.getpid()}.partial"
    with open(partial, "w", encoding="utf-8") as out:  # noqa: PTH123
        json.dump(value, out)
    os.replace(partial, path)  # noqa: PTH105


def read_json(path: str) -> dict[str, Any] | None:
    """The object in ``path``; None where there is none, or a crash of the machine left it torn."""
    try:
        with open(path, encoding="utf-8") as source:  # noqa: PTH123
            value = json.load(source)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return value if isinstance(value, dict) else None
