"""Edition v2: without the earlier version of the data."""

from __future__ import annotations

import shutil
from pathlib import Path

import mle_comp_seti_breakthrough_listen as v1
from mlecore.hookspecs import hookimpl


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    shutil.rmtree(public / "old_leaky_data")
