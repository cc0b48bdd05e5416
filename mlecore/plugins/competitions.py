"""The installed competitions: one by its id, all, or those of a split."""

from __future__ import annotations

from itertools import pairwise
from urllib.parse import urlsplit

from mlecore.errors import UsageError
from mlecore.model.competition import Competition
from mlecore.model.plugin import Plugin
from mlecore.plugins.discovery import find, installed
from mlecore.plugins.loading import load
from mlecore.plugins.splits import benchmark, splits_of
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


EXTRAS = {name: name for name in ("lite", "medium", "high", "mle-bench-30")} | {
    "low": "lite",
    "systemcard": "mle-bench-30",
}
"""The extra of the distribution mlecore that installs a split; "all" installs any."""


def split_names() -> list[str]:
    """The benchmark's splits, then those that installed competitions name."""
    return [*dict.fromkeys([*benchmark(), *(name for plugin in working() for name in splits_of(plugin))])]


def of_split(split: str) -> list[Competition]:
    """The installed competitions of a split. Raises UsageError for an unknown one."""
    return [Competition(plugin, load=load) for plugin in working(split)]


def working(split: str | None = None) -> list[Plugin]:
    """The plugins of all competitions that work, or of those of a split, with their facts; by id. Raises UsageError."""
    found = [plugin for plugin in installed("competition") if plugin.state == "ok"]
    some = [plugin for plugin in found if split is None or split in splits_of(plugin)]
    if not some and split is not None and split not in (known := split_names()):
        raise UsageError(f"unknown split {split!r}; available: {', '.join(known)}")
    return some
