"""A run as a value, for tests of what reads runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mlecore.model.provenance import PluginUse
from mlecore.model.record import RunRecord


def a_run(folder: Path, **changes: Any) -> RunRecord:
    """The run whose folder this is, which need not exist."""
    values: dict[str, Any] = {
        "uid": folder.name,
        "name": folder.name,
        "group": "g",
        "group_uid": "g",
        "competition": "spaceship-titanic",
        "agent": PluginUse(name="agent"),
        "backend": PluginUse(name="vm"),
    }
    return RunRecord(**{**values, **changes}, folder=folder)
