"""Where the data of a competition may come from."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from mlecore.errors import UsageError

if TYPE_CHECKING:
    from mlecore.competitions import Competition


@frozen(kw_only=True)
class Synthetic:
    """What make_raw writes. None: what is prepared already, else seed 0, size 1. Raises UsageError."""

    seed: int | None = None
    size: float | None = None
    name = "synthetic"

    def __attrs_post_init__(self) -> None:
        if self.seed is not None and not 0 <= self.seed < 2**32:
            raise UsageError(f"seed {self.seed} of synthetic data: seeds are whole numbers from 0 to {2**32 - 1}")
        if self.size is not None and not 0 < self.size < math.inf:
            raise UsageError(f"size {self.size} of synthetic data: sizes are finite and above 0")


@frozen
class RawFolder:
    """The user's own unpacked download; it is only read."""

    path: Path
    name = "raw"


@frozen
class Archive:
    """The user's own download; it is only read."""

    path: Path
    name = "archive"


@frozen
class Fetch:
    """The competition's own fetch hook: real data that are not Kaggle's."""

    name = "fetch"


@frozen
class Kaggle:
    """Download with the user's account."""

    name = "kaggle"


Source = Synthetic | RawFolder | Archive | Fetch | Kaggle


def has_synthetic(competition: Competition) -> bool:
    """False if the real data need no account: those are used instead."""
    return competition.loaded.implements("make_raw") or not competition.loaded.implements("fetch")


def usual(competition: Competition) -> Source:
    """Where the real data of a competition come from, by its facts."""
    return Fetch() if competition.facts.kaggle is None else Kaggle()
