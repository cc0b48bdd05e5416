"""Data on disk: where they lie, how they get there, how we know that they are whole."""

from __future__ import annotations

from mlecore.data.layout import DataDirs, Prepared

__all__ = ["DataDirs", "Prepared"]
