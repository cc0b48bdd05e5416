"""Where the data of a competition may come from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from mlecore.competitions import Competition


@frozen(kw_only=True)
class Synthetic:
    """What make_raw writes. None: what is prepared already, else seed 0, size 1."""

    seed: int | None = None
    size: float | None = None
    name = "synthetic"


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
