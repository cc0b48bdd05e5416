"""A leaderboard's folder: its rules in ``leaderboard.toml``, and an entry per folder below ``entries/``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from attrs import field, frozen
from mle_ext_report.benchmark import split_ids
from mle_ext_sharing.bundle import WrongBundle

from mle_ext_leaderboard.entry import Entry, read_entry
from mlecore.errors import UsageError
from mlecore.util.schema import SchemaError, read_toml, structure

RULES = "leaderboard.toml"
ENTRIES = "entries"
SIGNERS = "allowed_signers"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")


@frozen(kw_only=True)
class Rules:
    """leaderboard.toml."""

    title: str  # of the site
    address: str = ""  # https address of the site, for its feed
    seeds: int = 3  # that an entry needs at least
    max_hours: float = 24.0  # time limit per run
    max_usd: float | None = None  # cost of an entry's models, all runs together
    data: Literal["published", "any"] = "published"  # any: also synthetic and practice data
    signed: bool = True  # does an entry need a signature by one of allowed_signers?
    published: bool = True  # show the published results of 2024 to 2026, as "published, not checked"
    # name of a set -> ids of its competitions, or splits (low, medium, high, all, mle-bench-30)
    sets: Mapping[str, tuple[str, ...]] = field(
        factory=lambda: {name: (name,) for name in ("low", "mle-bench-30", "all")}
    )


@frozen(kw_only=True)
class Board:
    """An opened leaderboard."""

    folder: Path
    rules: Rules

    @property
    def sets(self) -> dict[str, tuple[str, ...]]:
        """Name -> ids of competitions, splits replaced by theirs."""
        return {
            name: tuple(dict.fromkeys(id for part in parts for id in (split_ids(part) or (part,))))
            for name, parts in self.rules.sets.items()
        }

    @property
    def allowed(self) -> Path | None:
        """Who may sign, as for git; None if nobody said."""
        path = self.folder / SIGNERS
        return path if path.is_file() else None

    def names(self) -> list[str]:
        """Names of all folders of entries, valid or not: ``entry_folder`` reports what is wrong."""
        folder = self.folder / ENTRIES
        return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []

    def entry_folder(self, name: str) -> Path:
        """Raises UsageError if it cannot be an entry's name, or if its folder is a link."""
        folder = self.folder / ENTRIES / require_name(name)
        if folder.is_symlink():
            raise UsageError(f"{folder} is a link; an entry is a folder")
        return folder

    def export(self, name: str, file: str) -> Path:
        """An export in an entry's folder. Raises WrongBundle if it is missing, or a link."""
        path = self.entry_folder(name) / file
        if path.is_symlink() or not path.exists():
            raise WrongBundle(f"{file} is missing, or a link")
        return path

    def entry(self, name: str) -> Entry:
        """Raises UsageError if there is none, SchemaError."""
        folder = self.entry_folder(name)
        if not folder.is_dir():
            raise UsageError(f"there is no entry {name!r} in {self.folder / ENTRIES}", fix=_known(self.names()))
        return read_entry(folder)


def require_name(name: str) -> str:
    """Raises UsageError if it cannot be an entry's name."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be an entry's name", fix="Use small letters, digits and . _ -; at most 80.")
    return name


def open_board(folder: Path) -> Board:
    """Raises UsageError if there is none, or its rules are wrong."""
    try:
        rules = structure(Rules, read_toml(folder / RULES, below=folder))
    except FileNotFoundError:
        fix = "Create one: mlecore leaderboard new FOLDER"
        raise UsageError(f"{folder} is no leaderboard: it has no {RULES}", fix=fix) from None
    except (SchemaError, OSError) as error:
        raise UsageError(f"{folder / RULES} cannot be read: {error}") from None
    if not rules.sets or not all(rules.sets.values()):
        raise UsageError(f"{folder / RULES}: each of [sets] needs competitions, or a split")
    return Board(folder=folder, rules=rules)


def _known(names: Sequence[str]) -> str:
    return f"There are: {', '.join(names[:20])}" if names else "There are none yet: mlecore leaderboard add"
