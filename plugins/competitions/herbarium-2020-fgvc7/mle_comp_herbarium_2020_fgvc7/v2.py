"""Edition v2: names are read as they are written, and ids of images are numbers."""

from __future__ import annotations

from pathlib import Path

import mle_comp_herbarium_2020_fgvc7 as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import read_json


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    source = raw / "nybg2020" / "train"
    v1.write(read_json(source / "metadata.json", errors="replace"), source, public, private, id_type=int)
