"""Data on disk: where they are, how they get there, and how mlecore knows that they are complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlecore.lazy import lazy_names

if TYPE_CHECKING:
    from mlecore.data.layout import DataDirs
    from mlecore.data.opening import open_prepared
    from mlecore.data.prepared import Prepared

__all__ = ["DataDirs", "Prepared", "open_prepared"]

__getattr__ = lazy_names(
    __name__,
    {
        "DataDirs": "mlecore.data.layout",
        "Prepared": "mlecore.data.prepared",
        "open_prepared": "mlecore.data.opening",
    },
)
