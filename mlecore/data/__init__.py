"""Data on disk: where they are, how they get there, how we know that they are complete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mlecore.data.layout import DataDirs
    from mlecore.data.opening import open_prepared
    from mlecore.data.prepared import Prepared

__all__ = ["DataDirs", "Prepared", "open_prepared"]

# As in mlecore itself, names are imported when first asked for.
_HOMES = {
    "DataDirs": "mlecore.data.layout",
    "Prepared": "mlecore.data.prepared",
    "open_prepared": "mlecore.data.opening",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'mlecore.data' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
