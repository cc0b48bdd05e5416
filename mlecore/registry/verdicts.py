"""Plugins that were examined and found in order, remembered between processes: listing a hundred then reads none again.

One file in the user's cache folder has an entry per plugin: the size, times and inode of every file that was examined,
of missing ones too, and the modules that its code imports. An entry counts as long as all of that is unchanged. Only
what a listing shows rests on it: a plugin that is used is imported and checked, and its facts are read from their file.
What is wrong is never remembered.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from attrs import asdict, evolve, field, mutable

from mlecore.cache import cache_file, read_entries, shows_changes, stamp, write_entries
from mlecore.registry.imports import importable
from mlecore.registry.plugin import CompetitionSummary, Plugin

_SOURCES = ("registry", "submissions", ".")


@mutable
class _Verdicts:
    """The file's entries, as they are in JSON."""

    path: Path
    entries: dict[str, Any] = field(factory=dict)
    changed: bool = False


def recall(plugin: Plugin) -> Plugin | None:
    """The plugin with what a listing shows of it, if nothing wrong was found earlier and that still holds."""
    entry = _verdicts().entries.get(_key(plugin))
    try:
        if entry is None or any(stamp(path) != known for path, known in entry["files"].items()):
            return None
        if not all(map(importable, entry["imports"])):
            return None
        return evolve(plugin, competition=entry["competition"] and CompetitionSummary.from_json(entry["competition"]))
    except (AttributeError, LookupError, TypeError, ValueError):  # another entry than ours
        return None


def remember(plugin: Plugin, files: Iterable[Path], imports: Iterable[str], began: float) -> None:
    """That nothing wrong was found in these files, whose code imports these modules.

    ``began``: the time before the first one was read.
    """
    stamps = {str(file): stamp(str(file)) for file in files}
    if not all(shows_changes(each, began) for each in stamps.values()):
        return
    summary = plugin.competition and asdict(plugin.competition)
    verdicts = _verdicts()
    verdicts.entries[_key(plugin)] = {"files": stamps, "imports": sorted(imports), "competition": summary}
    verdicts.changed = True


def forget() -> None:
    """So that every plugin is examined."""
    verdicts = _verdicts()
    verdicts.entries, verdicts.changed = {}, True


def keep() -> None:
    """Write what was remembered."""
    verdicts = _verdicts()
    if verdicts.changed:
        verdicts.changed = False
        write_entries(verdicts.path, verdicts.entries, *_SOURCES)


def _verdicts() -> _Verdicts:
    return _opened(cache_file("plugins", f"{sys.prefix}\0{sys.implementation.cache_tag}"))


@cache
def _opened(path: Path) -> _Verdicts:
    return _Verdicts(path=path, entries=read_entries(path, *_SOURCES))


def _key(plugin: Plugin) -> str:
    return f"{plugin.kind}:{plugin.name} {plugin.module} {plugin.origin}"
