"""Data on disk: where they are, how they get there, how we know that they are complete."""

from __future__ import annotations

from mlecore.data.layout import DataDirs
from mlecore.data.opening import open_prepared
from mlecore.data.prepared import Prepared

__all__ = ["DataDirs", "Prepared", "open_prepared"]
