"""Edition v2: names of test clips do not tell when they were recorded."""

from __future__ import annotations

from pathlib import Path

import mle_comp_the_icml_2013_whale_challenge_right_whale_redux as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import new_names, write_renamed

SEED = 2


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = v1.clips_of_parts(raw)
    names = new_names(test, "Test########.aif", seed=SEED)
    write_renamed(names, private / "names.csv")
    v1.write(raw, public, private, train, names)
