"""The installed competitions: one by its id, all, or those of a split."""

from __future__ import annotations

from itertools import pairwise
from urllib.parse import urlsplit

from mlecore.errors import UsageError
from mlecore.model.competition import Competition
from mlecore.model.plugin import Plugin
from mlecore.plugins.discovery import find, installed
from mlecore.plugins.loading import load
from mlecore.util import validation


def competition(id: str, edition: str = "v1") -> Competition:
    """The installed competition of this id. Raises UsageError if it is not installed, with what to install."""
    id, edition = validation.text(id, "a competition's id"), validation.text(edition, "an edition")
    plugin = find("competition", id)
    if plugin is None or plugin.state != "ok":
        plugin = load("competition", id).plugin  # raises, with the reason
    found = Competition(plugin, edition, load=load)
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


def all_competitions() -> list[Competition]:
    """Every competition that works, by id; imports none of them."""
    return [Competition(plugin, load=load) for plugin in working()]


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
    return [Competition(plugin, load=load) for plugin in working(split)]


def working(split: str | None = None) -> list[Plugin]:
    """The plugins of all competitions that work, or of those of a split, with their facts; by id."""
    parts = None if split is None else parts_of(split)
    found = [plugin for plugin in installed("competition") if plugin.state == "ok"]
    return [plugin for plugin in found if parts is None or (plugin.facts and plugin.facts.split in parts)]
