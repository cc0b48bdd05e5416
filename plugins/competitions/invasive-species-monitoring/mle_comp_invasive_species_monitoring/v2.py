"""Edition v2: test photographs have new numbers."""

from __future__ import annotations

from pathlib import Path

import mle_comp_invasive_species_monitoring as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import rename_rows, shuffled, write_renamed

SEED = 2


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = v1.read_parts(raw)
    names = shuffled(test["name"].tolist(), seed=SEED)
    write_renamed(names, private / "names.csv")
    v1.write(raw, public, private, train, rename_rows(test, "name", names), names)
