"""Edition v2: members of a travel group are on one side of the split."""

from __future__ import annotations

from pathlib import Path

import mle_comp_spaceship_titanic as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import read_csv, split_whole_groups


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.csv")
    groups = table["PassengerId"].str.partition("_")[0].tolist()
    train, test = (table.iloc[part] for part in split_whole_groups(groups, test_size=0.1))
    v1.write(public, private, train, test)
