"""Edition v2: a tenth of each class is for testing."""

from __future__ import annotations

from pathlib import Path

import mle_comp_plant_pathology_2020_fgvc7 as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import split_each

SEED = 2


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    from numpy.random import RandomState

    leaves = v1.read_leaves(raw)
    leaves = leaves.iloc[RandomState(SEED).permutation(len(leaves))]  # new names go by the order of rows
    parts = split_each(leaves[v1.CLASSES].idxmax(axis=1), test_size=0.1)
    train, test = (leaves.iloc[sorted(part)] for part in parts)
    v1.write_parts(raw, public, private, train, test)
