"""Edition v2: ids of images are numbers."""

from __future__ import annotations

from pathlib import Path

import mle_comp_herbarium_2021_fgvc8 as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import read_json


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    source = raw / "train"
    v1.write(read_json(source / "metadata.json"), source, public, private, id_type=int)
