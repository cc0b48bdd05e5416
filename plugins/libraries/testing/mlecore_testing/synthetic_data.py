"""Synthetic data of a competition, for tests."""

from __future__ import annotations

from pathlib import Path

from mlecore.data.layout import DataDirs
from mlecore.data.preparing import prepare
from mlecore.data.sources import Synthetic
from mlecore.plugins.competitions import competition


def prepare_synthetic(id: str, folder: Path) -> Path:
    """The data directory ``folder``, in which the competition is prepared."""
    prepare(competition(id), DataDirs.of([folder]), Synthetic())
    return folder
