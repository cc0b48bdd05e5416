"""A competition: its facts, and the hooks that make its data. ``mlecore.competition`` adds grading and opening."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mlecore import validation
from mlecore.errors import DataError, UsageError
from mlecore.registry.discovery import find, plugins
from mlecore.registry.plugin import Plugin

if TYPE_CHECKING:
    from pandas import DataFrame

    from mlecore.facts import Facts
    from mlecore.registry.loading import Loaded
    from mlecore.submissions.format import Format


class Competition:
    """One competition in one edition. Its plugin is imported when a method first needs it; ``facts`` never does."""

    def __init__(self, plugin: Plugin, edition: str = "v1", facts: Facts | None = None) -> None:
        """``facts``: of v1; default: those in the plugin's folder, which are read when they are first needed."""
        self.plugin = plugin
        self.edition = edition
        if facts is not None:
            self.facts = facts.in_edition(edition)

    def __repr__(self) -> str:
        return f"<Competition {self.id} {self.edition}, {self.plugin.distribution} {self.plugin.version}>"

    @property
    def id(self) -> str:
        return self.plugin.name

    @cached_property
    def facts(self) -> Facts:
        """What its competition.toml says, in its edition."""
        from mlecore.facts import read_facts

        assert self.plugin.origin is not None
        return read_facts(self.plugin.origin.parent).in_edition(self.edition)

    @property
    def loaded(self) -> Loaded:
        """Its plugin, imported."""
        from mlecore.registry.loading import load

        return load("competition", self.id, self.edition, self.plugin)

    @property
    def format(self) -> Format:
        """What a submission looks like: the ``[submission]`` table of the edition."""
        return self.facts.submission

    @property
    def own_rules(self) -> bool:
        """Does the plugin check more of a submission than ``format`` says?"""
        return self.loaded.implements("examine") or self.loaded.implements("asked")

    def make_raw(self, raw: Path, seed: int = 0, size: float = 1.0) -> None:
        """Write synthetic data into ``raw``, in the form of the download. Raises UsageError if there are none."""
        if not self.loaded.implements("make_raw"):
            raise UsageError(
                f"{self.id} has no synthetic data, as its real data need no account", fix=f"mlecore prepare {self.id}"
            )
        raw = _folder(raw)
        self.loaded.call("make_raw", raw=raw, seed=seed, size=size)

    def fetch(self, raw: Path) -> None:
        """Fetch real data that is not Kaggle's into the folder ``raw``. Raises UsageError for Kaggle's competitions."""
        if not self.loaded.implements("fetch"):
            if self.facts.kaggle is None:
                raise UsageError(
                    f"{self.id} has real data neither on Kaggle nor in its package (hook fetch)",
                    fix=f"Name your own: mlecore prepare {self.id} --raw DIR, or --archive FILE",
                )
            raise UsageError(f"the data of {self.id} come from Kaggle: mlecore prepare {self.id}")
        self.loaded.call("fetch", raw=_folder(raw))

    def prepare(self, raw: Path, public: Path, private: Path) -> None:
        """Make ``public`` (with description.md) and ``private`` from an unpacked download."""
        self.loaded.call(
            "prepare", raw=_there(raw), public=_folder(public), private=_folder(private), edition=self.edition
        )
        (Path(public) / "description.md").write_bytes(self.facts.description.encode())

    def perfect(self, private: Path) -> DataFrame:
        """The best possible submission: the plugin's, else the answers as a table."""
        import pandas as pd

        private = _there(private)
        if self.loaded.implements("perfect"):
            frame: DataFrame = self.loaded.call("perfect", private=private, edition=self.edition)
            return frame
        best = private / Path(self.facts.gold_submission or self.facts.answers).relative_to("private")
        try:
            return pd.read_csv(best, float_precision="round_trip")
        except OSError as error:
            raise DataError(f"the answers of {self.id} cannot be read: {error}") from None


def _there(folder: Path) -> Path:
    folder = validation.path(folder, "a folder")
    if not folder.is_dir():
        raise DataError(f"there is no folder {folder}")
    return folder


def _folder(path: Path) -> Path:
    path = validation.path(path, "a folder")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"the folder {path} cannot be created: {error.strerror}") from error
    return path


def competition(id: str, edition: str = "v1") -> Competition:
    """The installed competition of this id. Raises UsageError if it is not installed, with what to install."""
    id, edition = validation.text(id, "a competition's id"), validation.text(edition, "an edition")
    plugin = find("competition", id)
    if plugin is None or plugin.state != "ok":
        from mlecore.registry.loading import load

        plugin = load("competition", id).plugin  # raises, with the reason
    found = Competition(plugin, edition)
    if edition not in plugin.editions:
        _ = found.facts  # raises, with the editions that there are
    return found


def id_of(text: str) -> str:
    """A competition's id, from itself or from the address of its page on Kaggle, or of one of the page's tabs."""
    if "://" not in text:
        return text
    parts = [part for part in urlsplit(text).path.split("/") if part]
    named = [part for before, part in pairwise(parts) if before in ("c", "competitions")]
    return (named or parts[-1:] or [text])[0]


def installed() -> list[Competition]:
    """Every competition that works, by id; imports none of them."""
    return [Competition(plugin) for plugin in working()]


SPLITS = ("low", "medium", "high", "dev")


EXTRAS = {"low": "lite", "lite": "lite", "medium": "medium", "high": "high", "dev": "all", "all": "all"}
"""The extra of the distribution mlecore that installs a split."""


def parts_of(split: str) -> tuple[str, ...]:
    """A split, as MLE-bench names them: "lite" is low, "all" are low, medium and high. Raises UsageError."""
    parts = {"lite": ("low",), "all": ("low", "medium", "high")}.get(split, (split,))
    if parts[0] not in SPLITS:
        raise UsageError(f"unknown split {split!r}; available: lite, {', '.join(SPLITS)}, all")
    return parts


def of_split(split: str) -> list[Competition]:
    """The installed competitions of a split; see ``parts_of``."""
    return [Competition(plugin) for plugin in working(split)]


def working(split: str | None = None) -> list[Plugin]:
    """The plugins of all competitions that work, or of those of a split, with their facts; by id."""
    parts = None if split is None else parts_of(split)
    found = [plugin for plugin in plugins("competition") if plugin.state == "ok"]
    return [plugin for plugin in found if parts is None or (plugin.facts and plugin.facts.split in parts)]
