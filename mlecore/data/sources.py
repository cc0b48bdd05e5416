"""Possible sources of a competition's data."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from mlecore.errors import UsageError

if TYPE_CHECKING:
    from mlecore.model.competition import Competition


@frozen(kw_only=True)
class Synthetic:
    """Data from make_raw. Seed or size None: as prepared already, else seed 0 and size 1. Raises UsageError."""

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
    """The user's own unpacked download, which is only read."""

    path: Path
    name = "raw"


@frozen
class Archive:
    """The user's own download, which is only read."""

    path: Path
    name = "archive"


@frozen
class Fetch:
    """Real data from the competition's own hook ``fetch``."""

    name = "fetch"


@frozen
class Kaggle:
    """A download with the user's account."""

    name = "kaggle"


Source = Synthetic | RawFolder | Archive | Fetch | Kaggle


def has_synthetic(competition: Competition) -> bool:
    """False if the competition has no synthetic data because the real ones need no account."""
    return competition.loaded.implements("make_raw") or not competition.loaded.implements("fetch")


def usual(competition: Competition) -> Source:
    """The source of a competition's real data, by its facts."""
    return Fetch() if competition.facts.kaggle is None else Kaggle()
