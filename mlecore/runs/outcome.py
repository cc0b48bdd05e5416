"""The agent's own account of how it ended: one line in ``logs/outcome``. It may be forged and decides nothing."""

from __future__ import annotations

import os
from pathlib import Path

from mlecore.errors import DataError
from mlecore.model.agents import OUTCOMES, Outcome
from mlecore.util.printable import printable
from mlecore.util.regular import open_regular

OUTCOME = "outcome"  # the file's name in logs/
_READ = 4096  # bytes
_DETAIL = 200  # characters


def read_outcome(logs: Path, *, below: Path) -> Outcome | None:
    """The outcome in a folder of logs, or None. Follows no link from ``below`` on."""
    try:
        descriptor = open_regular(logs / OUTCOME, below=below)
    except (OSError, DataError):
        return None
    with os.fdopen(descriptor, "rb") as file:
        text = file.read(_READ).decode(errors="replace").strip()
    line = text.splitlines()[0].strip() if text else ""
    kind, _, detail = line.partition(":")
    if kind.strip() not in OUTCOMES:
        kind, detail = "other", line
    detail = printable(detail.strip())[:_DETAIL]
    return Outcome(kind=kind.strip(), detail=detail) if line else None
