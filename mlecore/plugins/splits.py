"""Splits: named sets of competitions. The benchmark's are fixed; a competition.toml may name others."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

from mlecore.errors import PluginError
from mlecore.model.plugin import Plugin
from mlecore.plugins.published import published

SPLITS = ("low", "medium", "high", "dev")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


@cache
def benchmark() -> dict[str, tuple[str, ...]]:
    """The benchmark's splits, by name: what `split` in a competition.toml may be, or ids of competitions."""
    further = tomllib.loads((files("mlecore.plugins") / "splits.toml").read_text(encoding="utf-8"))
    found: dict[str, tuple[str, ...]] = {split: (split,) for split in SPLITS}
    for name, parts in further.items():
        found[name] = tuple(each for part in parts for each in found.get(part, (part,)))
    return found


def splits_of(plugin: Plugin) -> tuple[str, ...]:
    """The names of all splits of a competition. Only packages of this project belong to the benchmark's."""
    if (facts := plugin.facts) is None:
        return ()
    parts = {facts.id, facts.split} if facts.id in published("competition") else set()
    return (*(name for name, of in benchmark().items() if parts & {*of}), *facts.splits)


def require_names(splits: tuple[str, ...]) -> None:
    """Can a competition name these splits as its own? Raises PluginError."""
    taken = (*benchmark(), "these", "other", "none")  # the last three have a meaning in reports and lists
    if wrong := [name for name in splits if not _NAME.fullmatch(name) or name in taken]:
        raise PluginError(
            f"competition.toml names the split {wrong[0][:100]!r}: use small letters, digits and . _ - only, "
            f"and none of {', '.join(taken)}"
        )
