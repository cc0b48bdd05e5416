"""Edition v2: plays of a game are on one side of the split."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import mle_comp_nfl_player_contact_detection as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import split_whole_groups

SEED = 2


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.write(raw, public, private, _divided)


def _divided(plays: Sequence[str]) -> tuple[list[str], list[str]]:
    games = [play.rpartition("_")[0] for play in plays]
    train, test = split_whole_groups(games, test_size=v1.TEST_SHARE, seed=SEED)
    return [plays[place] for place in train], [plays[place] for place in test]
